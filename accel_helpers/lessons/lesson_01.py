"""The steps from a CPU to a GPU in Colab, old and new, and the checks on them (lesson 01).

What cannot be tried without changing a machine is here as recorded text, each with its origin.
"""

from __future__ import annotations

from accel_helpers.learn.checks import Result, blank, shown

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
FATE = {
    "A": "fails",
    "B": "fails",
    "C": "fails",
    "D": "works",
    "E": "does nothing",
    "F": "works",
}

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

_MISSING = {
    "A": "The new machine does not have this course's library yet. Who brings it?",
    "B": "The menu alone changes nothing. Something must be chosen there.",
    "C": "Where is the GPU chosen?",
    "E": "How do you know that you got what you asked for?",
    "F": "The old machine goes back with all that is on it. What must come first?",
}
# (earlier, later): what to say where they stand the other way round
_BEFORE = {
    ("C", "B"): (
        "B comes before C, but the GPU is chosen inside that menu.",
        "First the place, then the choice.",
    ),
    ("F", "B"): (
        "F comes after B, and by then there is nothing left to download.",
        "Save gives you another machine. The files are on the old one.",
    ),
    ("B", "A"): (
        "A comes before B: that sets up the machine which you then give back.",
        "The setup cell prepares one machine. Which one do you go on with?",
    ),
    ("B", "E"): (
        "E comes before B, so the card shows the old machine.",
        "Look at what you were given after you were given it.",
    ),
    ("A", "E"): (
        "E comes before A. On a new machine that ends in a NameError: nobody has imported ah.",
        "The card comes from this course's library. Which step brings it?",
    ),
}
# (step, what was said of it): what to say to that
_OLD_MISTAKES = {
    ("A", "works"): (
        "That address belonged to TPUs on another machine. Today's TPU is in your own.",
        "Is COLAB_TPU_ADDR among the variables that the cell printed?",
    ),
    ("A", "does nothing"): (
        "Reading a name that is not there is an error in Python.",
        "Its name begins with Key.",
    ),
    ("B", "works"): (
        "pip downloads something, but look at its last line.",
        "A line that begins with ERROR: was anything installed?",
    ),
    ("B", "does nothing"): (
        "pip does not pass over it in silence.",
        "The last line of pip's output begins with a word in capitals. Which?",
    ),
    ("C", "works"): (
        "Sessions belong to TensorFlow 1.",
        "Read the AttributeError again: what does the module not have?",
    ),
    ("C", "does nothing"): (
        "A step that does nothing lets the cell go on. This one ends it.",
        "What is the name of the error?",
    ),
    ("D", "fails"): (
        "An empty text is an answer and no error. It means: no GPU.",
        "What did the call return, and did the cell go on?",
    ),
    ("D", "does nothing"): (
        "It says something in either case: the GPU's name, or an empty text.",
        "What does an empty text mean here?",
    ),
    ("E", "works"): (
        "There is nothing left that it could switch.",
        "Colab's answer to it is one sentence. How does that end?",
    ),
    ("E", "fails"): (
        "With 1.x it does fail. With 2.x there is no error.",
        "Colab's answer to 2.x is one sentence. How does that end?",
    ),
    ("F", "fails"): (
        "You may get no GPU, and still the menu does its work.",
        "How else would you ask Colab for another kind of machine?",
    ),
    ("F", "does nothing"): (
        "In Colab it gives you another machine.",
        "(Outside Colab there is no such menu. The question is about Colab.)",
    ),
}


def _steps(answer) -> Result:
    letters = _letters(answer)
    if letters is None:
        return Result(
            False,
            f"A list of letters is needed; got {shown(answer)}.",
            'Such as ["C", "A"], or the text "CA".',
        )
    if not letters or any(letter is ... for letter in letters):
        return Result(False, "The list is still empty.", "Begin with what you would do first.")
    unknown = [x for x in letters if not isinstance(x, str) or x not in STEPS]
    if unknown:
        return Result(
            False, f"{shown(unknown[0])} is not one of the steps.", "They are the letters A to F."
        )
    if len(set(letters)) < len(letters):
        return Result(False, "A letter comes twice.", "Each step is done once.")
    if "D" in letters:
        return Result(
            False,
            "D does not belong there any more: see what pip says to it.",
            "The TensorFlow that Colab brings along drives a GPU as it is.",
        )
    missing = [letter for letter in "CBEAF" if letter not in letters]
    if missing:
        return Result(
            False,
            f"{len(missing)} of 5 steps {'is' if len(missing) == 1 else 'are'} missing.",
            _MISSING[missing[0]],
        )
    for (earlier, later), (message, hint) in _BEFORE.items():
        if letters.index(earlier) > letters.index(later):
            return Result(False, message, hint)
    return Result(True, "Five steps, and nothing is installed.")


def _letters(answer) -> list | None:
    if answer is ... or answer is None:
        return []
    if isinstance(answer, str):
        answer = [letter for letter in answer if letter not in " ,;"]
    if not isinstance(answer, (list, tuple)):
        return None
    return [part.strip().upper() if isinstance(part, str) else part for part in answer]


def _old(answer) -> Result:
    if not isinstance(answer, dict):
        return Result(
            False,
            f"A dictionary is needed; got {shown(answer)}.",
            'Such as {"A": "works", "B": "fails", ...}.',
        )
    choices = f"Choose from: {', '.join(FATES)}."
    empty = blank(answer, FATE)
    if len(empty) == len(FATE):
        return Result(False, "The six answers are still empty. Fill in all six.", choices)
    if empty:
        which = ", ".join(empty)
        return Result(False, f"Still empty: {which}. Fill in all six first.", choices)
    unknown = [fate for fate in answer.values() if not isinstance(fate, str) or fate not in FATES]
    if unknown:
        return Result(False, f"{shown(unknown[0])} is not a choice.", choices)
    wrong = [letter for letter, fate in FATE.items() if answer[letter] != fate]
    if not wrong:
        return Result(True, "Three fail, one does nothing, two still work.")
    message, hint = _OLD_MISTAKES[wrong[0], answer[wrong[0]]]
    right = len(FATE) - len(wrong)
    return Result(False, f"{right} of 6 are right. {wrong[0]}: {message}", hint)


GRADERS = {"01/steps": _steps, "01/old": _old}
