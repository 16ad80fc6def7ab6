"""The likeliest wrong answers to an exercise in which a function is written."""

from collections.abc import Callable


class Slips(list):
    """Wrong functions that learners write, each with what to say to it, in the order of trial."""

    def add(self, message: str, hint: str) -> Callable:
        """Add the function below: what is wrong with it, and what leads on."""

        def keep(rule: Callable) -> Callable:
            self.append((rule, message, hint))
            return rule

        return keep
