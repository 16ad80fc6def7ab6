"""Training that is killed, at any moment, ends with the weights of one that was left alone."""

import os
import signal
import subprocess
import sys
import time
import zipfile

import pytest

from accel_helpers.train import resumable

# The script of a training. The last argument says when it kills itself, with SIGKILL.
SCRIPT = """
import os, signal, sys
import keras
import numpy as np
from accel_helpers.train import resumable

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Die(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch
        if when == "between two epochs" and epoch == 2:
            die()
    def on_train_batch_begin(self, batch, logs=None):
        if when == "in the middle of an epoch" and (self.epoch, batch) == (2, 3):
            die()

class Model(keras.Sequential):
    saves = 0
    def save(self, path, *args, **kwargs):
        super().save(path, *args, **kwargs)
        self.saves += 1
        if when == "while it writes" and self.saves == 3:
            whole = open(path, "rb").read()
            with open(path, "wb") as file:  # half of it is on the disk, and then the end comes
                file.write(whole[: len(whole) // 2])
            die()

def train(folder):
    random = np.random.default_rng(0)
    x, y = random.random((160, 16)).astype("float32"), random.integers(0, 4, 160)
    keras.utils.set_random_seed(1)
    model = Model([
        keras.Input((16,)), keras.layers.Dense(16, activation="relu"),
        keras.layers.Dropout(0.4), keras.layers.Dense(4),
    ])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = resumable.fit(
        model, x, y, epochs=5, folder=folder, batch_size=32, callbacks=[Die()]
    )
    numbers = [np.array(v) for v in (*model.weights, *model.optimizer.variables)]
    np.savez(os.path.join(folder, "end.npz"), *numbers, losses=losses)

when = sys.argv[2]
if __name__ == "__main__":
    train(sys.argv[1])
"""
MOMENTS = ("in the middle of an epoch", "while it writes", "between two epochs")


def child(folder, when):
    packages = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TF_CPP_MIN_LOG_LEVEL": "3"}
    on_cpu = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1"}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), when],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **packages, **on_cpu},
    )


def ended(folder, when):
    process = child(folder, when)
    said = process.communicate(timeout=200)[1]
    return process.returncode, said.decode(errors="replace")


