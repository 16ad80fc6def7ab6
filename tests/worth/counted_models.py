"""Sixty models whose work a forecast reads: rows of layers, public examples, and published ones."""

from functools import partial

import keras

make = keras.layers
SAME, RELU = {"padding": "same"}, {"activation": "relu"}
ROWS = {  # the shape of the input; then the kind of each layer, what it is given, and how
    "mlp": [(28, 28), ("Flatten",), ("Dense", 128, RELU), ("Dropout", 0.2), ("Dense", 10)],
    "wide": [(784,), ("Dense", 2048, RELU), ("Dense", 2048, RELU), ("Dense", 10)],
    "tabular": [(29,), ("Dense", 256, RELU), ("BatchNormalization",), ("Dropout", 0.3),
                ("Dense", 1)],
    "mnist": [(28, 28, 1), ("Conv2D", 32, 3, RELU), ("MaxPooling2D",), ("Conv2D", 64, 3, RELU),
              ("MaxPooling2D",), ("Flatten",), ("Dropout", 0.5), ("Dense", 10)],
    "autoencoder": [(28, 28, 1), ("Conv2D", 32, 3, SAME | RELU), ("MaxPooling2D", 2, SAME),
                    ("Conv2DTranspose", 32, 3, SAME | {"strides": 2}), ("Conv2D", 1, 3, SAME)],
    "convolutions": [(20, 18, 3), ("Conv2D", 16, 3, SAME | {"use_bias": False}),
                     ("BatchNormalization",), ("ReLU",), ("MaxPooling2D", 2),
                     ("Conv2D", 32, (3, 2), RELU | {"strides": (2, 1), "groups": 2}),
                     ("Conv2D", 32, 3, SAME | {"dilation_rate": 2, "activation": "tanh"}),
                     ("AveragePooling2D", 2, SAME), ("GlobalAveragePooling2D",), ("Dense", 10)],
    "depthwise": [(14, 14, 8), ("DepthwiseConv2D", 3, SAME | RELU | {"depth_multiplier": 2}),
                  ("GlobalMaxPooling2D",), ("Dense", 10)],
    "separable": [(14, 12, 8), ("SeparableConv2D", 24, 3, SAME | {"depth_multiplier": 2}),
                  ("GroupNormalization", 4), ("Cropping2D", 1),
                  ("Conv2DTranspose", 12, 3, SAME | {"strides": 2}), ("UpSampling2D", 2),
                  ("Flatten",), ("RMSNormalization",), ("Dense", 10)],
    "channels first": [(3, 20, 18), ("Conv2D", 16, 3, {"data_format": "channels_first"}),
                       ("GlobalAveragePooling2D", {"data_format": "channels_first"})],
    "volume": [(8, 8, 8, 2), ("Conv3D", 4, 3, RELU), ("MaxPooling3D", 2), ("Flatten",),
               ("Dense", 2)],
    "signal": [(500, 1), ("Conv1D", 64, 3, SAME), ("BatchNormalization",), ("ReLU",),
               ("SeparableConv1D", 32, 3, {"strides": 2}), ("GlobalAveragePooling1D",),
               ("Dense", 2)],
    "causal": [(50,), ("Embedding", 100, 24), ("Conv1D", 64, 5, RELU | {"padding": "causal"}),
               ("Conv1D", 32, 3, RELU | {"strides": 2}), ("Flatten",), ("Dense", 10)],
    "LSTM": [(20,), ("Embedding", 50, 16), ("LSTM", 32, {"return_sequences": True}), ("LSTM", 24),
             ("Dense", 2)],
    "GRU": [(120, 7), ("GRU", 32, {"return_sequences": True}), ("GRU", 16), ("Dense", 1)],
    "SimpleRNN": [(120, 7), ("SimpleRNN", 32), ("LayerNormalization",), ("Dense", 1, RELU)],
}  # fmt: skip


def in_a_row(name):
    shape, *rows = ROWS[name]
    layers = []
    for kind, *given in rows:
        how = given.pop() if given and isinstance(given[-1], dict) else {}
        layers.append(getattr(make, kind)(*given, **how))
    return keras.Sequential([keras.Input(shape), *layers])


def inside(name):
    """Layers that hold others."""
    held = {
        "both ways": [(20, 6), make.Bidirectional(make.LSTM(8)), make.Dense(2)],
        "each step": [(10, 6), make.TimeDistributed(make.Dense(5, "relu")), make.Dense(1)],
        "each picture": [(4, 12, 12, 3), make.TimeDistributed(make.Conv2D(5, 3)), make.Flatten()],
        "a model": [(12,), keras.Sequential([keras.Input((12,)), make.Dense(9)]), make.Dense(1)],
    }
    shape, *layers = held[name]
    return keras.Sequential([keras.Input(shape), *layers])


def shared():
    """A layer that is used twice has its weights once."""
    left, right, layer = keras.Input((6,)), keras.Input((6,)), make.Dense(8, "relu")
    return keras.Model(
        [left, right], make.Dense(1)(make.Concatenate()([layer(left), layer(right)]))
    )


def recommender():
    user, film = keras.Input(()), keras.Input(())
    both = [make.Embedding(6000, 50)(user), make.Embedding(9000, 50)(film)]
    return keras.Model([user, film], make.Activation("sigmoid")(make.Dot(1)(both)))


