BACKEND = "tensorflow"
TRUTH = "compute"
WHY = "nothing planted (frozen MobileNetV2 0.75 + head, tf.data with augmentation): an epoch as called took 1.65 CPU-seconds, with one kept batch and no callbacks or validation 1.61, the same at batch 1 0.22, so arithmetic is 85 %; by the clock, shared cores, 2.00 / 1.74 / 0.21 s; compilation 23 % of the planned training"
SOURCE = ""


def case():
    """Transfer learning: a frozen MobileNetV2 (random weights, as there is no network), a new head, light augmentation."""
    import os
    import tempfile

    import numpy as np
    import keras
    import tensorflow as tf

    rng = np.random.default_rng(4)
    count = 520
    labels = rng.integers(0, 3, count)
    colours = np.array([[160, 110, 100], [110, 150, 110], [110, 110, 160]])
    images = colours[labels][:, None, None, :] + rng.normal(0, 40, (count, 96, 96, 3))
    images = np.clip(images, 0, 255).astype("uint8")

    def prepare(image, label):
        return keras.applications.mobilenet_v2.preprocess_input(tf.cast(image, tf.float32)), label

    def augment(image, label):
        image = tf.image.random_flip_left_right(image)
        return tf.image.random_brightness(image, 0.1), label

    train = tf.data.Dataset.from_tensor_slices((images[:480], labels[:480])).map(prepare).cache()
    train = (
        train.shuffle(480).map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(2)
    )
    held_out = (
        tf.data.Dataset.from_tensor_slices((images[480:], labels[480:]))
        .map(prepare)
        .batch(40)
        .cache()
    )

    def new_base():
        return keras.applications.MobileNetV2(
            input_shape=(96, 96, 3), alpha=0.75, include_top=False, weights=None
        )

    # A stand-in for downloaded weights: random ones, with batch statistics that fit the pictures.
    base = new_base()
    for layer in base.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
    base(next(iter(train.take(1)))[0], training=True)
    pretrained = base.get_weights()

    def make_model():
        layers = keras.layers
        base = new_base()
        base.set_weights(pretrained)
        base.trainable = False
        inputs = keras.Input((96, 96, 3))
        x = base(inputs, training=False)
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Dense(128, activation="relu")(x)
        outputs = layers.Dense(3)(layers.Dropout(0.3)(x))
        model = keras.Model(inputs, outputs)
        model.compile(
            keras.optimizers.RMSprop(1e-3),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        return model

    callbacks = [
        keras.callbacks.EarlyStopping(monitor="val_accuracy", patience=10, start_from_epoch=5),
        keras.callbacks.CSVLogger(os.path.join(tempfile.mkdtemp(), "history.csv")),
    ]
    return make_model, train, None, dict(epochs=30, validation_data=held_out, callbacks=callbacks)
