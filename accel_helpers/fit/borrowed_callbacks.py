"""Copies of somebody's callbacks, which write into a folder of their own."""

import copy
import tempfile
from pathlib import Path

# attributes of Keras's callbacks that say where they write
PLACES = ("filepath", "filename", "log_dir", "_log_dir", "backup_dir", "_backup_dir")


class BorrowedCallbacks:
    """Copies of callbacks, so that no file and no state of the caller's is touched.

    What Keras's own callbacks write goes into a temporary folder, which is gone after `close`. A
    callback that cannot be copied takes part itself.
    """

    def __init__(self, callbacks):
        self._copies = 0
        if callbacks is None:
            callbacks = []
        if not isinstance(callbacks, (list, tuple)):
            callbacks = [callbacks]
        self._callbacks = list(callbacks)
        # only where somebody may write into it, since a process that is killed leaves it behind
        self._folder = None
        if self._callbacks:
            self._folder = tempfile.TemporaryDirectory(
                prefix="accel-profile-", ignore_cleanup_errors=True
            )

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def copies(self) -> list:
        """Return a new copy of each callback."""
        return [self._copy(callback) for callback in self._callbacks]

    def close(self) -> None:
        """Delete what they wrote."""
        if self._folder:
            self._folder.cleanup()

    def _copy(self, callback):
        """Return a copy of one callback that writes into the temporary folder."""
        try:
            # a model that it was trained with before is not copied along
            copied = copy.copy(callback)
            for name, value in vars(callback).items():
                if name not in ("model", "_model"):
                    setattr(copied, name, copy.deepcopy(value))
        except Exception:
            return callback
        self._redirect(copied)
        return copied

    def _redirect(self, callback) -> None:
        """Have a callback of Keras's write into a part of the temporary folder of its own."""
        self._copies += 1
        assert self._folder, "a callback has it made"
        folder = Path(self._folder.name) / str(self._copies)
        attributes = vars(callback)
        for place in PLACES:
            path = attributes.get(place)
            if not isinstance(path, (str, Path)) or not str(path):
                continue
            # the name stays, since a checkpoint's ending says how it is written
            new_path = str(folder / Path(path).name)
            # a backup's files have paths of their own, which begin with that of its folder
            for name, value in list(attributes.items()):
                if isinstance(value, (str, Path)) and str(value).startswith(str(path)):
                    setattr(callback, name, new_path + str(value)[len(str(path)) :])
        folder.mkdir(exist_ok=True)
