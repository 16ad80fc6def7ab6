"""A training with one thing taken away: its input, its batch, its width, its arithmetic."""

import math
from itertools import cycle
from typing import Any

from accel_helpers.fit.training import Training
from accel_helpers.machine import backend

MOST_BATCHES = 16  # that are kept in memory in place of the input
# arguments of ``fit`` that belong to the data, beside x
OF_THE_DATA = ("y", "sample_weight", "class_weight", "batch_size", "shuffle")
# What launching can take at most, in seconds for each layer (forward, back, the optimizer), and
# for each step of its loop over time.
LAUNCHING = 3e-3
LAUNCHING_IN_A_LOOP = 0.5e-3
# settings of Keras's layers that are the width of a layer
WIDTHS = ("units", "output_dim", "key_dim", "value_dim", "intermediate_dim")


def without_callbacks(training: Training) -> Training:
    """Return a training without callbacks and without validation."""
    return training.changed(
        callbacks=None,
        validation_data=None,
        validation_steps=None,
        validation_batch_size=None,
        validation_freq=None,
    )


def without_input(training: Training, batches: list[tuple]) -> Training:
    """Return a training on batches that lie in memory, again and again, with no callbacks."""
    data = _repeated(batches)
    alone = without_callbacks(training).changed(**dict.fromkeys(OF_THE_DATA))
    return alone.changed(x=data, steps_per_epoch=training.steps)


def resized(batch: tuple, count: int) -> tuple:
    """Return a batch of so many samples, the first ones of it, again and again if need be."""
    import keras
    import numpy as np

    def take(array):
        samples = array[:count]
        times = -(-count // max(len(samples), 1))
        return samples if times == 1 else np.concatenate([np.asarray(samples)] * times)[:count]

    return keras.tree.map_structure(take, batch)


def fewest_samples(model) -> int:
    """Return how many samples the smallest batch has that this model can be trained on: 1 or 2.

    TensorFlow 2.21 on a CPU has ended the process (a segmentation fault in oneDNN) where layers of
    few filters were trained on one sample; with two, or with TF_ENABLE_ONEDNN_OPTS=0, it has not.
    """
    if backend.framework() != "tensorflow":
        return 1
    return 2 if convolves(model) else 1


def convolves(model) -> bool:
    """Return whether one of the layers of a model, or of the layers in them, has a kernel."""
    return any(hasattr(layer, "kernel_size") for layer in model._flatten_layers())


def _repeated(batches: list[tuple]):
    """Return data for ``fit`` that cost next to nothing: the same batches, again and again."""
    import keras

    # as fit hands over arrays, too: of a list TensorFlow would make one tensor
    batches = keras.tree.lists_to_tuples(batches)
    tensors = [keras.tree.map_structure(_tensor, batch) for batch in batches]
    if backend.framework() != "tensorflow":
        # Keras refuses a generator that makes anything else
        tuples = [batch if isinstance(batch, tuple) else (batch,) for batch in tensors]
        return lambda: cycle(tuples)
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensors(tensors[0])
    for batch in tensors[1:]:
        dataset = dataset.concatenate(tf.data.Dataset.from_tensors(batch))
    return dataset.repeat()


def _tensor(value):
    """Return an array as a tensor of Keras's backend, floats in Keras's float type."""
    import keras

    dtype = str(getattr(value, "dtype", ""))
    if "string" in dtype:
        return value
    if "float" in dtype:
        return keras.ops.convert_to_tensor(value, keras.config.floatx())
    return keras.ops.convert_to_tensor(value)


def narrow_copy(model):
    """Return a copy of a compiled model whose layers have width 1, but for those of its output.

    Raises an error where such a copy cannot be made from the model's configuration: layers of a
    class of somebody's own, or shapes that a width of 1 does not fit. And for a model with
    convolutions: where a stride is larger than its kernel, one of few filters ends the process in
    oneDNN, and at width 1 what is fewer weights is less arithmetic as well.
    """
    import keras

    if not _is_plain(model) or convolves(model):
        raise ValueError("only plain models without convolutions are copied")
    kept = {layer.name for layer in _last_layers(model)}
    narrowed = False

    def narrow(layer):
        nonlocal narrowed
        settings = layer.get_config()
        for name in WIDTHS:
            wide = isinstance(settings.get(name), int) and settings[name] > 1
            if wide and layer.name not in kept:
                settings[name] = 1
                narrowed = True
        return type(layer).from_config(settings)

    copy = keras.models.clone_model(model, clone_function=narrow, recursive=True)
    copy.compile_from_config(model.get_compile_config())
    if not narrowed:
        raise ValueError("no layer of this model has a width")
    return copy


def _is_plain(model) -> bool:
    """Return whether a model is Sequential or functional, and of no class of somebody's own."""
    import keras

    kinds = (keras.Sequential, keras.Model)
    return type(model) in kinds or type(model).__name__ == "Functional"


def _last_layers(model) -> list:
    """Return the layers with a width that no other layer with a width comes after.

    Their width is that of the targets. Of a Sequential model it is the last one.
    """
    import keras

    if isinstance(model, keras.Sequential):
        wide = [layer for layer in model.layers if _has_width(layer)]
        return wide[-1:]
    last_layers = []
    for output in model.outputs:
        layer = output._keras_history.operation
        while not _has_width(layer) and layer._inbound_nodes[-1].input_tensors:
            layer = layer._inbound_nodes[-1].input_tensors[0]._keras_history.operation
        last_layers.append(layer)
    return last_layers


def _has_width(layer) -> bool:
    """Return whether a layer has one of the settings that are a width."""
    return any(isinstance(getattr(layer, name, None), int) for name in WIDTHS)


def has_own_step(model) -> bool:
    """Return whether a model trains by a ``train_step`` of its class that is not Keras's own."""
    import keras

    own_class: Any = type(model)
    return own_class.train_step is not keras.Model.train_step


def most_for_launching(model) -> float:
    """Return the seconds that launching the operations of a step can take at most.

    It is inf where that is not known: in eager mode, in a step or a model of somebody's own, and in
    loops over time whose length is open.
    """
    if model.run_eagerly or has_own_step(model) or not _is_plain(model):
        return math.inf
    return sum(map(_most_for_layer, model.layers))


def _most_for_layer(layer) -> float:
    """Return the seconds that launching the operations of a layer can take at most."""
    import keras

    inner = list(layer._flatten_layers())
    seconds = LAUNCHING * len(inner)
    if any(isinstance(each, keras.layers.RNN) for each in inner):
        # beside its sequences it may take a mask
        sequences, *_ = keras.tree.flatten(layer.input)
        length = sequences.shape[1]
        seconds += LAUNCHING_IN_A_LOOP * length if length else math.inf
    return seconds


def idle_model():
    """Return a compiled Keras model that computes nothing and learns nothing.

    What its ``fit`` takes is feeding and Python, which no other chip would do faster.
    """
    import keras

    class Idle(keras.Model):
        def call(self, x):
            return x

        def train_step(self, *arguments):
            # the arguments are (data,) on TensorFlow, and (state, data) on JAX
            logs = {"loss": keras.ops.zeros(())}
            if backend.framework() == "jax":
                # there a step must return its state, too
                state = arguments[0]
                return logs, state
            return logs

    model = Idle()
    # it has no weights to build, and fit asks
    model.built = True
    model.compile("sgd")
    return model
