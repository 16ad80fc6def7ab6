"""Which chip, if any? Every chip of a forecast beside this machine, and what to do."""

import math

from accel_helpers._values.records import positive, whole
from accel_helpers.machine import backend, hardware
from accel_helpers.measure.measurement import Speedup
from accel_helpers.worth.break_even import Plan
from accel_helpers.worth.choice_result import Choice, Held
from accel_helpers.worth.step_time import DOES_NOT_FIT

THIS_GPU = "this GPU"  # the name of the chip that is attached


def choices(
    forecast,
    *,
    epochs: int,
    setup_minutes: float = 5.0,
    my_hour: float | None = None,
    race: Speedup | None = None,
    believed: bool = False,
) -> Choice:
    """Put every chip of a forecast beside this machine, as `Forecast.choices` does.

    `forecast` is a Forecast; the other parameters are those of `Forecast.choices`. What was timed
    here may be `believed`, however few timings it is: the forecast's interval is the wider one.

    Raises ValueError if the forecast was not timed here, if the steps of its epoch are not known,
    if no chip has room for the model, or if `epochs` or `setup_minutes` is no such number.
    """
    if not (forecast.here and forecast.steps):
        raise ValueError("A choice needs a forecast that was timed here, of a known epoch: x=, y=.")
    epochs = whole(epochs, "epochs")
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    low, high = forecast.here.interval
    count = None if believed else len(forecast.here.samples)
    this_cpu = Plan("this CPU", (forecast.steps * low, forecast.steps * high), samples=count)
    chips: dict[str, Plan] = {}
    factors: dict[str, tuple[float, float]] = {}
    no_room: dict[str, int] = {}
    raced: tuple[str, ...] = ()
    attached_chip = attached()
    if race:
        # the chip that was measured stands first
        plan = _plan_of_race(forecast, race, setup_minutes)
        chips[plan.name] = plan
        factors[plan.name] = race.interval
        raced = (plan.name,)
    for row in forecast.rows:
        is_attached = row.chip == attached_chip
        was_raced = race and is_attached
        # a TPU has no terms: the least time alone is known of it, which makes no plan
        if not row.terms or was_raced:
            continue
        if row.memory == DOES_NOT_FIT:
            no_room[row.chip] = row.fitting_batch
            continue
        name = THIS_GPU if is_attached else row.chip
        _, step_low, step_high = forecast.step(row)
        epoch = (forecast.steps * step_low, forecast.steps * step_high)
        chips[name] = Plan(with_article(name), epoch, setup_minutes, samples=count)
        factors[name] = forecast.faster(row) or (0.0, math.inf)
    if not chips:
        message = "No chip of this forecast has room for the model."
        largest_batch = max(no_room.values(), default=0)
        if largest_batch:
            message += f" A batch of {largest_batch:,} would fit."
        raise ValueError(message)
    return Choice(
        forecast.model,
        epochs,
        this_cpu,
        chips,
        factors,
        no_room,
        my_hour,
        raced,
        notes=forecast.notes,
    )


def _plan_of_race(forecast, race: Speedup, setup_minutes: float) -> Plan:
    """Return the plan of the accelerator that was timed in turns with this CPU.

    `forecast` is one that was timed here, and knows the steps of its epoch.
    """
    low, high = race.interval
    epoch_here = forecast.steps * forecast.here.median
    epoch = (epoch_here / high, epoch_here / low)
    measurements = (forecast.here, race.slow, race.fast)
    fewest = min(len(measured.samples) for measured in measurements)
    name = f"this {race.fast.name.upper()}"
    return Plan(name, epoch, setup_minutes, samples=fewest)


def against(forecast, race: Speedup | None) -> Held | None:
    """Compare a forecast of the attached chip with its race, as `Forecast.against` does.

    `forecast` is a Forecast. Returns None where there was no race.
    """
    if race is None:
        return None
    attached_chip = attached()
    for row in forecast.rows:
        if row.chip == attached_chip:
            return Held(race, forecast.faster(row), timed=forecast.measured)
    return Held(race, expected=None)


def attached() -> str | None:
    """Return the name of the GPU that Keras uses here, such as "A100-SXM4-40GB" or "G4".

    Returns None if Keras uses no GPU, or if the data sheet of the GPU is not known.
    """
    if "gpu" not in backend.devices():
        return None
    chip = hardware.match(backend.device_name("gpu"))
    if chip is None or not chip.mem_bw_gb_s or chip.kind != "GPU":
        return None
    # of the names that a chip is found by, the one that people use
    return min(chip.names, key=len)


def with_article(chip: str) -> str:
    """Return a chip's name for a sentence: "A100" -> "an A100"; "this GPU" stays as it is."""
    if chip == THIS_GPU:
        return chip
    # an A100, an H100, an L4, an NVIDIA ...
    article = "an" if chip[0] in "AHLN" else "a"
    return f"{article} {chip}"
