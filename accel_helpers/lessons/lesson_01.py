"""The steps from a CPU to a GPU in Colab, old and new, and the checks on them (lesson 01).

What cannot be tried without changing a machine is here as recorded text, each with its origin.
"""

import re

from accel_helpers._words import shown
from accel_helpers.learn.checks import Check, Result, choices

STEPS = {
    "A": "Run the setup cell again.",
    "B": "Choose a GPU, then Save.",
    "C": "Open the menu Runtime, then Change runtime type.",
    "D": "Run !pip install tensorflow-gpu.",
    "E": "Ask for the card of this runtime: is a GPU attached?",
    "F": "Download the files that you want to keep.",
}
ORDER = ("F", "C", "B", "A", "E")  # F may also stand second, while the menu is open

OLD_STEPS = {
    "A": 'os.environ["COLAB_TPU_ADDR"] on a TPU runtime',
    "B": "!pip install tensorflow-gpu",
    "C": "tf.Session()",
    "D": "tf.test.gpu_device_name()",
    "E": "%tensorflow_version 2.x in Colab",
    "F": "the menu: Runtime, Change runtime type",
}
FATES = ("works", "fails", "does nothing")
FATE = dict.fromkeys("ABC", "fails") | {"D": "works", "E": "does nothing", "F": "works"}

#: What pip 26.3 printed to `pip install tensorflow-gpu` in a fresh environment of Python 3.11 on
#: 2026-11-21; the middle of its 59 lines of traceback is cut out.
PIP_SAYS = """\
Collecting tensorflow-gpu
  Downloading tensorflow-gpu-2.12.0.tar.gz (2.6 kB)
  Getting requirements to build wheel: finished with status 'error'
  error: subprocess-exited-with-error
  [...]
      packaging.requirements.InvalidRequirement: Expected semicolon (after name with no version \
specifier) or end
          python_version>"3.7"
                        ^
ERROR: Failed to build 'tensorflow-gpu' when getting requirements to build wheel"""
#: What TensorFlow 2.20.0 and 2.21.0 answer to `tf.Session()`, tried on 2026-11-21.
SESSION_SAYS = "AttributeError: module 'tensorflow' has no attribute 'Session'"
#: What the environment of Colab's TPU runtime says of its TPU, as one of its users listed it:
#: https://github.com/mdda/getting-to-aha-with-tpus
TPU_ENVIRONMENT = {
    "COLAB_TPU_1VM": "1",
    "TPU_ACCELERATOR_TYPE": "v5e-1",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
}

# What is wrong in the text of all letters, such as B before F; an answer that has it; what to say
_ORDERS = (
    (r"(.).*\1", "FCBAEA", "A letter comes twice.", "Each step is done once."),
    ("D", "FCDBAE", "D does not belong there any more: see what pip says to it.",
     "The TensorFlow that Colab brings along drives a GPU as it is."),
    ("^[^F]*$", "CBAE", "A step is missing: the old machine goes back with all that is on it.",
     "What must come first?"),
    ("^[^A]*$", "FCBE", "A step is missing: the new machine does not have the course's library.",
     "Who brings it?"),
    ("^[^E]*$", "FCBA", "A step is missing.", "How do you know that you got what you asked for?"),
    ("^[^C]*$|^[^B]*$", "FAE", "A step is missing.", "Where is the GPU chosen?"),
    ("B.*F", "CBFAE", "F comes after B, and by then there is nothing left to download.",
     "Save gives you another machine. The files are on the old one."),
    ("B.*C", "FBCAE", "B comes before C, but the GPU is chosen inside that menu.",
     "First the place, then the choice."),
    ("A.*B", "FACBE", "A comes before B: that sets up the machine which you then give back.",
     "The setup cell prepares one machine. Which one do you go on with?"),
    ("E.*A", "FCBEA",
     "E comes before A. On a new machine that ends in a NameError: nobody has imported ah.",
     "The card comes from this course's library. Which step brings it?"),
)  # fmt: skip
# (step, what was said of it): what to say to that
_OLD_MISTAKES = {
    ("A", "works"):
        ("That address belonged to TPUs on another machine. Today's TPU is in your own.",
        "Is COLAB_TPU_ADDR among the variables that the cell printed?"),
    ("B", "works"): ("pip downloads something, but look at its last line.",
        "A line that begins with ERROR: was anything installed?"),
    ("C", "works"): ("Sessions belong to TensorFlow 1.",
        "Read the AttributeError again: what does the module not have?"),
    "D": ("It answers in either case: with the GPU's name, or with an empty text for none.",
        "What did the call return, and did the cell go on?"),
    ("E", "works"): ("There is nothing left that it could switch.",
        "Colab's answer to it is one sentence. How does that end?"),
    ("E", "fails"): ("With 1.x it does fail. With 2.x there is no error.",
        "Colab's answer to 2.x is one sentence. How does that end?"),
}  # fmt: skip


def _steps(answer) -> Result:
    if not isinstance(answer, (list, tuple, str)):
        said = f"A list of letters is needed; got {shown(answer)}."
        return Result(False, said, 'Such as ["C", "A"].')
    if not answer:
        return Result(False, "The list is still empty.", "Begin with what you would do first.")
    for letter in answer:
        if not isinstance(letter, str) or letter not in STEPS:
            said = f"{shown(letter)} is not one of the steps."
            return Result(False, said, "They are the capitals A to F.")
    for pattern, _, *words in _ORDERS:
        if re.search(pattern, "".join(answer)):
            return Result(False, *words)
    return Result(True, "Five steps, and nothing is installed.")


CHECKS = {
    "01/steps": Check(_steps, ORDER, tuple((list(row[1]), *row[2:]) for row in _ORDERS)),
    "01/old": choices(
        FATE,
        FATES,
        _OLD_MISTAKES,
        done="Three fail, one does nothing, two still work.",
        empty="The six answers are still empty. Fill in all six.",
    ),
}
