BACKEND = "jax"
TRUTH = "compilation"
WHY = "each batch is padded to its longest review, so JAX compiles again for nearly each; 27 lengths in ten epochs; the ten epochs took 74.8 s (27.0 s of CPU) as called; the batches of ten epochs fed twice through one model: 62.9 s the first time, 1.0 s the second: 98 %."
SOURCE = (
    "tensorflow/docs, site/en/tutorials/keras/text_classification.ipynb (the version with imdb_reviews/subwords8k: "
    "shuffle(1000).padded_batch(32), so that nearly each batch has a length of its own)"
)


def case():
    import keras
    import numpy as np
    import tensorflow as tf

    # in place of tfds' imdb_reviews/subwords8k (25 000 reviews): 320 + 64, lengths log-normal as the real ones
    vocab_size = 8185
    rng = np.random.default_rng(0)
    p = 1 / np.arange(10, vocab_size + 9)
    p /= p.sum()

    def reviews(n):
        lengths = np.clip(rng.lognormal(5.45, 0.6, n), 20, 2500).astype(int)
        texts = [rng.choice(vocab_size - 1, size=k, p=p) + 1 for k in lengths]
        labels = rng.integers(0, 2, n)
        return tf.data.Dataset.from_generator(
            lambda: zip(texts, labels),
            output_signature=(tf.TensorSpec((None,), tf.int64), tf.TensorSpec((), tf.int64)),
        )

    train_data, test_data = reviews(320), reviews(64)
    BUFFER_SIZE = 1000
    train_batches = train_data.shuffle(BUFFER_SIZE).padded_batch(32, padded_shapes=([None], []))
    test_batches = test_data.padded_batch(32, padded_shapes=([None], []))

    def make_model():
        model = keras.Sequential(
            [
                keras.Input((None,), dtype="int32"),
                keras.layers.Embedding(vocab_size, 16),
                keras.layers.GlobalAveragePooling1D(),
                keras.layers.Dense(1, activation="sigmoid"),
            ]
        )
        model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
        return model

    return (
        make_model,
        train_batches,
        None,
        dict(epochs=10, validation_data=test_batches, validation_steps=2),
    )
