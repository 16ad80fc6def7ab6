"""The lesson object: what a lesson's page asks, keeps, draws and says. It measures nothing."""

from dataclasses import dataclass, field
from functools import cached_property
from tempfile import TemporaryDirectory

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
        return self._temporary_folder.name

    @cached_property
    def _temporary_folder(self) -> TemporaryDirectory:
        return TemporaryDirectory(prefix=f"lesson-{self.number}-")

    def ask(self, id: str) -> predict.Question:
        """Ask for a guess; put the call last in a cell, and the form appears."""
        place = self._place(id, "question")
        path = self._path(id)
        return predict.ask(path, place.question, unit=place.unit, choices=place.choices)

    def reveal(self, id: str, value=None, *, tried=()):
        """Print the guess beside what came out, and return the sentence for it if there is one.

        Where no measurement gives the answer, the place states it. `tried` are the choices that
        were tried, where some were left out.
        """
        place = self._place(id, "question")
        if place.answer:
            value = place.answer
        # A guess among choices is compared with the outcome, a number with the value itself.
        actual = value
        outcome = outcome_of(value, place.outcomes)
        if outcome in place.choices:
            actual = outcome
        comparison = predict.reveal(self._path(id), actual, unit=place.unit, tried=tried)
        print(comparison)
        if not place.sentences:
            return None
        return self._sentence(place, value)

    def verdict(self, id: str, result):
        """Return the sentence that holds for this result, to be shown by the cell.

        Where the place also has a picture, the result is put on the result card.
        """
        place = self._place(id, "sentences")
        if place.picture and result is not None:
            self._keep(place, result)
        return self._sentence(place, result)

    def plot(self, id: str, result=None):
        """Put a result on the result card and draw it, with a reference machine's in grey.

        Without a result nothing is kept, and the picture is the course's own.
        """
        place = self._place(id, "picture")
        picture = pictures.PICTURES[place.picture]
        if result is None:
            return picture.draw(None, title=place.title, reference=None)
        self._keep(place, result)
        data = picture.data(result)
        reference = pictures.reference_for(picture, result, self._path(id))
        title = place.title.format(result=result)
        return picture.draw(data, title=title, reference=reference)

    def check(self, exercise: str, answer) -> lessons.Result:
        """Check the answer to an exercise: is it right, and if not, why not, with a hint."""
        return lessons.check(self._path(exercise), answer)

    def quiz(self) -> quiz.Quiz:
        """Show the lesson's questions; put the call last in a cell, and the form appears."""
        return quiz.show(self.number)

    def _path(self, id: str) -> str:
        """Return the name under which guesses and measurements of a place are kept."""
        return f"{self.number}/{id}"

    def _place(self, id: str, needs: str) -> Place:
        """Return a place whose field `needs` is not empty; a ValueError lists those places."""
        place = self.places.get(id)
        if place is not None and getattr(place, needs):
            return place
        usable = []
        for candidate in self.places.values():
            if getattr(candidate, needs):
                usable.append(candidate.id)
        ids = "none"
        if usable:
            ids = ", ".join(usable)
        raise ValueError(f"Lesson {self.number} has no {needs} for {shown(id)}. It has: {ids}.")

    def _keep(self, place: Place, result) -> None:
        """Put a result on the card in the way of its kind of picture; print only a failure."""
        picture = pictures.PICTURES[place.picture]
        measurements, numbers = picture.measured(result, self._path(place.id))
        saved = results.save_on_card(measurements, numbers)
        if not saved.ok:
            print(saved.sentence)

    def _sentence(self, place: Place, result):
        """Return the place's sentence for the outcome of a result, as Markdown."""
        from IPython.display import Markdown

        outcome = outcome_of(result, place.outcomes)
        if outcome not in place.sentences:
            outcomes = ", ".join(place.sentences)
            raise ValueError(
                f"Lesson {self.number}, {place.id}: no sentence for {shown(outcome)}; "
                f"there is {outcomes}."
            )
        sentence = place.sentences[outcome]
        text = sentence.format(result=result)
        return Markdown(text)


def lesson(number: str) -> Lesson:
    """Open a lesson by its number, "00" to "11"; a ValueError for anything else.

    Examples
    --------
    >>> lesson("03").check("diagnosis", {"A": "compiling", "B": "waiting"}).ok
    False
    """
    bank = questions.bank()
    numbers = sorted({question.lesson for question in bank.values()})
    if number not in numbers:
        listed = ", ".join(numbers)
        raise ValueError(f"a lesson is one of {listed}; got {shown(number)}.")
    return Lesson(number, places(number))
