"""Settings of a model that make its steps slow, and the same training without them."""

from collections.abc import Iterator

from accel_helpers.fit.proposal import Proposal
from accel_helpers.fit.training import ARRAYS, DATASET, Training
from accel_helpers.machine import backend

HALF_PRECISION = ("mixed_float16", "float16")


def proposals(call: Training, model) -> Iterator[Proposal]:
    """Yield the training without each such setting of its model."""
    if model.run_eagerly:
        yield Proposal("run_eagerly=False", lambda: _out_of_eager_mode(call))
    is_on_cpu = backend.devices() == ("cpu",)
    if is_on_cpu and model.dtype_policy.name in HALF_PRECISION:
        yield Proposal("float32", lambda: _in_single_precision(call), note="single")
    if call.form in (ARRAYS, DATASET) and _text_layer(model):
        yield Proposal("text work before the model", lambda: _text_before(call), note="text")


def _out_of_eager_mode(call: Training) -> Training:
    """Return a training whose steps are compiled, as they are where `compile` is told nothing."""

    def make_model():
        model = call.make_model()
        model.run_eagerly = False
        # Keras decides on XLA anew
        model.jit_compile = None
        return model

    return call.with_model(make_model)


def _in_single_precision(call: Training) -> Training:
    """Return a training in float32, wherever the policy of the model was set."""

    def make_model():
        model = call.make_model()
        for layer in model._flatten_layers():
            layer.dtype_policy = "float32"
        # what guards small gradients of 16 bits
        model.optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
        return model

    return call.with_model(make_model)


def _text_layer(model) -> tuple:
    """Return the layer that turns the text that a model takes into numbers, and these; or ()."""
    import keras

    # a model of a class of its own has no inputs
    inputs = getattr(model, "inputs", None) or []
    if len(inputs) != 1:
        return ()
    for layer in model.layers:
        if isinstance(layer, (keras.layers.TextVectorization, keras.layers.StringLookup)):
            # it may be a layer of several models, since it was adapted once
            for node in layer._inbound_nodes:
                if node.input_tensors[0] is inputs[0]:
                    return layer, node.output_tensors[0]
    return ()


def _text_before(call: Training) -> Training:
    """Return a training on numbers, which the model's own text layer makes of the text."""
    import keras

    def make_model():
        model = call.make_model()
        _, numbers = _text_layer(model)
        rest = keras.Model(numbers, model.outputs)
        rest.compile_from_config(model.get_compile_config())
        rest.jit_compile = None
        return rest

    layer, _ = _text_layer(call.make_model())
    arguments = {"x": _as_numbers(layer, call.arguments["x"])}
    validation = call.arguments.get("validation_data")
    if isinstance(validation, (tuple, list)):
        arguments["validation_data"] = (_as_numbers(layer, validation[0]), *validation[1:])
    elif validation is not None:
        arguments["validation_data"] = _as_numbers(layer, validation)
    return call.changed(**arguments).with_model(make_model)


def _as_numbers(layer, texts):
    """Return an array of texts, or a dataset of them and their targets, with numbers for text."""
    import keras

    if not hasattr(texts, "rebatch"):
        return keras.ops.convert_to_numpy(layer(texts))
    import tensorflow as tf

    def with_numbers(text, *targets):
        return layer(text), *targets

    return texts.map(with_numbers, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
