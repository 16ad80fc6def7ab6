"""Check an answer that consists of chosen words, by a table of the likeliest slips."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course.answers import meant
from accel_helpers.course.checks import Check, Result


def choices(
    right: Mapping,
    allowed: Sequence,
    slips: Mapping,
    *,
    done: str,
    empty: str,
    hint: str = "",
    item: str = "{}",
) -> Check:
    """Make a check of a dictionary of words.

    Parameters
    ----------
    right : mapping
        The right word for each key, or a tuple of words: {"A": "waiting"} or {1: ("a", "x")}.
    allowed : sequence
        The words to choose from, or one such sequence for each word of a tuple.
    slips : mapping
        (message, hint) for wrong answers, by (key, word) for one of them, or by the key alone for
        all others. An empty message is replaced by a general one.
    done : str
        The message where everything is right.
    empty : str
        The message where nothing is answered yet.
    hint : str, optional
        The hint where no slip fits; by default the words to choose from.
    item : str, optional
        What a key is called, such as "Step {}".

    Returns
    -------
    Check
        It takes the learner's dictionary, which may be anything.
    """
    places = allowed
    if isinstance(allowed[0], str):
        places = (allowed,)
    lists = [", ".join(vocabulary) for vocabulary in places]
    list_of_words = f"Choose from: {'; '.join(lists)}."
    if not hint:
        hint = list_of_words
    sheet = _Sheet(right, places, slips, done, empty, hint, item, list_of_words)
    return Check(sheet.grade, right, slips)


@dataclass(frozen=True)
class _Sheet:
    """An exercise in which words are chosen; its fields are mostly the parameters of `choices`.

    A learner's answer is a dictionary. A *row* is the words of it under one key, as a tuple, also
    where it is a single word: {"A": "waiting"} has the row ("waiting",).
    """

    right: Mapping
    places: Sequence[Sequence[str]]  # the allowed words for each place of a row
    slips: Mapping
    done: str
    empty: str
    hint: str
    item: str
    list_of_words: str

    def grade(self, answer: object) -> Result:
        """Return the result for a learner's answer, which should be a dictionary; never raise.

        Keys that the exercise does not have are ignored, and missing ones count as not answered.
        """
        if not isinstance(answer, dict):
            return Result(False, f"A dictionary is needed; got {shown(answer)}.", self.hint)
        rows = {key: self._row(answer.get(key)) for key in self.right}
        if all(_is_empty(row) for row in rows.values()):
            return Result(False, self.empty, self.hint)
        # What is no choice at all is answered first, then what is missing, then what is wrong.
        blank_keys = [key for key, row in rows.items() if _has_gap(row)]
        for key, row in rows.items():
            if key in blank_keys or self._is_allowed(row):
                continue
            message = f"{self._name(key)} is {shown(answer[key])}, and that is not a choice."
            return Result(False, message, self.list_of_words)
        if blank_keys:
            keys = ", ".join(str(key) for key in blank_keys)
            return Result(False, f"Still empty: {keys}.", self.hint)
        wrong_keys = [key for key, row in rows.items() if not self._is_right(key, row)]
        if not wrong_keys:
            return Result(True, self.done)
        # One thing at a time: only the first wrong answer gets a message.
        first_wrong_key = wrong_keys[0]
        message, hint = self._slip(first_wrong_key, rows[first_wrong_key], answer)
        count = len(rows)
        right_count = count - len(wrong_keys)
        return Result(False, f"{right_count} of {count} are right. {message}", hint)

    def _row(self, value: object) -> tuple:
        """Return the row of what stands under a key, with None where a word is still missing.

        A word that means one of the allowed ones becomes that one: " Waiting" -> ("waiting",).
        Anything else stays as it is, and may be of any type and number.
        """
        entries = (value,)
        if isinstance(value, (tuple, list)):
            entries = value
        row = tuple(None if _is_missing(entry) else entry for entry in entries)
        # With another number of words it is unclear which of them stands for which place.
        if len(row) != len(self.places):
            return row
        pairs = zip(row, self.places, strict=True)
        return tuple(meant(word, allowed) for word, allowed in pairs)

    def _is_allowed(self, row: tuple) -> bool:
        """Return whether a row has an allowed word at each place, and no more words."""
        if len(row) != len(self.places):
            return False
        for word, allowed in zip(row, self.places, strict=True):
            # Whether it is a text is asked first, since anything else may refuse to be compared.
            if not isinstance(word, str) or word not in allowed:
                return False
        return True

    def _is_right(self, key: Hashable, row: tuple) -> bool:
        """Return whether a row has the right words for its key, one of `self.right`."""
        right_row = self._row(self.right[key])
        return row == right_row

    def _slip(self, key: Hashable, row: tuple, answer: Mapping) -> tuple[str, str]:
        """Return (message, hint) for the wrong row under a key of the learner's answer."""
        # `slips` names a single word by itself, and several by their tuple.
        words = row
        if len(row) == 1:
            words = row[0]
        message = ""
        hint = self.hint
        # The slip of just these words comes last, since it counts more than the key's.
        for slip in (key, (key, words)):
            if slip in self.slips:
                message, hint = self.slips[slip]
        name = self._name(key)
        if not message:
            return f"{name} is not {shown(answer[key])}.", hint
        return f"{name}: {message}", hint

    def _name(self, key: Hashable) -> str:
        """Return what a key is called: "Step 1" for 1, where `item` is "Step {}"."""
        return self.item.format(key)


def _is_missing(word: object) -> bool:
    """Return whether there is no word yet: None, `...` as the exercise has it, or only blanks."""
    if isinstance(word, str):
        return not word.strip()
    return word is None or word is ...


def _is_empty(row: tuple) -> bool:
    """Return whether all words of a row are still missing."""
    return all(word is None for word in row)


def _has_gap(row: tuple) -> bool:
    """Return whether any word of a row is still missing."""
    return any(word is None for word in row)
