"""A second, newer reference card that was made up: a third of the first one's measurements."""

from dataclasses import replace

LABEL = "A made-up processor, 3 cores, 2099-01-01"
SLOWER = 1.7


def made_up(card):
    """As if a run on JAX had measured every third name, nothing grouped, in 1.7 times as long."""
    machine = {
        **card.machine,
        "cpu_name": "A made-up processor",
        "cores": 3,
        "frameworks": {"keras": "3.15.0", "jax": "0.9.0"},
    }

    def a_third(named):
        kept = [name for name in sorted(named) if "grouped" not in name][2::3]
        return {name: named[name] for name in kept}

    def shifted(measured):
        return replace(measured, samples=tuple(SLOWER * seconds for seconds in measured.samples))

    return replace(
        card,
        created="2099-01-01T00:00:00+00:00",
        command="made up for a test",
        machine=machine,
        measurements={n: shifted(m) for n, m in a_third(card.measurements).items()},
        numbers=a_third(card.numbers),
    )
