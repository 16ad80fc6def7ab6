"""The frameworks' log stays out of a page."""

import logging

import pytest

from accel_helpers.machine.quiet import hide_log


@pytest.fixture
def tensorflow_log():
    logger = logging.getLogger("tensorflow")
    filters, level = [*logger.filters], logger.level
    yield logger
    logger.filters[:] = filters
    logger.setLevel(level)


def record(level):
    return logging.LogRecord("tensorflow", level, "", 0, "said", (), None)


@pytest.mark.parametrize(("level", "shown"), [(logging.WARNING, False), (logging.ERROR, True)])
def test_a_remark_stays_hidden_though_tensorflow_sets_the_level(tensorflow_log, level, shown):
    hide_log()
    tensorflow_log.setLevel(logging.INFO)  # as TensorFlow does in a notebook
    assert bool(tensorflow_log.filter(record(level))) == shown
