"""What XLA counts in a training step of small models, as JSON; nothing is run.

It counts the body of a loop once, however often it runs. So a recurrent layer is unrolled here.
Keras must run on JAX: KERAS_BACKEND=jax.
"""

import json

import keras
import numpy as np

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.measure import work

make = keras.layers
OPTIMIZERS = {
    **dict.fromkeys(
        ["sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "adamax", "nadam", "lion"], {}
    ),
    "sgd, momentum": {"momentum": 0.9},
    "sgd, nesterov": {"momentum": 0.9, "nesterov": True},
    "adam, amsgrad": {"amsgrad": True},
    "rmsprop, both": {"momentum": 0.9, "centered": True},
    "adam, decay and average": {"weight_decay": 0.01, "use_ema": True},
}
SAME, RELU = {"padding": "same"}, {"activation": "relu"}
UNROLLED = {"unroll": True, "recurrent_initializer": "zeros"}
LAYERS = {  # the shape of the input; then the kind of each layer, what it is given, and how
    "convolutions": [
        (20, 18, 3),
        ("Conv2D", 16, 3, SAME | {"use_bias": False}),
        ("BatchNormalization", {}),
        ("ReLU", {}),
        ("Activation", "relu", {}),
        ("MaxPooling2D", 2, {}),
        ("Conv2D", 32, (3, 2), RELU | {"strides": (2, 1), "groups": 2}),
        ("Conv2D", 32, 3, SAME | {"dilation_rate": 2, "activation": "tanh"}),
        ("AveragePooling2D", 2, SAME),
        ("GlobalAveragePooling2D", {}),
        ("Dense", 10, {"activation": "softmax"}),
    ],
    "depthwise": [
        (14, 14, 8),
        ("Conv2D", 16, 1, {}),
        ("DepthwiseConv2D", 3, SAME | RELU | {"depth_multiplier": 2}),
        ("GlobalMaxPooling2D", {}),
        ("Dense", 10, {}),
    ],
    "sequence": [
        (50,),
        ("Embedding", 100, 24, {}),
        ("Conv1D", 64, 5, RELU | {"padding": "causal"}),
        ("Conv1D", 32, 3, RELU | {"strides": 2}),
        ("Flatten", {}),
        ("Dense", 10, {}),
    ],
    "separable": [
        (14, 12, 8),
        ("Conv2D", 16, 1, {}),
        ("SeparableConv2D", 24, 3, SAME | {"depth_multiplier": 2, "activation": "hard_silu"}),
        ("GroupNormalization", 4, {}),
        ("Cropping2D", 1, {}),
        ("Conv2DTranspose", 12, 3, SAME | {"strides": 2, "activation": "hard_sigmoid"}),
        ("UpSampling2D", 2, {}),
        ("Conv2DTranspose", 8, 2, {"strides": 2, "activation": "silu"}),
        ("Flatten", {}),
        ("RMSNormalization", {}),
        ("Dense", 10, {}),
    ],
    **{  # two loops, written out: the second one's input needs a gradient too
        kind: [
            (7, 24),
            (kind, 48, UNROLLED | {"return_sequences": True}),
            (kind, 40, UNROLLED),
            ("Dense", 10, {}),
        ]
        for kind in ("LSTM", "GRU", "SimpleRNN")
    },
}


def in_a_row(name):
    shape, *rows = LAYERS[name]
    layers = [getattr(make, kind)(*given, **how) for kind, *given, how in rows]
    dtype = "int32" if rows[0][0] == "Embedding" else "float32"
    return compiled([keras.Input(shape, dtype=dtype), *layers], name != "convolutions")


def compiled(layers, from_logits=True):
    model = keras.Model(*layers) if isinstance(layers, tuple) else keras.Sequential(layers)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits))
    return model


def transformer(activation):
    """One block as in the GPT models: attention and two dense layers, each added to its input."""
    inputs = keras.Input((32,), dtype="int32")
    x = make.Embedding(50, 64)(inputs)
    y = make.LayerNormalization()(x)
    x = make.Add()([x, make.MultiHeadAttention(4, 16)(y, y)])
    y = make.LayerNormalization()(x)
    y = make.Dense(64)(make.Dense(256, activation=activation)(y))
    return compiled((inputs, make.Dense(50)(make.Add()([x, y]))))


def optimizer(name):
    """Many parameters and one example: nearly all of the step is the optimizer's."""
    settings = {"class_name": name.partition(",")[0], "config": {**OPTIMIZERS[name]}}
    model = keras.Sequential([keras.Input((256,)), make.Dense(512, use_bias=False)])
    model.compile(keras.optimizers.get(settings), "mse")
    return model


# name -> (how to build it, batch size, whether to compile it too)
MODELS = {
    **{
        f"quickstart, width {width}, batch {batch}, dropout {rate}": (
            lambda width=width, rate=rate: quickstart_model(width=width, dropout=rate),
            batch,
            (batch == 512 and rate > 0) or (width, batch) == (128, 32),
        )
        for width in (16, 128, 512, 2048)
        for batch in (32, 512)
        for rate in (0, 0.2)
    },
    "transformer, relu": (lambda: transformer("relu"), 8, False),
    "transformer, gelu": (lambda: transformer("gelu"), 8, False),
    **{name: (lambda name=name: in_a_row(name), 32, name == "convolutions") for name in LAYERS},
    **{name: (lambda name=name: optimizer(name), 1, False) for name in OPTIMIZERS},
}


def count(model, batch_size, compile_too):
    """What the compiler counts in one step of a Keras model."""
    x = np.zeros((batch_size, *model.input_shape[1:]), model.inputs[0].dtype)
    y = np.zeros((batch_size, *model.output_shape[1:]), "float32")
    if model.loss != "mse":
        y = y[..., 0].astype("int32")
    model.optimizer.build(model.trainable_variables)
    model._symbolic_build(data_batch=(x, y))  # the metrics
    parts = (model.trainable_variables, model.non_trainable_variables)
    parts += (model.optimizer.variables, model.metrics_variables)
    state = tuple([variable.value for variable in variables] for variables in parts)
    step = jax.jit(lambda state, x, y: model.train_step(state, (x, y)))
    programs = {"traced": step.lower(state, x, y)}
    if compile_too:
        programs["compiled"] = programs["traced"].compile()
    ahead = jax.jit(lambda state, x: model.stateless_call(*state[:2], x, training=False)[0])
    programs["forward"] = ahead.lower(state, x)
    asked = {name: program.cost_analysis() for name, program in programs.items()}
    return {n: {"flops": a["flops"], "bytes": a["bytes accessed"]} for n, a in asked.items()}


if __name__ == "__main__":
    import jax

    found = {}
    for name, (build, batch_size, compile_too) in MODELS.items():
        # what makes the first weights need not be fast
        jax.config.update("jax_disable_most_optimizations", True)
        model = build()
        jax.config.update("jax_disable_most_optimizations", False)
        found[name] = {"counted": work.count_step(model, batch_size).flops}
        found[name] |= count(model, batch_size, compile_too)
    print(json.dumps(found))
