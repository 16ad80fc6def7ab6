"""Copies of somebody's callbacks, which write into folders of their own."""

import copy
import tempfile
from contextlib import ExitStack
from pathlib import Path

# attributes of Keras's callbacks that say where they write
PLACES = {
    "filepath",
    "filename",
    "log_dir",
    "_weights_path",
    "_prev_weights_path",
    "_training_metadata_path",
    "_prev_training_metadata_path",
}


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
        # a model that it was trained with before is not copied along
        model = getattr(callback, "_model", None)
        try:
            copied = copy.deepcopy(callback, {id(model): model})
        except Exception:
            return callback
        folder = self.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        for name, path in vars(callback).items():
            if name in PLACES and path:
                # the name stays, since a checkpoint's ending says how it is written
                setattr(copied, name, str(Path(folder, Path(path).name)))
        # a backup deletes this folder when it is done, and no file outside it
        copied.backup_dir = folder
        return copied
