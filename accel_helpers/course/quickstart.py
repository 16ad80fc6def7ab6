"""The model of the lessons."""

from typing import Any

from accel_helpers.machine import backend


def quickstart_model(
    *,
    width: int = 128,
    dropout: float = 0.2,
    seed: int | None = 0,
    **options: Any,
):
    """Make the quickstart model, compiled: flatten, dense, dropout, dense, Adam.

    The study material does not print its layers: they are those of the TensorFlow beginner's
    quickstart of those years (https://www.tensorflow.org/tutorials/quickstart/beginner).

    Parameters
    ----------
    width : int, optional
        Units of the hidden layer.
    dropout : float, optional
        Share of hidden units that are switched off in training, from 0 to 1; 0 leaves the layer
        out.
    seed : int, optional
        Of the weights and of the dropout. It is set for the whole process; None leaves that as it
        is.
    **options
        Of `compile`. By default `jit_compile` is what `fit` does on a CPU: False on TensorFlow. On
        JAX it is True, since False there runs operation by operation. Keras's own "auto" asks which
        devices are visible and not which one is used, so with a GPU it would compile the CPU's
        model, too.

    Returns
    -------
    keras.Model
        For images of 28 x 28 pixels; it returns ten scores, without a softmax.

    Examples
    --------
    >>> quickstart_model().count_params()
    101770
    """
    import keras

    if seed is not None:
        keras.utils.set_random_seed(seed)
    # Each layer takes the next random seed when it is made, so their order counts.
    flatten = keras.layers.Flatten(name="flatten")
    hidden = keras.layers.Dense(width, activation="relu", name="hidden")
    model = keras.Sequential([keras.Input((28, 28)), flatten, hidden])
    if dropout:
        model.add(keras.layers.Dropout(dropout, name="dropout"))
    model.add(keras.layers.Dense(10, name="output"))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    options = {"jit_compile": backend.framework() == "jax", **options}
    model.compile("adam", loss, metrics=["accuracy"], **options)
    return model
