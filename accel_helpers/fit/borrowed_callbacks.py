"""Copies of somebody's callbacks, which write into folders of their own."""

import copy
import tempfile
from contextlib import ExitStack
from pathlib import Path

# attributes of Keras's callbacks that say where they write
PLACES = ("filepath", "filename", "log_dir", "backup_dir")


class BorrowedCallbacks(ExitStack):
    """Copies of callbacks, so that no file and no state of the caller's is touched.

    What Keras's own callbacks write goes into temporary folders, which are gone after `close`. A
    callback that cannot be copied takes part itself.
    """

    def __init__(self, callbacks):
        import keras

        super().__init__()
        self._callbacks = keras.tree.flatten(callbacks or [])

    def copies(self) -> list:
        """Return a new copy of each callback."""
        return [self._copy(callback) for callback in self._callbacks]

    def _copy(self, callback):
        """Return a copy of one callback that writes into a folder of its own."""
        try:
            # a model that it was trained with before is not copied along
            copied = copy.copy(callback)
            for name, value in vars(callback).items():
                if name not in ("model", "_model"):
                    setattr(copied, name, copy.deepcopy(value))
        except Exception:
            return callback
        for place in PLACES:
            path = vars(callback).get(place)
            if path:
                self._redirect(copied, str(path))
        return copied

    def _redirect(self, callback, path: str) -> None:
        """Have a callback write into a temporary folder in place of a path."""
        folder = tempfile.TemporaryDirectory(prefix="accel-profile-", ignore_cleanup_errors=True)
        # the name stays, since a checkpoint's ending says how it is written
        new_path = str(Path(self.enter_context(folder), Path(path).name))
        # a backup's files have paths of their own, which begin with that of its folder
        for name, value in list(vars(callback).items()):
            if isinstance(value, (str, Path)) and str(value).startswith(path):
                setattr(callback, name, str(value).replace(path, new_path, 1))
