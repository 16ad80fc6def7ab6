BACKEND = "tensorflow"
TRUTH = "callbacks"
WHY = "after each epoch the callback draws 4 x 10 characters, a model.predict each, for a training of ten steps; by the clock an epoch took 12.3 s (median 13.1) with the callback and 1.25 s (median 1.6) without: 88-90 %."
SOURCE = "keras-team/keras, examples/lstm_text_generation.py (Nietzsche text, LambdaCallback that writes text after each epoch)"


def case():
    import random

    import keras
    import numpy as np

    # in place of nietzsche.txt (600 893 characters): made-up words, 3 600 characters, as of somebody's own short text
    letters = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluuucccmmmwwffggyyppbbvkxjqz"
    rng = random.Random(0)
    words = ["".join(rng.choice(letters) for _ in range(rng.randint(1, 9))) for _ in range(400)]
    marks = [" "] * 20 + [", ", "; ", ". ", "\n", "--", ": ", '"', "? ", "! ", "(", ") ", "'"]
    text = "0123456789=_[]äæéë"
    while len(text) < 3600:
        text += rng.choice(words) + rng.choice(marks)
    text = text.lower()

    chars = sorted(list(set(text)))
    char_indices = dict((c, i) for i, c in enumerate(chars))
    indices_char = dict((i, c) for i, c in enumerate(chars))

    # cut the text in semi-redundant sequences of maxlen characters
    maxlen = 40
    step = 3
    sentences = []
    next_chars = []
    for i in range(0, len(text) - maxlen, step):
        sentences.append(text[i : i + maxlen])
        next_chars.append(text[i + maxlen])
    x = np.zeros((len(sentences), maxlen, len(chars)), dtype=bool)
    y = np.zeros((len(sentences), len(chars)), dtype=bool)
    for i, sentence in enumerate(sentences):
        for t, char in enumerate(sentence):
            x[i, t, char_indices[char]] = 1
        y[i, char_indices[next_chars[i]]] = 1

    def make_model():
        model = keras.Sequential(
            [
                keras.Input((maxlen, len(chars))),
                keras.layers.LSTM(128),
                keras.layers.Dense(len(chars), activation="softmax"),
            ]
        )
        model.compile(
            loss="categorical_crossentropy", optimizer=keras.optimizers.RMSprop(learning_rate=0.01)
        )
        return model

    def sample(preds, temperature=1.0):
        preds = np.asarray(preds).astype("float64")
        preds = np.log(preds + 1e-12) / temperature
        exp_preds = np.exp(preds)
        preds = exp_preds / np.sum(exp_preds)
        probas = np.random.multinomial(1, preds, 1)
        return np.argmax(probas)

    class WriteText(keras.callbacks.Callback):
        """The script's on_epoch_end (there in a LambdaCallback, with the global model), 10 characters in place of 400."""

        def on_epoch_end(self, epoch, logs=None):
            start_index = random.randint(0, len(text) - maxlen - 1)
            for diversity in [0.2, 0.5, 1.0, 1.2]:
                sentence = text[start_index : start_index + maxlen]
                generated = sentence
                for i in range(10):
                    x_pred = np.zeros((1, maxlen, len(chars)))
                    for t, char in enumerate(sentence):
                        x_pred[0, t, char_indices[char]] = 1.0
                    preds = self.model.predict(x_pred, verbose=0)[0]
                    next_char = indices_char[sample(preds, diversity)]
                    generated += next_char
                    sentence = sentence[1:] + next_char

    return make_model, x, y, dict(batch_size=128, epochs=40, callbacks=[WriteText()])
