"""Is it worth it: models come back as they were, and every verdict, on a clock handed in."""

import random

import numpy as np
import pytest

from accel_helpers.train import training, worth

ON_JAX = "as_it_was or goes_on or refused or moved"  # of the tests
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.03, 0.97)


def state(model):
    """All that a training can change, as bytes and plain values."""
    variables = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
    settings = model.jit_compile, model.steps_per_execution, model.run_eagerly, model.stop_training
    return (
        [np.asarray(v.value).tobytes() for v in variables],
        (*settings, model.train_function, model.optimizer, model.loss, vars(model).keys()),
        (random.getstate(), np.random.get_state()[1].tobytes(), np.random.get_state()[2]),
    )


def plain(keras):
    return training.quickstart_model()


def own_step(keras):
    """A model of one's own, with a step, a metric, dice and a counter that nobody else knows."""

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.flatten, self.out = keras.layers.Flatten(), keras.layers.Dense(10)
            self.noise = keras.layers.GaussianNoise(0.1, seed=2)
            self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)
            self.error = keras.metrics.Mean(name="error")
            self.traced = 0

        def call(self, x, training=False):
            self.seen.assign(self.seen + 1)
            return self.out(self.noise(self.flatten(x), training=training))

        def train_step(self, *given):
            self.traced += 1
            return super().train_step(*given)

    model = Own()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), loss, metrics=["accuracy"])
    model(np.zeros((1, 28, 28), "float32"))
    return model


def normed(keras):
    k = keras.layers
    layers = [k.Flatten(), k.Dense(8), k.BatchNormalization(), k.Dropout(0.5), k.Dense(10)]
    model = keras.Sequential([keras.Input((28, 28)), *layers])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adamw", loss, metrics=["accuracy"], steps_per_execution=2)
    return model


@pytest.mark.parametrize("make", [plain, own_step, normed])
@pytest.mark.parametrize("trained", [True, False])
def test_a_model_is_afterwards_as_it_was_and_goes_on_as_if_nothing_had_been(
    keras, digits, make, trained
):
    found = []
    for measure in (False, True):
        keras.utils.set_random_seed(5)
        model = make(keras)
        if trained:
            model.fit(*digits, verbose=0)
        model.optimizer.built or model.optimizer.build(model.trainable_variables)
        model.compute_metrics(*digits, model(digits[0])) if not trained else None
        model.reset_metrics() if not trained else None
        before = state(model)
        if measure:
            result = worth.it(model, *digits, seconds=3)
            assert result.verdict in worth.LABELS[3:] and result.epoch.median > 0
            for part, kept in zip(state(model), before, strict=True):
                assert part == kept
        model.fit(*digits, verbose=0)
        found.append([weight.tobytes() for weight in model.get_weights()])
    assert found[0] == found[1]
