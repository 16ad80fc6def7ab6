"""Benchmarks of the practice device of lesson 03: the right one, and broken ones."""


def timed(device, steps=10, *, sends=False, cold=False, early=False, whole=False):
    """The seconds of a step, as a benchmark with one slip or none measures them."""
    batch = device.send("images")
    if not cold:
        device.wait(device.run(batch))
    start = device.clock()
    for _ in range(steps):
        if sends:
            batch = device.send("images")
        job = device.run(batch)
        if not early:
            device.wait(job)
    elapsed = device.clock() - start
    return elapsed if whole else elapsed / steps
