"""The frameworks' log stays out of a page, and comes where a block fails."""

import logging
import os
import warnings

import pytest

from accel_helpers.machine.quiet import held_back, hide_log


def test_a_remark_stays_hidden_though_tensorflow_sets_the_level(caplog):
    hide_log()
    logger = logging.getLogger("tensorflow")
    logger.setLevel(logging.INFO)  # as TensorFlow does in a notebook
    with held_back():
        pass
    logger.warning("a remark")
    logger.error("an error")
    assert caplog.messages == ["an error"]


def test_jax_does_not_warn_of_a_fork_that_starts_a_script():
    with warnings.catch_warnings(record=True) as seen:
        hide_log()
        warnings.warn("os.fork() was called. JAX is multithreaded.", RuntimeWarning, stacklevel=1)
    assert not seen


def test_what_a_block_writes_is_held_back_unless_it_fails(capfd):
    with held_back():
        with held_back():
            os.write(2, b"inner\n")
        os.write(2, b"outer\n")
    with pytest.raises(KeyError), held_back():
        os.write(2, b"before the error\n")
        raise KeyError
    os.write(2, b"seen\n")
    assert capfd.readouterr().err == "before the error\nseen\n"