def residual():
    pixels = keras.Input((16, 16, 8))
    x = make.Conv2D(8, 3, padding="same")(pixels)
    x = make.ReLU()(make.Add()([make.BatchNormalization()(x), pixels]))
    return keras.Model(pixels, make.Dense(3, "softmax")(make.GlobalAveragePooling2D()(x)))


def u_net():
    x, skips = keras.Input((64, 64, 3)), []
    pixels = x
    for filters in (16, 32):
        x = make.Conv2D(filters, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = make.MaxPooling2D()(x)
    for filters, skip in zip((32, 16), reversed(skips), strict=True):
        x = make.Concatenate()([make.UpSampling2D()(x), skip])
        x = make.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return keras.Model(pixels, make.Conv2D(3, 1, activation="softmax")(x))


def blocks(x, count, width, heads, before):
    """Blocks of a transformer, normalised before each part, or after each sum."""
    norm = make.LayerNormalization
    for attention in (True, False) * count:
        y = norm()(x) if before else x
        y = make.MultiHeadAttention(heads, width // heads)(y, y) if attention else y
        y = y if attention else make.Dense(width)(make.Dense(4 * width, activation="gelu")(y))
        x = make.Add()([x, y]) if before else norm()(make.Add()([x, y]))
    return norm()(x) if before else x


def text(count, width, heads, length, words, end, before=True):
    inputs = keras.Input((length,))
    x = blocks(make.Embedding(words, width)(inputs), count, width, heads, before)
    return keras.Model(inputs, make.Dense(end)(x))


def across():
    """Attention from one sequence to another, with values narrower than keys."""
    here, there = keras.Input((6, 8)), keras.Input((9, 5))
    return keras.Model([here, there], make.MultiHeadAttention(2, 4, value_dim=3)(here, there))


def vision():
    pixels = keras.Input((72, 72, 3))
    x = make.Reshape((144, 64))(make.Conv2D(64, 6, strides=6)(pixels))
    x = make.GlobalAveragePooling1D()(blocks(x, 4, 64, 4, True))
    return keras.Model(pixels, make.Dense(100, "softmax")(x))


def in_parts(*trained):
    """A base of two convolutions and a dense layer, of which only these are trained."""
    base = [make.Conv2D(32, 3, name="low"), make.Conv2D(64, 3, name="high")]
    end = [make.GlobalAveragePooling2D(), make.Dense(10, name="head")]
    model = keras.Sequential([keras.Input((48, 48, 3)), make.Rescaling(1 / 255), *base, *end])
    for layer in model.layers:
        layer.trainable = layer.name in trained
    return model


def published(name, size=224):
    small = {"input_shape": (size, size, 3)}
    return getattr(keras.applications, name)(weights=None, **small)


def on_a_base(name, trained=0, size=96):
    """A base of keras.applications, of which the last layers are trained, and a head."""
    base = getattr(keras.applications, name)(
        weights=None, include_top=False, input_shape=(size, size, 3)
    )
    for layer in base.layers[: len(base.layers) - trained]:
        layer.trainable = False
    pixels = keras.Input((size, size, 3))
    x = make.GlobalAveragePooling2D()(base(pixels, training=False))
    return keras.Model(pixels, make.Dense(5)(make.Dropout(0.2)(x)))


SMALL = {
    **{name: partial(in_a_row, name) for name in ROWS},
    **{
        name: partial(inside, name)
        for name in ("both ways", "each step", "each picture", "a model")
    },
    **{f.__name__: f for f in (shared, recommender, residual, u_net, across, vision)},
    "language": partial(text, 2, 64, 4, 32, 50, 50),
    "reviews": partial(text, 1, 32, 2, 200, 20_000, 2, before=False),
    "nothing frozen": partial(in_parts, "low", "high", "head", "rescaling"),
    "only the head": partial(in_parts, "head"),
    "frozen above": partial(in_parts, "low", "head"),
    "frozen below": partial(in_parts, "high", "head"),
}
LARGE = {
    "BERT-base": partial(text, 12, 768, 12, 128, 30_522, 2, before=False),
    "GPT-2": partial(text, 12, 768, 12, 1024, 50_257, 50_257),
    **{name: partial(published, name) for name in (
        "MobileNet", "MobileNetV2", "MobileNetV3Large", "EfficientNetB0", "EfficientNetB3",
        "EfficientNetV2S", "ResNet50", "ResNet50V2", "ResNet152", "VGG16", "VGG19", "DenseNet121",
        "NASNetMobile", "ConvNeXtTiny", "ConvNeXtBase",
    )},
    **{name: partial(published, name, 299) for name in (
        "Xception", "InceptionV3", "InceptionResNetV2",
    )},
    **{f"frozen {name}": partial(on_a_base, name) for name in (
        "MobileNetV2", "ResNet50", "VGG16", "EfficientNetB0", "DenseNet121",
    )},
    **{f"{name}, its top": partial(on_a_base, name, 20) for name in (
        "MobileNetV2", "ResNet50V2", "VGG16",
    )},
    "ConvNeXtTiny, its top": partial(on_a_base, "ConvNeXtTiny", 12),
}  # fmt: skip
MODELS = SMALL | LARGE
