"""keras-team/keras.

After each epoch the callback draws 4 x 10 characters, a model.predict each, for a training of ten
steps; by the clock an epoch took 12.3 s (median 13.1) with the callback and 1.25 s (median 1.6)
without: 88-90 %.
From keras-team/keras, examples/lstm_text_generation.py (Nietzsche text, LambdaCallback that writes
text after each epoch).
"""

import random

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "callbacks"
MAXLEN = 40


def short_text(length=3600):
    """In place of nietzsche.txt (600 893 characters): made-up words, as of somebody's own text."""
    letters = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrr"
    letters += "ddddlllluuucccmmmwwffggyyppbbvkxjqz"
    rng = random.Random(0)
    words = ["".join(rng.choice(letters) for _ in range(rng.randint(1, 9))) for _ in range(400)]
    marks = [" "] * 20 + [", ", "; ", ". ", "\n", "--", ": ", '"', "? ", "! ", "(", ") ", "'"]
    text = "0123456789=_[]äæéë"
    while len(text) < length:
        text += rng.choice(words) + rng.choice(marks)
    return text.lower()


def sample(preds, temperature):
    preds = np.log(preds.astype("float64") + 1e-12) / temperature
    probas = np.exp(preds) / np.sum(np.exp(preds))
    return np.argmax(np.random.multinomial(1, probas, 1))


def case():
    text = short_text()
    chars = sorted(set(text))

    def one_hot(sentences):
        x = np.zeros((len(sentences), MAXLEN, len(chars)), dtype=bool)
        for i, sentence in enumerate(sentences):
            for t, char in enumerate(sentence):
                x[i, t, chars.index(char)] = 1
        return x

    # cut the text in semi-redundant sequences of maxlen characters
    starts = range(0, len(text) - MAXLEN, 3)
    x = one_hot([text[i : i + MAXLEN] for i in starts])
    y = np.array([[char == text[i + MAXLEN] for char in chars] for i in starts])

    def make_model():
        layers = [Input((MAXLEN, len(chars))), LSTM(128), Dense(len(chars), "softmax")]
        optimizer = RMSprop(learning_rate=0.01)
        return sequential(optimizer, "categorical_crossentropy", *layers, metrics=[])

    class WriteText(Callback):
        """The script's on_epoch_end (there in a LambdaCallback, with the global model), 10 characters
        in place of 400."""

        def on_epoch_end(self, epoch, logs=None):
            start = random.randint(0, len(text) - MAXLEN - 1)
            for diversity in [0.2, 0.5, 1.0, 1.2]:
                sentence = text[start : start + MAXLEN]
                for _ in range(10):
                    preds = self.model.predict(one_hot([sentence]), verbose=0)[0]
                    sentence = sentence[1:] + chars[sample(preds, diversity)]

    return make_model, x, y, dict(batch_size=128, epochs=40, callbacks=[WriteText()])
