"""The benchmarks measure side by side, and their pages say what was measured."""

from functools import partial

import numpy as np
import pytest

from benchmarks import claims, forecast_page, page, profile


def test_ways_take_turns_and_every_other_round_goes_backwards(keras):
    order = []

    def train(name, epochs, callbacks):
        order.append(name)
        for epoch in range(epochs):
            callbacks[0].on_epoch_end(epoch, {})

    ways = {"a": partial(train, "a"), "b": partial(train, "b")}
    seconds = claims.in_turns(ways, rounds=2)
    assert order == [*"abbaab"]
    for samples in seconds.values():
        assert len(samples) == 2, "the round that compiles is no sample"


def test_a_backend_is_measured_against_fit_and_whole_epochs(keras):
    found = claims.of_backend(count=512, batch_sizes=[64], rounds=2, runs=1, seconds=0.2, epochs=2)
    training = found["training"][64]
    assert [*training] == ["fit", "fit_resident"]
    for samples in training.values():
        assert len(samples) == 2
    [run] = found["epochs"]
    assert run["interval"][0] <= run["said"] <= run["interval"][1]
    assert run["whole"] > 0


def test_a_machine_that_grows_slower_deceives_timeit_and_not_compare():
    found = claims.on_a_drifting_machine(0.05, tries=10)
    assert found["compare"]["alarms"] == 0
    assert found["compare"]["fifth"] == pytest.approx(1.2, rel=0.02)
    assert found["timeit"]["alarms"] == 10
    assert found["timeit"]["fifth"] < 1.15


PAGES = {
    "benchmarks.md": page.page,
    "profile.md": profile.page,
    "forecast.md": forecast_page.page,
}


def test_a_page_says_what_was_stored():
    for name, made in PAGES.items():
        stored = forecast_page.DOCS / name
        assert stored.read_text("utf-8") == made(), name


def test_on_a_quiet_machine_every_word_was_right_and_nine_of_ten_gains_were_kept():
    names, gains = [], []
    for found in profile.results():
        names.append(found["name"])
        assert profile.is_right(found), found["name"]
        if "again" in found:
            gains.append(profile.held(found))
    assert names == profile.names()
    assert len(gains) >= 10
    assert sum(gains) >= 0.9 * len(gains)


@pytest.mark.night
@pytest.mark.timeout(1800)
def test_every_training_of_a_backend_takes_a_step(keras):
    for name in profile.names():
        training, make_model, given = profile.loaded(name)
        if keras.backend.backend() != training.BACKEND:
            continue
        x = given["x"]
        if callable(x) and not hasattr(x, "shape"):
            x = x()
        batch = given | {"x": x, "steps_per_epoch": 1}
        for later in ("callbacks", "epochs", "validation_data", "validation_steps"):
            batch.pop(later, None)
        losses = make_model().fit(**batch, verbose=0).history["loss"]
        assert np.isfinite(losses).all(), name


@pytest.mark.night
@pytest.mark.timeout(1800)
def test_so_does_every_training_on_jax(on_jax):
    on_jax("takes_a_step", __file__)
