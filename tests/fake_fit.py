"""A model whose `fit` does nothing but call its callbacks, as Keras does."""


class FakeFit:
    """What a subclass does in `begin_epoch`, `take_step` and `test` is all that takes time."""

    weights = ()
    stop_training = False
    steps_per_execution = 1
    run_eagerly = True
    jit_compile = False

    def begin_epoch(self):
        pass

    def take_step(self, batch_size):
        raise NotImplementedError

    def test(self):
        """Take a step of the validation."""

    def fit(
        self,
        x,
        y,
        *,
        batch_size,
        epochs=1,
        callbacks=(),
        verbose=0,
        validation_data=None,
        validation_steps=None,
    ):
        self.stop_training = False
        tests = 0
        if validation_data is not None:
            tests = validation_steps or len(validation_data)
        tell(callbacks, "set_model", self)
        for epoch in range(epochs):
            tell(callbacks, "on_epoch_begin", epoch)
            self.begin_epoch()
            self._train(-(-len(x) // batch_size), batch_size, callbacks)
            if tests:
                self._evaluate(tests, callbacks)
            tell(callbacks, "on_epoch_end", epoch, {})
            if self.stop_training:
                break
        tell(callbacks, "on_train_end")

    def _train(self, steps, batch_size, callbacks):
        for step in range(steps):
            tell(callbacks, "on_train_batch_begin", step)
            self.take_step(batch_size)
            tell(callbacks, "on_train_batch_end", step)
            if self.stop_training:
                break

    def _evaluate(self, steps, callbacks):
        tell(callbacks, "on_test_begin")
        for step in range(steps):
            tell(callbacks, "on_test_batch_begin", step)
            self.test()
        tell(callbacks, "on_test_end")


def tell(callbacks, name, *values):
    for callback in callbacks:
        getattr(callback, name)(*values)
