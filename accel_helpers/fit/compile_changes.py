"""Changes to a training that mostly compiles: a cache of programs, or no compiling."""

import tempfile
from collections.abc import Iterator

from accel_helpers.fit.proposal import TRAININGS, Proposal
from accel_helpers.fit.training import Training
from accel_helpers.machine import backend

# settings of JAX
FOLDER = "jax_compilation_cache_dir"
FEWEST_SECONDS = "jax_persistent_cache_min_compile_time_secs"
FEW_STEPS = 200  # in a whole training, up to which it may be faster not to compile at all


def proposals(call: Training, model, batches: list[tuple]) -> Iterator[Proposal]:
    """Yield what to try where compiling takes most of a training, the likeliest first."""
    if shapes_change(batches):
        yield Proposal("batches padded to one shape", reason="pad them where you make them")
    if backend.framework() == "jax":
        yield _with_cache(call)
    elif model.jit_compile:
        yield _setting(call, "jit_compile", value=False)
    steps = call.steps * (call.epochs or 1)
    if steps <= FEW_STEPS:
        yield _setting(call, "run_eagerly", value=True)


def shapes_change(batches: list[tuple]) -> bool:
    """Return whether samples have other shapes from batch to batch; not how many there are."""
    import keras

    shapes = set()
    for batch in batches:
        tensors = keras.tree.flatten(batch)
        shapes.add(tuple(tuple(tensor.shape[1:]) for tensor in tensors))
    return len(shapes) > 1


def _setting(call: Training, name: str, *, value: bool) -> Proposal:
    """Propose another setting of ``compile``."""

    def make_model():
        model = call.make_model()
        setattr(model, name, value)
        return model

    return Proposal(f"{name}={value}", lambda: call.with_model(make_model), timed=TRAININGS)


def _with_cache(call: Training) -> Proposal:
    """Propose to keep the programs that JAX compiles in a folder."""
    import jax

    folder_before = getattr(jax.config, FOLDER)
    seconds_before = getattr(jax.config, FEWEST_SECONDS)

    def make_call():
        # it goes with this session: in one's own programs it is a folder that stays
        folder = tempfile.TemporaryDirectory(prefix="jax-cache-")

        def make_model():
            # by default what compiled in less than a second is not kept
            _keep_programs(folder.name, 0)
            return call.make_model()

        return call.with_model(make_model)

    def undo():
        _keep_programs(folder_before, seconds_before)

    return Proposal(FOLDER, make_call, note="cache", timed=TRAININGS, undo=undo)


def _keep_programs(folder: str | None, seconds: float) -> None:
    """Have JAX keep in a folder what takes so many seconds to compile; None: keep nothing."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    jax.config.update(FOLDER, folder)
    jax.config.update(FEWEST_SECONDS, seconds)
    # JAX looks at these settings once, and then no more
    compilation_cache.reset_cache()
