BACKEND = "tensorflow"
TRUTH = "memory"
WHY = "an Embedding of 518 000 rows (20 000 words and the bigrams) x 50 with Adam is trained by batches of 32; 20 steps at batch 1 took 9.0 s (median 10.3), of the copy with embedding_dims=1 0.23 s (median 0.6), a whole epoch with validation 7.4 s (median 9.7): over 90 %; without validation 0.91-0.94 of the epoch is left."
SOURCE = "keras-team/keras, examples/imdb_fasttext.py (ngram_range = 2)"


def case():
    import keras
    import numpy as np

    ngram_range = 2
    max_features = 20000
    maxlen = 400
    batch_size = 32
    embedding_dims = 50

    # in place of imdb.load_data (25 000 reviews of 238 words on average): 2 560 reviews, words by Zipf's law
    rng = np.random.default_rng(1337)
    p = 1 / np.arange(10, max_features + 10)
    p /= p.sum()

    def reviews(n):
        return [list(rng.choice(len(p), size=int(rng.integers(120, 360)), p=p)) for _ in range(n)]

    def create_ngram_set(input_list, ngram_value=2):
        return set(zip(*[input_list[i:] for i in range(ngram_value)]))

    def add_ngram(sequences, token_indice, ngram_range=2):
        new_sequences = []
        for input_list in sequences:
            new_list = input_list[:]
            for ngram_value in range(2, ngram_range + 1):
                for i in range(len(new_list) - ngram_value + 1):
                    ngram = tuple(new_list[i : i + ngram_value])
                    if ngram in token_indice:
                        new_list.append(token_indice[ngram])
            new_sequences.append(new_list)
        return new_sequences

    # the bigrams are those of the whole training set, of which one trains on a part here
    corpus = reviews(2560)
    ngram_set = set()
    for input_list in corpus:
        for i in range(2, ngram_range + 1):
            ngram_set.update(create_ngram_set(input_list, ngram_value=i))
    start_index = max_features + 1
    token_indice = {v: k + start_index for k, v in enumerate(ngram_set)}
    max_features = max(token_indice.values()) + 1

    x_train = add_ngram(corpus[:640], token_indice, ngram_range)
    x_test = add_ngram(reviews(160), token_indice, ngram_range)
    x_train = keras.utils.pad_sequences(x_train, maxlen=maxlen)
    x_test = keras.utils.pad_sequences(x_test, maxlen=maxlen)
    y_train = rng.integers(0, 2, len(x_train))
    y_test = rng.integers(0, 2, len(x_test))

    def make_model():
        model = keras.Sequential()
        model.add(keras.Input((maxlen,), dtype="int32"))
        model.add(keras.layers.Embedding(max_features, embedding_dims))
        model.add(keras.layers.GlobalAveragePooling1D())
        model.add(keras.layers.Dense(1, activation="sigmoid"))
        model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
        return model

    return (
        make_model,
        x_train,
        y_train,
        dict(batch_size=batch_size, epochs=10, validation_data=(x_test, y_test)),
    )
