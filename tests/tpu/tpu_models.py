"""Small Keras models to lower and compile for a TPU, on any backend."""


def quickstart():
    from accel_helpers.course import quickstart

    return quickstart.quickstart_model()


def characters():
    """The model of lesson 04: its LSTM layers are loops."""
    import tpu_programs

    return tpu_programs.shakespeare(70)


def residual():
    import keras

    make = keras.layers
    inputs = keras.Input((16, 16, 3))
    x = make.Conv2D(16, 3, padding="same", use_bias=False, name="stem")(inputs)
    y = make.ReLU(name="relu")(make.BatchNormalization(name="norm")(x))
    y = make.Conv2D(32, 3, strides=2, padding="same", name="conv")(y)
    x = make.Add(name="add")([make.Conv2D(32, 1, strides=2, name="past")(x), y])
    x = make.GlobalAveragePooling2D(name="mean")(x)
    return _compiled(keras.Model(inputs, make.Dense(10, name="output")(x), name="residual"))


def transformer():
    """A block of attention; the random numbers of its dropout are its largest arrays."""
    import keras

    make = keras.layers
    inputs = keras.Input((128,), dtype="int32")
    x = make.Embedding(256, 16, name="tokens")(inputs)
    y = make.LayerNormalization(name="norm")(x)
    attention = make.MultiHeadAttention(4, 4, dropout=0.1, name="attention")
    x = make.Add(name="add")([x, attention(y, y, use_causal_mask=True)])
    y = make.Dense(64, activation="gelu", name="wide")(x)
    x = make.Add(name="sum")([x, make.Dropout(0.1, name="drop")(make.Dense(16, name="narrow")(y))])
    x = make.GlobalAveragePooling1D(name="mean")(x)
    return _compiled(keras.Model(inputs, make.Dense(10, name="output")(x), name="transformer"))


def _compiled(model):
    import keras

    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    return model


# name -> (how to make the model, the samples in a batch)
MODELS = {
    "quickstart": (quickstart, 32),
    "residual": (residual, 16),
    "transformer": (transformer, 16),
    "characters": (characters, 16),
}
