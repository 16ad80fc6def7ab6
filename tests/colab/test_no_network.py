"""The pictures of the lessons on a machine that cannot fetch anything."""

import threading

import pytest

from accel_helpers.fit.images import load_images


def refuse():
    raise OSError("no network")


@pytest.mark.parametrize("download", [refuse, threading.Event().wait], ids=["refuses", "hangs"])
def test_a_network_without_pictures_is_said_and_the_lesson_has_others(keras, monkeypatch, download):
    monkeypatch.delenv("ACCEL_DATA", raising=False)
    monkeypatch.setattr(keras.datasets.mnist, "load_data", download)
    images = load_images(1_920, time_limit=0.2)
    assert (images.name, len(images.x_train)) == ("scikit-learn digits", 1_920)
    assert "MNIST could not be had within 0.2 s." in images.note
