"""What a block holds back, where several threads do so at once."""

import os
import threading

from accel_helpers.machine.quiet import held_back


def test_standard_error_is_whole_after_blocks_that_overlap(capfd):
    second_is_in, first_is_out = threading.Event(), threading.Event()

    def second():
        with held_back():
            second_is_in.set()
            first_is_out.wait(60)

    thread = threading.Thread(target=second)
    with held_back():
        thread.start()
        second_is_in.wait(60)
    os.write(2, b"held back by the second\n")
    first_is_out.set()
    thread.join()
    os.write(2, b"seen\n")
    assert capfd.readouterr().err == "seen\n"
