"""Training that is killed, at any moment, ends with the weights of one that was left alone."""

import os
import zipfile

import pytest

from accel_helpers import probe
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


def ended(folder, when):
    on_cpu = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    return probe.run(SCRIPT, str(folder), when, seconds=280, environ=on_cpu)


def the_end(folder):
    import numpy as np

    with np.load(folder / "end.npz") as found:
        return {name: found[name] for name in found.files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    done = ended(folder, "never")
    assert done.kind == "finished", done.output
    return the_end(folder)


@pytest.mark.slow
@pytest.mark.parametrize("when", MOMENTS)
def test_killed_and_resumed_it_ends_with_the_same_weights(tmp_path, undisturbed, when):
    import numpy as np

    done = ended(tmp_path, when)
    assert done.signal == "SIGKILL", done.output
    assert not (tmp_path / "end.npz").exists()
    with zipfile.ZipFile(tmp_path / resumable.NAME) as whole:
        assert whole.testzip() is None and resumable.MEMBER in whole.namelist()
    done = ended(tmp_path, "never")
    assert done.kind == "finished", done.output
    resumed = the_end(tmp_path)
    assert list(resumed) == list(undisturbed)
    for name, value in undisturbed.items():
        # measured: no difference at all, on TensorFlow and on JAX; rounding is allowed for
        np.testing.assert_allclose(resumed[name], value, rtol=0, atol=1e-6, err_msg=name)


@pytest.fixture
def build(keras):
    def model(seed=1, width=8, activation="relu", optimizer="adam", loss=None, jit_compile=False):
        keras.utils.set_random_seed(seed)
        layers = [keras.layers.Dense(width, activation=activation), keras.layers.Dropout(0.4)]
        made = keras.Sequential([keras.Input((784,)), *layers, keras.layers.Dense(10)])
        loss = loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        made.compile(optimizer, loss, run_eagerly=True)  # quick, where there are so few steps
        made.jit_compile = jit_compile
        return made

    return model


@pytest.fixture
def few(digits):
    x, y = digits
    return x[:64].reshape(64, -1), y[:64]


def test_stopped_and_continued_is_as_trained_at_once(keras, build, few, tmp_path):
    import numpy as np

    at_once, in_parts = build(), build()
    whole = resumable.fit(at_once, *few, epochs=3, folder=tmp_path / "a", batch_size=32)
    resumable.fit(in_parts, *few, epochs=2, folder=tmp_path / "b", batch_size=32)
    later = build(seed=9)  # other first weights, which do not count
    losses = resumable.fit(later, *few, epochs=3, folder=tmp_path / "b", batch_size=32)
    assert losses == whole and len(losses) == 3
    kept = keras.saving.load_model(tmp_path / "a" / resumable.NAME)  # an ordinary file of Keras
    for weights in (kept.get_weights(), later.get_weights()):
        for a, b in zip(at_once.get_weights(), weights, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


def test_what_is_done_is_not_done_again_and_fewer_epochs_are_refused(build, few, tmp_path):
    import numpy as np

    resumable.fit(build(), *few, epochs=2, folder=tmp_path)
    before = (tmp_path / resumable.NAME).read_bytes()
    assert len(resumable.fit(build(), *few, epochs=np.int64(2), folder=tmp_path)) == 2
    assert (tmp_path / resumable.NAME).read_bytes() == before
    with pytest.raises(ValueError, match="holds 2 epochs, and epochs=1"):
        resumable.fit(build(), *few, epochs=1, folder=tmp_path)


def test_the_order_of_the_images_and_the_dice_depend_on_the_seed_and_the_epoch(
    build, few, tmp_path
):
    orders = []

    class Model:  # a stand-in for a model: it notes what fit is given
        built = compiled = jit_compile = True
        layers, variables, optimizer, loss, stop_training = (), (), None, None, False

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


DAMAGES = {
    "cut off": lambda whole: whole[: len(whole) // 2],
    "a byte changed": lambda whole: whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:],
}


@pytest.mark.parametrize("damage", [*DAMAGES, "{}"])
def test_a_damaged_checkpoint_is_named_and_left_as_it_is(build, few, tmp_path, damage):
    path = tmp_path / resumable.NAME
    if damage in DAMAGES:
        resumable.fit(build(), *few, epochs=1, folder=tmp_path)
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    else:  # a record that holds no losses
        build().save(path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(resumable.MEMBER, damage)
    found = path.read_bytes()
    with pytest.raises(resumable.DamagedCheckpoint) as error:
        resumable.fit(build(), *few, epochs=2, folder=tmp_path)
    assert str(path) in str(error.value) and path.read_bytes() == found


def test_a_checkpoint_of_another_training_is_refused_by_what_differs(keras, build, few, tmp_path):
    x, y = few
    resumable.fit(build(), x, y, epochs=1, folder=tmp_path)
    found = (tmp_path / resumable.NAME).read_bytes()
    sum_of_all = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    others = {
        "another batch_size": ((build(), x, y), {"batch_size": 16}),
        "another seed": ((build(), x, y), {"seed": 3}),
        "another model": ((build(activation="tanh"), x, y), {}),
        "another (model)": ((build(width=9), x, y), {}),
        "another optimizer": ((build(optimizer="sgd"), x, y), {}),
        "another (optimizer)": ((build(optimizer=keras.optimizers.Adam(0.01)), x, y), {}),
        "another loss": ((build(loss=sum_of_all), x, y), {}),
        "another jit_compile": ((build(jit_compile=True), x, y), {}),
        "another x": ((build(), x[::-1], y), {}),
        "another y": ((build(), x, y[::-1]), {}),
    }
    for named, (training, options) in others.items():
        with pytest.raises(ValueError, match=named):
            resumable.fit(*training, epochs=2, folder=tmp_path, **options)
    assert (tmp_path / resumable.NAME).read_bytes() == found


def test_what_could_not_be_resumed_is_refused_before_anything_is_written(
    keras, build, few, tmp_path
):
    layers = [keras.Input((784,)), keras.layers.Dense(10)]
    inside = build()
    inside.layers[0].built = False  # as in a model of one's own class without `build`
    x, y = few
    stop = type("Stop", (keras.callbacks.EarlyStopping,), {})("loss")
    slower = type("Slower", (keras.callbacks.ReduceLROnPlateau,), {})("loss")
    wrong = [
        ("compile it", {"model": keras.Sequential(layers)}),
        ("own class once", {"model": inside}),
        ("without Stop", {"callbacks": [stop]}),
        ("without Slower", {"callbacks": [slower]}),
        ("x must be a NumPy array", {"x": x.tolist()}),
        ("y must be a NumPy array", {"y": y.astype(object)}),
        ("same length", {"y": y[:-1]}),
        ("same length", {"x": x[:0], "y": y[:0]}),
        ("seed .*0 or more", {"seed": -1}),
        ("epochs .*2.5", {"epochs": 2.5}),
        ("batch_size .*0", {"batch_size": 0}),
    ]
    for named, other in wrong:
        given = {"model": build(), "x": x, "y": y, "epochs": 1, "folder": tmp_path / "new"}
        with pytest.raises(ValueError, match=named):
            resumable.fit(**given | other)
    assert not (tmp_path / "new").exists()


def test_a_training_that_was_told_to_stop_stops_and_stays_so(keras, build, few, tmp_path):
    class Stop(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    for _ in range(2):
        losses = resumable.fit(build(), *few, epochs=4, folder=tmp_path, callbacks=[Stop()])
        assert len(losses) == 2


SLEEP = "import time; time.sleep(600)"


def test_a_command_that_ends_or_fails_by_itself_was_not_killed():
    done = resumable.kill_when(probe.python("print(1)"), "never")
    assert (done.kind, done.output) == ("finished", "1\n")
    failed = resumable.kill_when(probe.python("import no_such_thing"), "never")
    assert failed.kind == "crashed" and "no_such_thing" in failed.ending
    slow = resumable.kill_when(["sleep", "600"], "never", seconds=0.3)
    assert slow.kind == "too slow"


def test_a_killed_command_is_gone_and_what_it_said_is_kept():
    code = f"import os; print('at work', os.getpid(), flush=True); {SLEEP}; print('on')"
    outcome = resumable.kill_when(probe.python(code), "at work")
    assert (outcome.kind, outcome.signal) == ("killed", "SIGKILL")
    *words, process = outcome.output.split()
    assert words == ["at", "work"]  # it came no further
    with pytest.raises(OSError):
        os.kill(int(process), 0)