def the_end(folder):
    import numpy as np

    with np.load(folder / "end.npz") as found:
        return {name: found[name] for name in found.files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    code, said = ended(folder, "never")
    assert code == 0, said
    return the_end(folder)


@pytest.mark.slow
@pytest.mark.parametrize("when", MOMENTS)
def test_killed_and_resumed_it_ends_with_the_same_weights(tmp_path, undisturbed, when):
    import numpy as np

    code, said = ended(tmp_path, when)
    assert code == -signal.SIGKILL, said
    assert not (tmp_path / "end.npz").exists()
    with zipfile.ZipFile(tmp_path / resumable.NAME) as whole:
        assert whole.testzip() is None and resumable.MEMBER in whole.namelist()
    code, said = ended(tmp_path, "never")
    assert code == 0, said
    resumed = the_end(tmp_path)
    assert list(resumed) == list(undisturbed)
    for name, value in undisturbed.items():
        # measured: no difference at all, on TensorFlow and on JAX; rounding is allowed for
        np.testing.assert_allclose(resumed[name], value, rtol=0, atol=1e-6, err_msg=name)


@pytest.fixture
def build(keras):
    def model(seed=1, width=8, activation="relu", optimizer="adam", loss=None):
        keras.utils.set_random_seed(seed)
        layers = [keras.layers.Dense(width, activation=activation), keras.layers.Dropout(0.4)]
        made = keras.Sequential([keras.Input((784,)), *layers, keras.layers.Dense(10)])
        loss = loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        made.compile(optimizer, loss, run_eagerly=True)  # quick, where there are so few steps
        return made

    return model


@pytest.fixture
def few(digits):
    x, y = digits
    return x[:64].reshape(64, -1), y[:64]


def test_stopped_and_continued_is_as_trained_at_once(build, few, tmp_path):
    import numpy as np

    at_once, in_parts = build(), build()
    whole = resumable.fit(at_once, *few, epochs=3, folder=tmp_path / "a", batch_size=32)
    resumable.fit(in_parts, *few, epochs=2, folder=tmp_path / "b", batch_size=32)
    later = build(seed=9)  # other first weights, which do not count
    losses = resumable.fit(later, *few, epochs=3, folder=tmp_path / "b", batch_size=32)
    assert losses == whole and len(losses) == 3
    for a, b in zip(at_once.get_weights(), later.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


def test_what_is_done_is_not_done_again(build, few, tmp_path):
    resumable.fit(build(), *few, epochs=2, folder=tmp_path, batch_size=32)
    before = (tmp_path / resumable.NAME).read_bytes()
    losses = resumable.fit(build(), *few, epochs=2, folder=tmp_path, batch_size=32)
    assert len(losses) == 2 and (tmp_path / resumable.NAME).read_bytes() == before


def test_the_order_of_the_images_and_the_dice_depend_on_the_seed_and_the_epoch(
    build, few, tmp_path
):
    orders = []

    class Model:  # a stand-in for a model: it notes what fit is given
        built, variables, optimizer = True, (), None

        def fit(self, x, y, **options):
            orders.append((options["initial_epoch"], x[:, 0].tolist()))
            return type("History", (), {"history": {"loss": [1.0]}})

        def save(self, path):
            zipfile.ZipFile(path, "w").close()

    import numpy as np

    x = np.arange(20.0).reshape(20, 1)
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        resumable.fit(Model(), x, x, epochs=2, folder=tmp_path / folder, seed=seed)
    a1, a2, b1, b2, c1, _ = orders
    assert (a1, a2) == (b1, b2) and a1[1] != a2[1] and a1[1] != c1[1]
    assert [epoch for epoch, _ in (a1, a2)] == [0, 1] and sorted(a1[1]) == list(range(20))


def test_the_checkpoint_is_an_ordinary_keras_file(keras, build, few, tmp_path):
    import numpy as np

    model = build()
    resumable.fit(model, *few, epochs=1, folder=tmp_path, batch_size=32)
    again = keras.saving.load_model(tmp_path / resumable.NAME)
    for a, b in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("damage", ["cut off", "a byte changed", "emptied", "no epoch in it"])
def test_a_damaged_checkpoint_is_named_and_left_as_it_is(build, few, tmp_path, damage):
    path = tmp_path / resumable.NAME
    resumable.fit(build(), *few, epochs=1, folder=tmp_path, batch_size=32)
    whole = path.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    if damage == "no epoch in it":
        build().save(path)
    else:
        path.write_bytes({"cut off": whole[:middle], "emptied": b""}.get(damage, changed))
    found = path.read_bytes()
    with pytest.raises(resumable.DamagedCheckpoint) as error:
        resumable.fit(build(), *few, epochs=2, folder=tmp_path, batch_size=32)
    assert str(path) in str(error.value) and "move it away" in str(error.value)
    assert path.read_bytes() == found


def test_a_checkpoint_of_another_training_is_refused(build, few, tmp_path):
    resumable.fit(build(), *few, epochs=1, folder=tmp_path, batch_size=32)
    with pytest.raises(ValueError, match="batch_size=32, and this one has 16"):
        resumable.fit(build(), *few, epochs=2, folder=tmp_path, batch_size=16)
    with pytest.raises(ValueError, match="seed=0, and this one has 3"):
        resumable.fit(build(), *few, epochs=2, folder=tmp_path, batch_size=32, seed=3)
    with pytest.raises(ValueError, match="another model"):
        resumable.fit(build(width=9), *few, epochs=2, folder=tmp_path, batch_size=32)


def test_another_model_optimizer_loss_or_data_is_refused_by_name(keras, build, few, tmp_path):
    x, y = few
    resumable.fit(build(), x, y, epochs=1, folder=tmp_path)
    found = (tmp_path / resumable.NAME).read_bytes()
    sum_of_all = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    others = {
        "model": (build(activation="tanh"), x, y),
        "optimizer": (build(optimizer="sgd"), x, y),
        "optimizer ": (build(optimizer=keras.optimizers.Adam(0.01)), x, y),
        "loss": (build(loss=sum_of_all), x, y),
        "x": (build(), x[::-1], y),
        "y": (build(), x, y[::-1]),
    }
    for name, training in others.items():
        with pytest.raises(ValueError, match=f"with another {name.strip()} "):
            resumable.fit(*training, epochs=2, folder=tmp_path)
    assert (tmp_path / resumable.NAME).read_bytes() == found


def test_a_model_that_cannot_be_saved_is_refused_before_it_is_trained(keras, few, tmp_path):
    class Own(keras.Model):
        def __init__(self, made_by):
            super().__init__()
            self.inner = made_by()

        def call(self, x):
            return self.inner(x)

    no_config = Own(lambda: keras.layers.Dense(10))
    no_config(few[0][:1])  # so that it is built
    no_config.compile("adam", "mse")
    layers = [keras.Input((784,)), keras.layers.Dense(10, activation="softmax")]
    class_as_loss = keras.Sequential(layers)  # which Keras trains, but cannot save
    class_as_loss.compile("adam", keras.losses.SparseCategoricalCrossentropy)
    for model in (no_config, class_as_loss):
        with pytest.raises(ValueError, match="must be one that Keras can save .* as objects"):
            resumable.fit(model, *few, epochs=1, folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_model_goes_on_in_the_process_where_it_began(build, few, tmp_path):
    model = build()  # the second time its weights and its optimizer are no longer new
    assert len(resumable.fit(model, *few, epochs=1, folder=tmp_path)) == 1
    assert len(resumable.fit(model, *few, epochs=2, folder=tmp_path)) == 2


def test_fewer_epochs_than_are_done_are_refused(build, few, tmp_path):
    resumable.fit(build(), *few, epochs=2, folder=tmp_path)
    with pytest.raises(ValueError, match="holds 2 epochs, and epochs=1 is less. Ask for 2"):
        resumable.fit(build(), *few, epochs=1, folder=tmp_path)


@pytest.mark.parametrize("name", ["EarlyStopping", "ReduceLROnPlateau"])
def test_callbacks_that_would_need_their_memory_are_refused(keras, build, few, tmp_path, name):
    kind = type("Mine", (getattr(keras.callbacks, name),), {})
    with pytest.raises(ValueError, match=f"do without {name}"):
        resumable.fit(build(), *few, epochs=2, folder=tmp_path / "new", callbacks=[kind("loss")])
    assert not (tmp_path / "new").exists()


def test_a_training_that_was_told_to_stop_stops_and_stays_so(keras, build, few, tmp_path):
    class Stop(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    for _ in range(2):
        losses = resumable.fit(build(), *few, epochs=4, folder=tmp_path, callbacks=[Stop()])
        assert len(losses) == 2


@pytest.mark.parametrize("member", ["[]", "null", "{}", '{"losses": []}', '{"losses": ["a"]}'])
def test_a_record_that_holds_no_losses_is_damaged(build, few, tmp_path, member):
    build().save(tmp_path / resumable.NAME)
    with zipfile.ZipFile(tmp_path / resumable.NAME, "a") as archive:
        archive.writestr(resumable.MEMBER, member)
    with pytest.raises(resumable.DamagedCheckpoint, match="holds no list of losses"):
        resumable.fit(build(), *few, epochs=2, folder=tmp_path)


@pytest.mark.parametrize("place", [6, 8])  # zipfile then speaks of a password, or of a method
def test_whatever_zipfile_says_the_checkpoint_is_damaged(build, few, tmp_path, place):
    path = tmp_path / resumable.NAME
    resumable.fit(build(), *few, epochs=1, folder=tmp_path)
    whole = bytearray(path.read_bytes())
    for start, first in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        whole[whole.index(start) + place + first] |= 1
    path.write_bytes(whole)
    with pytest.raises(resumable.DamagedCheckpoint, match="move it away"):
        resumable.fit(build(), *few, epochs=2, folder=tmp_path)


def test_data_and_seeds_that_cannot_be_used_are_refused_before_anything_is_written(
    build, few, tmp_path
):
    x, y = few
    arrays = {"x": (x.tolist(), y), "y": (x, y.tolist()), "x ": (x.astype(object), y)}
    for name, data in arrays.items():
        with pytest.raises(ValueError, match=f"{name.strip()} must be a NumPy array"):
            resumable.fit(build(), *data, epochs=1, folder=tmp_path / "new")
    for data in ((x, y[:-1]), (x[:-1], y), (x[:0], y[:0])):
        with pytest.raises(ValueError, match="same length"):
            resumable.fit(build(), *data, epochs=1, folder=tmp_path / "new")
    for seed in (-1, None, 1.5, True):
        with pytest.raises(ValueError, match="seed must be a whole number, 0 or more"):
            resumable.fit(build(), x, y, epochs=1, folder=tmp_path / "new", seed=seed)
    assert not (tmp_path / "new").exists()


def test_a_whole_number_of_numpy_is_a_whole_number(build, few, tmp_path):
    import numpy as np

    for seed in (np.int64(3), 3):
        resumable.fit(build(), *few, epochs=np.int64(1), folder=tmp_path, seed=seed)


def test_what_cannot_be_used_is_refused_before_anything_is_written(keras, build, few, tmp_path):
    for wrong in ({"epochs": 0}, {"epochs": 2.5}, {"epochs": 1, "batch_size": 0}):
        with pytest.raises(ValueError, match="whole number"):
            resumable.fit(build(), *few, folder=tmp_path / "new", **wrong)
    bare = keras.Sequential([keras.Input((784,)), keras.layers.Dense(10)])
    with pytest.raises(ValueError, match="compile it"):
        resumable.fit(bare, *few, epochs=1, folder=tmp_path / "new")
    inside = build()
    inside.layers[0].built = False  # as in a model of one's own class without `build`
    with pytest.raises(ValueError, match="own class once"):
        resumable.fit(inside, *few, epochs=1, folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_command_that_ends_or_fails_by_itself_was_not_killed():
    python = [sys.executable, "-c"]
    assert resumable.kill_when([*python, "print(1)"], "never").kind == "finished"
    failed = resumable.kill_when([*python, "import no_such_thing"], "never")
    assert failed.kind == "crashed" and "no_such_thing" in failed.ending
    slow = resumable.kill_when([*python, "import time; time.sleep(60)"], "never", seconds=0.3)
    assert slow.kind == "too slow"


def test_what_a_command_started_is_killed_with_it():
    began = time.monotonic()
    outcome = resumable.kill_when(["sh", "-c", "sleep 60 & wait"], "never", seconds=0.3)
    assert outcome.kind == "too slow" and time.monotonic() - began < 30  # it did not wait for it


def test_a_killed_command_is_gone_and_what_it_said_is_kept():
    code = "import os, time; print('at work', os.getpid(), flush=True); time.sleep(9); print('on')"
    outcome = resumable.kill_when([sys.executable, "-c", code], "at work")
    assert (outcome.kind, outcome.signal) == ("killed", "SIGKILL")
    *words, process = outcome.output.split()
    assert words == ["at", "work"]  # it came no further
    with pytest.raises(OSError):
        os.kill(int(process), 0)
