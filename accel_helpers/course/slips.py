"""The likeliest wrong answers to an exercise in which a function is written."""

from collections.abc import Callable


class Slips(list):
    """Slips as `checks.calls` takes them, in the order of trial: (rule, message, hint)."""

    def add(self, message: str, hint: str) -> Callable:
        """Return a decorator that adds the function below it as a slip, and leaves it unchanged.

        `message` says what is wrong with it, and `hint` what to try next.
        """

        def keep(rule: Callable) -> Callable:
            self.append((rule, message, hint))
            return rule

        return keep
