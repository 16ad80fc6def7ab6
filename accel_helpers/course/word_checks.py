"""Check an answer that consists of chosen words, by a table of the likeliest slips."""

from collections.abc import Mapping, Sequence
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
        The word for each key, or a tuple of words.
    allowed : sequence
        The words to choose from, or one such sequence for each word of a tuple.
    slips : mapping
        The message and the hint for a wrong answer, by its key, or by (key, answer).
    done : str
        The message where everything is right.
    empty : str
        The message where nothing is answered yet.
    hint : str, optional
        The hint where no slip fits; by default the words to choose from.
    item : str, optional
        What a key is called, such as "Step {}".
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
    """An exercise in which words are chosen, as `choices` takes it."""

    right: Mapping
    places: Sequence[Sequence[str]]  # the words that are allowed, for each word of an answer
    slips: Mapping
    done: str
    empty: str
    hint: str
    item: str
    list_of_words: str

    def grade(self, answer) -> Result:
        """Return the result of an answer, which may be anything."""
        if not isinstance(answer, dict):
            return Result(False, f"A dictionary is needed; got {shown(answer)}.", self.hint)
        rows = {key: self._row(answer.get(key)) for key in self.right}
        if all(_is_empty(row) for row in rows.values()):
            return Result(False, self.empty, self.hint)
        # What is no choice at all is answered first, then what is missing, then what is wrong.
        blank = [key for key, row in rows.items() if _has_gap(row)]
        for key, row in rows.items():
            if key in blank or self._is_allowed(row):
                continue
            message = f"{self._name(key)} is {shown(answer[key])}, and that is not a choice."
            return Result(False, message, self.list_of_words)
        if blank:
            keys = ", ".join(str(key) for key in blank)
            return Result(False, f"Still empty: {keys}.", self.hint)
        wrong = [key for key, row in rows.items() if not self._is_right(key, row)]
        if not wrong:
            return Result(True, self.done)
        first_wrong = wrong[0]
        message, hint = self._slip(first_wrong, rows[first_wrong], answer)
        count = len(rows)
        right_count = count - len(wrong)
        return Result(False, f"{right_count} of {count} are right. {message}", hint)

    def _row(self, value) -> tuple:
        """Return the words of an answer as they are meant; None where one is still missing."""
        entries = (value,)
        if isinstance(value, (tuple, list)):
            entries = value
        row = tuple(None if _is_missing(entry) else entry for entry in entries)
        if len(row) != len(self.places):
            return row
        pairs = zip(row, self.places, strict=True)
        return tuple(meant(word, allowed) for word, allowed in pairs)

    def _is_allowed(self, row: tuple) -> bool:
        """Return whether an answer has a word that may be chosen at each place."""
        if len(row) != len(self.places):
            return False
        for word, allowed in zip(row, self.places, strict=True):
            # Whether it is a text is asked first, since anything else may refuse to be compared.
            if not isinstance(word, str) or word not in allowed:
                return False
        return True

    def _is_right(self, key, row: tuple) -> bool:
        """Return whether an answer has the right words for its key."""
        right_row = self._row(self.right[key])
        return row == right_row

    def _slip(self, key, row: tuple, answer: Mapping) -> tuple[str, str]:
        """Return the message for a wrong answer, and the hint."""
        chosen = row
        if len(row) == 1:
            chosen = row[0]
        message = ""
        hint = self.hint
        # A slip of just this answer counts more than one of the key.
        for slip in (key, (key, chosen)):
            if slip in self.slips:
                message, hint = self.slips[slip]
        name = self._name(key)
        if not message:
            return f"{name} is not {shown(answer[key])}.", hint
        return f"{name}: {message}", hint

    def _name(self, key) -> str:
        """Return what a key is called."""
        return self.item.format(key)


def _is_missing(word) -> bool:
    """Return whether there is no answer yet: nothing, dots as in the exercise, or blanks."""
    if isinstance(word, str):
        return not word.strip()
    return word is None or word is ...


def _is_empty(row: tuple) -> bool:
    """Return whether all words of an answer are still missing."""
    return all(word is None for word in row)


def _has_gap(row: tuple) -> bool:
    """Return whether a word of an answer is still missing."""
    return any(word is None for word in row)
