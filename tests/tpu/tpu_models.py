"""Small Keras models to lower and compile for a TPU, on any backend."""


def quickstart():
    """The model of lesson 03."""
    from accel_helpers.train import training

    return training.quickstart_model()


def characters():
    """The model of lesson 04: its LSTM layers are loops."""
    from accel_helpers.train import text

    return text.model(70)


def convolutional():
    """Two convolutions, for pictures of one colour."""
    import keras

    make = keras.layers
    return _compiled(
        keras.Input((28, 28, 1)),
        make.Conv2D(32, 3, activation="relu", name="first_conv"),
        make.MaxPooling2D(name="first_pool"),
        make.Conv2D(64, 3, activation="relu", name="second_conv"),
        make.MaxPooling2D(name="second_pool"),
        make.Flatten(name="flat"),
        make.Dropout(0.5, name="drop"),
        make.Dense(10, name="output"),
        name="convolutional",
    )


def residual():
    """Two blocks of two convolutions each, whose input is added to their output."""
    import keras

    make = keras.layers
    inputs = keras.Input((32, 32, 3))
    x = make.Conv2D(16, 3, padding="same", use_bias=False, name="stem")(inputs)
    for at, filters in enumerate((16, 32)):
        stride = 2 if at else 1
        y = make.BatchNormalization(name=f"norm_{at}_a")(x)
        y = make.ReLU(name=f"relu_{at}_a")(y)
        if at:
            x = make.Conv2D(filters, 1, strides=stride, use_bias=False, name=f"past_{at}")(y)
        options = {"padding": "same", "use_bias": False}
        y = make.Conv2D(filters, 3, strides=stride, name=f"conv_{at}_a", **options)(y)
        y = make.BatchNormalization(name=f"norm_{at}_b")(y)
        y = make.ReLU(name=f"relu_{at}_b")(y)
        y = make.Conv2D(filters, 3, name=f"conv_{at}_b", **options)(y)
        x = make.Add(name=f"add_{at}")([y, x])
    x = make.GlobalAveragePooling2D(name="mean")(x)
    return _compiled(inputs, make.Dense(10, name="output")(x), name="residual")


def transformer(length=32, width=64, blocks=1, dropout=0.1):
    """Blocks of attention and two dense layers, with dropout, over 256 different tokens."""
    import keras

    make = keras.layers
    inputs = keras.Input((length,), dtype="int32")
    x = make.Embedding(256, width, name="tokens")(inputs)
    x = x + make.Embedding(length, width, name="places")(keras.ops.arange(length))
    for at in range(blocks):
        y = make.LayerNormalization(name=f"norm_{at}_a")(x)
        attention = make.MultiHeadAttention(4, width // 4, dropout=dropout, name=f"attention_{at}")
        x = make.Add(name=f"add_{at}_a")([x, attention(y, y, use_causal_mask=True)])
        y = make.LayerNormalization(name=f"norm_{at}_b")(x)
        y = make.Dense(4 * width, activation="gelu", name=f"wide_{at}")(y)
        y = make.Dropout(dropout, name=f"drop_{at}")(make.Dense(width, name=f"narrow_{at}")(y))
        x = make.Add(name=f"add_{at}_b")([x, y])
    x = make.GlobalAveragePooling1D(name="mean")(x)
    return _compiled(inputs, make.Dense(10, name="output")(x), name="transformer")


def resnet50():
    """ResNet-50 in mixed precision, as TPUs are given it."""
    import keras

    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model = keras.applications.ResNet50(weights=None)
    finally:
        keras.config.set_dtype_policy(before)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def _compiled(*parts, name):
    import keras

    of_layers = isinstance(parts[-1], keras.layers.Layer)
    model = keras.Sequential(parts, name=name) if of_layers else keras.Model(*parts, name=name)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    return model


# name -> (how to make the model, the samples in a batch)
MODELS = {
    "quickstart": (quickstart, 32),
    "convolutional": (convolutional, 32),
    "residual": (residual, 16),
    "transformer": (transformer, 16),
    "characters": (characters, 16),
}
