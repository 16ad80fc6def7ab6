"""The lesson object: what a lesson's page asks, keeps, draws and says. It measures nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

from accel_helpers.course import lessons, predict, quiz, record
from accel_helpers.course.checks import Result
from accel_helpers.course.kept import numbers_of
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.course.places import Place, Sentence, places
from accel_helpers.measure import pictures


@dataclass(frozen=True)
class Lesson:
    """What a lesson's page needs: its questions, sentences, pictures, exercises and quiz.

    A *place* of the page is where something is asked, drawn or said; its id is its heading in
    ``verdicts/NN.md``. What was measured there goes on the record under "NN/id".
    """

    number: str  # "00" to "11"
    places: dict[str, Place] = field(repr=False)  # by id
    scripts: TemporaryDirectory = field(default_factory=TemporaryDirectory, repr=False)

    @property
    def folder(self) -> str:
        """A temporary folder for the scripts of this page; it is gone when the notebook ends."""
        return self.scripts.name

    def ask(self, id: str) -> predict.Question:
        """Ask for a guess; put the call last in a cell, and the form appears."""
        return predict.Question(self._path(id), self.places[id])

    def reveal(self, id: str, value: object = None, *, tried: Iterable[str] = ()):
        """Print the guess beside what came out, and return the sentence for it as Markdown.

        Parameters
        ----------
        id : str
            A place with a question.
        value : object, optional
            What was measured, or a result whose outcome is one of the choices; None where nothing
            was. Where no measurement gives the answer, the place states it, and this is not used.
        tried : iterable of str, optional
            The choices that were tried, where some were left out.

        Returns
        -------
        Sentence or None
            None where the place has no sentences.
        """
        place = self.places[id]
        value = place.answer or value
        # A guess among choices is compared with the outcome, a number with the value itself.
        actual = outcome_of(value, place.outcomes)
        if actual not in place.choices:
            actual = value
        print(predict.reveal(self._path(id), actual, unit=place.unit, tried=tried))
        if not place.sentences:
            return None
        return self._sentence(place, value)

    def verdict(self, id: str, result: object):
        """Return the sentence that holds for this result as Markdown, to be shown by the cell.

        The result is put on the record. None as a result means that nothing was measured.
        """
        sentence = self._sentence(self.places[id], result)
        if result is not None:
            self._record(id, result, sentence)
        return sentence

    def plot(self, id: str, result: object = None):
        """Put a result on the record, and return its picture.

        Without a result nothing is recorded, and the picture is the course's own.
        """
        draw = lessons.drawings(self.number)[id]
        if result is None:
            return draw()
        picture = draw(result)
        self._record(id, result, str(picture))
        return picture

    # A figure of pyplot's as a picture, under the sentence that says what was found.
    show = staticmethod(pictures.show)

    def check(self, exercise: str, answer: object) -> Result:
        """Check the answer to an exercise of this lesson: whether it is right, and why not.

        `answer` is what the exercise asks for, a dictionary or a function; it may be anything.
        """
        return lessons.exercises()[self._path(exercise)](answer)

    def quiz(self) -> quiz.Quiz:
        """Show the lesson's questions; put the call last in a cell, and the form appears."""
        return quiz.show_quiz(self.number)

    # The records in a folder become one, and the file for the class is written.
    gather = staticmethod(record.gather)
    hand_in = staticmethod(record.hand_in)

    def _path(self, id: str) -> str:
        """Return the name under which guesses and measurements of a place are kept."""
        return f"{self.number}/{id}"

    def _record(self, id: str, result: object, said: str) -> None:
        """Put a result on the record, with what was said of it; print only a failure."""
        outcome = ""
        place = self.places.get(id)
        # A picture may have no words at its place.
        if place and place.outcomes:
            outcome = outcome_of(result, place.outcomes)
        entry = record.entry(self._path(id), outcome, numbers_of(result), said=said)
        trouble = record.keep(entry)
        if trouble:
            print(trouble)

    def _sentence(self, place: Place, result: object):
        """Return the place's sentence for the outcome of a result, as Markdown."""
        sentence = place.sentences[outcome_of(result, place.outcomes)]
        # A sentence may name parts of the result, such as "{result.ratio:.1f}".
        return Sentence(sentence.format(result=result))


def lesson(number: str) -> Lesson:
    """Open a lesson by its number, "00" to "11".

    Examples
    --------
    >>> lesson("03").check("diagnosis", {"A": "compiling", "B": "waiting"}).ok
    False
    """
    return Lesson(number, places(number))
