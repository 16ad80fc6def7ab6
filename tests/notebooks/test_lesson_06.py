"""Lesson 06: the numbers in its text are those that are stored."""

from cells import printed, the_cell

import accel_helpers as ah


def text_with(words):
    return the_cell("06", words, kind="markdown").source


def test_the_instructions_in_the_text_are_those_that_are_stored():
    v5e = {n: ah.tpu_compiler.stored_product(n, n, n) for n in (128, 129)}
    text = text_with("On the v5e, 129 takes")
    assert f"{v5e[129].instructions} instructions instead of {v5e[128].instructions}" in text
    grown = v5e[129].estimated_cycles / v5e[128].estimated_cycles
    assert 1.08 < grown < 1.12 and "grow by a tenth" in text
    many = [ah.tpu_compiler.stored_product(16_384, n, n).estimated_cycles for n in (128, 129)]
    assert f"with many rows by {100 * (many[1] / many[0] - 1):.0f} %" in text
    added = v5e[129].estimated_cycles - v5e[128].estimated_cycles
    each = added / (v5e[129].instructions - v5e[128].instructions)
    assert f"add {added} cycles, about {each:.0f} each" in text
    assert f"some {v5e[128].instructions * each:.0f} cycles of" in text


def test_the_growth_of_the_hidden_layer_in_the_text_is_the_stored_one():
    steps = {width: ah.tpu_compiler.stored(f"width-{width}") for width in (100, 128, 129)}
    cycles = {width: dict(step.cycles)["hidden"] for width, step in steps.items()}
    flops = {width: step.flops for width, step in steps.items()}

    def more(values, a, b):
        return round(100 * (values[b] / values[a] - 1))

    text = text_with("From 100 to 128 the model")
    assert f"{more(flops, 100, 128)} % more operations" in text
    assert f"and the estimate grows by {more(cycles, 100, 128)} %" in text
    assert f"{more(flops, 128, 129)} % more operations than 128" in text
    assert f"operations than 128, and the estimate grows by {more(cycles, 128, 129)} %" in text
    (weights,) = {row.bytes for row in steps[100].largest if row.array == "f32[784,100]"}
    assert weights == 896 * 104 * 4 and f"{weights // 1000} kB are 896 x 104 numbers" in text


def test_the_step_after_256_is_the_one_of_the_larger_unit():
    lines = printed(the_cell("06", "v6e: 256 x 256 cells")).splitlines()[2:-1]
    steps = {int(line.split()[0]): int(line.split()[3]) for line in lines}
    assert steps[257] / steps[256] > 4 and steps[129] / steps[128] < 3
