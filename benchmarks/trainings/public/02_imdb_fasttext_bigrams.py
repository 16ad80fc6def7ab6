"""keras-team/keras.

An Embedding of 518 000 rows (20 000 words and the bigrams) x 50 with Adam is trained by batches of
32; 20 steps at batch 1 took 9.0 s (median 10.3), of the copy with embedding_dims=1 0.23 s (median
0.6), a whole epoch with validation 7.4 s (median 9.7): over 90 %; without validation 0.91-0.94 of
the epoch is left.
From keras-team/keras, examples/imdb_fasttext.py (ngram_range = 2).
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "memory"
MAX_FEATURES = 20000
MAXLEN = 400


def case():
    # in place of imdb.load_data (25 000 reviews of 238 words on average): 2 560 reviews
    rng = np.random.default_rng(1337)
    p = words_by_frequency(MAX_FEATURES)

    def reviews(n):
        return [list(rng.choice(len(p), size=int(rng.integers(120, 360)), p=p)) for _ in range(n)]

    # the bigrams are those of the whole training set, of which one trains on a part here
    corpus = reviews(2560)
    bigrams = {pair for review in corpus for pair in zip(review, review[1:])}
    numbers = {pair: k + MAX_FEATURES + 1 for k, pair in enumerate(bigrams)}
    max_features = max(numbers.values()) + 1

    def with_bigrams(some):
        some = [r + [numbers[p] for p in zip(r, r[1:]) if p in numbers] for r in some]
        return keras.utils.pad_sequences(some, maxlen=MAXLEN)

    x_train = with_bigrams(corpus[:640])
    x_test = with_bigrams(reviews(160))
    y_train = rng.integers(0, 2, 640)
    y_test = rng.integers(0, 2, 160)

    def make_model():
        layers = [Input((MAXLEN,), dtype="int32"), Embedding(max_features, 50)]
        layers += [GlobalAveragePooling1D(), Dense(1, "sigmoid")]
        return sequential("adam", "binary_crossentropy", *layers)

    arguments = dict(batch_size=32, epochs=10, validation_data=(x_test, y_test))
    return make_model, x_train, y_train, arguments
