"""A lesson that remembers: it asks, keeps, draws and says, and measures nothing."""

from dataclasses import dataclass, field
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import Any

from accel_helpers._values.words import shown
from accel_helpers.course import lessons, pictures, predict, questions, quiz
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.course.places import Place, places
from accel_helpers.measure import results


@dataclass(frozen=True)
class Lesson:
    """What a lesson's page needs: its questions, sentences, pictures, exercises and quiz.

    Each is called by its id, the heading of a place in ``verdicts/NN.md``. What was measured goes
    on the result card under "NN/id"; a guess is kept under the same name.
    """

    number: str
    places: dict[str, Place] = field(repr=False)

    @property
    def folder(self) -> str:
        """A temporary folder for the scripts of this page; it is gone when the notebook ends."""
        return self._temporary.name

    @cached_property
    def _temporary(self) -> TemporaryDirectory:
        return TemporaryDirectory(prefix=f"lesson-{self.number}-")

    def ask(self, id: str) -> predict.Question:
        """Ask for a guess; last in a cell, the form appears."""
        place = self._place(id, "question")
        return predict.ask(self._path(id), place.question, unit=place.unit, choices=place.choices)

    def reveal(self, id: str, value=None, *, tried=()):
        """Put what came out beside the guess, and show the sentence for it if there is one.

        What no measurement answers, its place does. `tried` are the choices that were tried,
        where some were left out.
        """
        place = self._place(id, "question")
        value = place.answer or value
        outcome = outcome_of(value, place.outcomes)
        shown = outcome if outcome in place.choices else value
        print(predict.reveal(self._path(id), shown, unit=place.unit, tried=tried))
        return self._said(place, value) if place.sentences else None

    def verdict(self, id: str, result):
        """Show the sentence that holds for this result, and only that one.

        Where the place has a picture, too, the result goes on the card.
        """
        place = self._place(id, "sentences")
        if place.picture and result is not None:
            self._keep(place, result)
        return self._said(place, result)

    def plot(self, id: str, result=None):
        """Draw a result, put it on the result card, and draw a reference machine's in grey.

        Without a result nothing is kept, and the picture is the course's own.
        """
        place = self._place(id, "picture")
        if result is None:
            kind = pictures.PICTURES[place.picture]
            return kind.draw(None, title=place.title, reference=None)
        kind = self._keep(place, result)
        reference = pictures.reference_for(kind, result, self._path(id))
        title = place.title.format(result=result)
        return kind.draw(kind.data(result), title=title, reference=reference)

    def check(self, exercise: str, answer) -> lessons.Result:
        """Say whether an answer to an exercise is right; if not, what it is, and a hint."""
        return lessons.check(self._path(exercise), answer)

    def quiz(self) -> quiz.Quiz:
        """Show the lesson's questions; last in a cell, the form appears."""
        return quiz.show(self.number)

    def _path(self, id: str) -> str:
        return f"{self.number}/{id}"

    def _place(self, id: str, needs: str) -> Place:
        place = self.places.get(id)
        if place is None or not getattr(place, needs):
            known = [each.id for each in self.places.values() if getattr(each, needs)]
            there = ", ".join(known) or "none"
            raise ValueError(
                f"Lesson {self.number} has no {needs} for {shown(id)}. It has: {there}."
            )
        return place

    def _keep(self, place: Place, result) -> pictures.Kind:
        """Put a result on the card, as its kind of picture has it; say so only where that fails."""
        kind = pictures.PICTURES[place.picture]
        saved = results.save_on_card(*kind.measured(result, self._path(place.id)))
        if not saved.ok:
            print(saved.sentence)
        return kind

    def _said(self, place: Place, result: Any):
        from IPython.display import Markdown

        outcome = outcome_of(result, place.outcomes)
        if outcome not in place.sentences:
            known = ", ".join(place.sentences)
            where = f"Lesson {self.number}, {place.id}"
            raise ValueError(f"{where}: no sentence for {shown(outcome)}; there is {known}.")
        return Markdown(place.sentences[outcome].format(result=result))


def lesson(number: str) -> Lesson:
    """Open a lesson by its number, "00" to "11"; a ValueError for anything else.

    Examples
    --------
    >>> lesson("03").check("diagnosis", {"A": "compiling", "B": "waiting"}).ok
    False
    """
    known = sorted({question.lesson for question in questions.bank().values()})
    if number not in known:
        raise ValueError(f"a lesson is one of {', '.join(known)}; got {shown(number)}.")
    return Lesson(number, places(number))
