"""A model whose `fit` does nothing but call its callbacks, as Keras does."""


class FakeFit:
    """What a subclass does in `begin_epoch` and `take_step` is all that takes time."""

    weights = ()
    stop_training = False

    def begin_epoch(self):
        pass

    def take_step(self, batch_size):
        raise NotImplementedError

    def fit(self, x, y, *, batch_size, epochs=1, callbacks=(), verbose=0):
        steps = -(-len(x) // batch_size)
        self.stop_training = False
        for callback in callbacks:
            callback.set_model(self)
        for epoch in range(epochs):
            for callback in callbacks:
                callback.on_epoch_begin(epoch)
            self.begin_epoch()
            for step in range(steps):
                for callback in callbacks:
                    callback.on_train_batch_begin(step)
                self.take_step(batch_size)
                for callback in callbacks:
                    callback.on_train_batch_end(step)
                if self.stop_training:
                    break
            for callback in callbacks:
                callback.on_epoch_end(epoch)
            if self.stop_training:
                break
