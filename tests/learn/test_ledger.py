"""Every claim gets the verdict that a card supports, and none that it does not."""

import json
import math
import re
from pathlib import Path

import pytest

from accel_helpers._records import DataError
from accel_helpers.learn import ledger, ledger_file
from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SLOW, SAME, FAST = 0.030, 0.010, 0.003
SHAKE = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99)  # a machine is never quite still


def times(seconds, shake=SHAKE):
    return Measurement.from_samples([seconds * each for each in shake])


def card(measured=(), numbers=(), **machine):
    machine = {"cpu_name": "Test CPU", "cores": 2, **machine}
    return results.Card("2026-11-22T00:00:00", "test", machine, dict(measured), dict(numbers))


def verdict(number, of):
    return ledger.fill(of)[number - 1].verdict


def gpu(first, second):
    """A card of a machine where everything with a GPU took these times."""
    other = tuple(reversed(SHAKE))
    pairs = {
        ("03/race/CPU", "03/race/GPU"): 1,
        ("02/race/gpu/first", "02/race/gpu/second"): 1,
        ("03/cost/gpu/prepared", "03/cost/gpu/arithmetic"): 1,
        ("03/step/gpu/width 128/batch 32", "03/step/gpu/width 128/batch 256"): 8,
        ("03/climb/epoch/tf.data with prefetch", "03/climb/epoch/resident"): 1,
        ("03/ceiling/product float32", "03/ceiling/product bfloat16"): 1,
    }
    measured = {}
    for (one, two), runs in pairs.items():
        measured |= {one: times(first / runs), two: times(second, other)}
    return card(measured)


COMPARED = (4, 5, 6, 11, 18, 19)


@pytest.mark.parametrize("number", COMPARED)
def test_a_gpu_that_is_faster_slower_or_neither(number):
    assert verdict(number, gpu(SLOW, SAME)) == "faster here"
    assert verdict(number, gpu(FAST, SAME)) == "slower here"
    assert verdict(number, gpu(SAME, SAME)) == "no measurable difference"


@pytest.mark.parametrize("number", COMPARED)
def test_a_measured_number_stands_beside_its_interval(number):
    entry = ledger.fill(gpu(SLOW, SAME))[number - 1]
    assert "times as fast" in entry.measured and "(interval " in entry.measured
    same = ledger.fill(gpu(SAME, SAME))[number - 1]
    assert "times as fast" not in same.measured  # no factor that is not known


def test_eight_small_batches_are_compared_with_one_large_one():
    names = ledger.entries()[3].evidence.names
    together = card(dict(zip(names, (times(0.01), times(0.02)), strict=True)))
    assert verdict(4, together) == "faster here"  # eight times 10 ms against 20 ms
    said = ledger.fill(together)[3].measured
    assert said.startswith("One batch of 256 is 4 times as fast as eight batches of 32")


def test_a_machine_without_a_gpu_is_told_from_a_lesson_that_was_not_run():
    ran = card(
        {
            "02/control/first": times(SAME),
            "03/epoch/cpu": times(SAME),
            "03/step/cpu/width 128/batch 32": times(SAME),
            "03/cost/cpu/prepared": times(SAME),
        },
        {"04/one code path/cpu/replicas": (1.0,)},
    )
    assert {verdict(number, ran) for number in (4, 5, 6, 11)} == {"no GPU here"}
    assert {verdict(number, ran) for number in (9, 10)} == {"no TPU here"}
    for number, lesson in ((4, "03"), (5, "03"), (6, "02"), (9, "04"), (11, "03")):
        for nothing in (None, card()):
            assert verdict(number, nothing) == f"not measured yet: lesson {lesson}"


def test_nothing_measured_is_said_of_every_claim():
    empty = ledger.fill(None)
    assert [entry.claim.number for entry in empty] == list(range(1, 20))
    assert not any(entry.measured for entry in empty)
    words = ("not measured yet: lesson ", "no measurement settles it")
    assert all(entry.verdict.startswith(words) and entry.sentence for entry in empty)
    assert verdict(7, None) == "no measurement settles it"


def test_a_lesson_is_in_preparation_exactly_where_it_is_not_there():
    there = {path.name[:2] for path in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")}
    for entry in ledger.fill(None):
        claim = entry.claim
        assert claim.exists == (claim.lesson in there), f"claim {claim.number}: {claim.lesson}"
        assert claim.evidence is None or claim.evidence.lesson in there
        if not claim.exists and not claim.evidence:
            assert entry.verdict.endswith("is in preparation") and claim.lesson in entry.sentence


def rate(size, seconds, **machine):
    measured = {"01/product/cpu": times(seconds)}
    return card(measured, {"01/product/size": (float(size),)}, **machine)


def test_a_rate_counts_only_with_its_whole_interval():
    # 2 x 1000^3 operations in 50 ms are 40 billion per second; two cores one by one: 20
    assert verdict(1, rate(1000, 0.05)) == "many at once here"
    assert verdict(1, rate(1000, 0.05, cores=8)) == "not shown here"
    assert (
        verdict(1, rate(1000, 0.0999)) == "not shown here"
    )  # its median is above, its low end not
    assert "interval" in ledger.fill(rate(1000, 0.05))[0].measured
    for cores in (None, "2", 0, -1, True, 1e3, 10**9):
        assert verdict(1, rate(1000, 0.05, cores=cores)) == "cannot tell"


def losses(one, two):
    return card(numbers={"04/loss/1 replica": one, "04/loss/2 replicas": two})


def test_the_same_loss_is_the_same_in_every_epoch():
    assert verdict(3, losses((2.0, 1.0), (2.0, 1.00001))) == "the same here"
    assert verdict(3, losses((2.0, 1.0), (2.0, 1.01))) == "not the same here"
    for strange in ((2.0,), (), (2.0, -1.0), (2.0, 0.0)):
        assert verdict(3, losses((2.0, 1.0), strange)) == "cannot tell"


@pytest.mark.parametrize(
    ("longer", "said"),
    [(2.5, "twice or more"), (1.3, "a little longer"), (1.0, "about as long"), (0.7, "less")],
)
def test_129_beside_128(longer, said):
    measured = {"06/product/129": times(longer), "06/product/128": times(1.0)}
    assert verdict(8, card(measured)) == said


def test_129_beside_128_on_a_restless_machine():
    restless = (0.4, 3.0, 0.9, 2.2, 0.5, 1.7, 0.3, 2.9)
    measured = {"06/product/129": times(1.0, restless), "06/product/128": times(1.0)}
    assert verdict(8, card(measured)) == "too rough to tell"


def parts(plain, grouped, products):
    names = ("ordinary", "grouped", "products")
    found = zip(names, (plain, grouped, products), strict=True)
    return card({f"03/step parts/{name}": times(seconds) for name, seconds in found})


def test_the_share_of_the_products_in_a_step():
    assert verdict(14, parts(10, 5, 2)) == "mostly other work"
    assert verdict(14, parts(10, 9, 5)) == "mixed"
    assert verdict(14, parts(10, 9.5, 8)) == "mostly arithmetic"
    assert verdict(14, parts(10, 10, 10)) == "too rough to tell"
    assert ledger.fill(parts(10, 5, 2))[13].measured.startswith(
        "Products: 20 % of a step (interval"
    )


def climb(small, large):
    found = {"default fit": small, "bigger batches": large}
    measured = {f"03/climb/epoch/{name}": times(1.0) for name in found}
    return card(measured, {f"03/climb/accuracy/{name}": right for name, right in found.items()})


def test_accuracy_differs_only_where_all_trainings_agree():
    assert verdict(17, climb((0.95, 0.96, 0.97), (0.91, 0.92, 0.93))) == "lower accuracy here"
    assert verdict(17, climb((0.91, 0.92, 0.93), (0.95, 0.96, 0.97))) == "higher accuracy here"
    unsure = "no sure difference in accuracy"
    assert verdict(17, climb((0.91, 0.92, 0.96), (0.95, 0.96, 0.97))) == unsure
    assert verdict(17, climb((0.92, 0.93, 0.96), (0.91, 0.94, 0.95))) == unsure
    assert verdict(17, climb((0.9,), (0.5,))) == unsure  # one training says nothing
    assert "50.0 % in 1 training, against 90.0 % in 1" in (
        ledger.fill(climb((0.9,), (0.5,)))[16].measured
    )
    said = ledger.fill(climb((0.95, 0.96, 0.97), (0.91, 0.92, 0.93)))[16].measured
    assert "91.0 to 93.0 % in 3 trainings, against 95.0 to 97.0 %" in said


def test_a_count_of_replicas():
    name = "04/one code path/tpu/replicas"
    said = {1.0: "one here", 8.0: "several here", 0.0: "cannot tell", 1.5: "cannot tell"}
    said |= {-2.0: "cannot tell", 1e300: "cannot tell"}
    for count, word in said.items():
        assert {verdict(number, card(numbers={name: (count,)})) for number in (9, 10)} == {word}


@pytest.mark.parametrize("sample", [5e-324, 1e-300, 1e299])
@pytest.mark.parametrize("number", [-1e299, 0.0, 5e-324, 1e299])
def test_no_card_that_can_be_loaded_ends_in_an_error(tmp_path, sample, number):
    reference = results.reference_runs()[-1]
    names = {name for claim in ledger.entries() if claim.evidence for name in claim.evidence.names}
    names |= {*reference.measurements, *reference.numbers}
    strange = reference.to_dict()
    for samples in ([sample], [sample, 1.0] * 4, [sample] * 6):
        for values in ([number] * 3, []):
            strange["measurements"] = {name: {"samples": samples} for name in names}
            strange["numbers"] = {name: values for name in names}
            strange["machine"] = {"cores": number, "accelerator": None, "cpu_name": None}
            path = tmp_path / "card.json"
            path.write_text(json.dumps(strange))
            for entry in ledger.fill(results.load(path)):
                text = f"{entry} {entry._repr_html_()}"
                assert entry.sentence and not any(word in text for word in (" inf", " nan"))


def test_a_name_of_the_wrong_kind_is_no_result():
    """Times under the name of numbers, and the other way round."""
    numbers = dict.fromkeys(ledger.entries()[4].evidence.names, (1.0, 2.0))
    assert verdict(5, card(numbers=numbers)) == "cannot tell"
    losses = dict.fromkeys(ledger.entries()[2].evidence.names, times(1.0))
    assert verdict(3, card(losses)) == "cannot tell"


def test_what_is_no_card_is_refused():
    with pytest.raises(TypeError, match="needs a result card or None; got dict.*results.load"):
        ledger.fill({})


def test_the_table_has_a_row_for_each_claim_and_escapes_what_it_shows():
    shown = ledger.fill(results.reference_runs()[-1])._repr_html_()
    assert shown.count('<th scope="row"') == 19 and "<code>tf.function</code>" in shown
    claim = ledger.Claim(1, "<script>1</script>", "true", "&", ("https://x",), "01")
    entry = ledger.Entry(claim, '<img src="x">', "<b>", "<i>")
    shown = entry._repr_html_()
    assert "<script" not in shown and "<img" not in shown and "<b>" not in shown
    assert "&lt;script&gt;1&lt;/script&gt;" in shown


def test_entries_are_values():
    filled = ledger.fill(results.reference_runs()[-1])
    assert filled == ledger.fill(results.reference_runs()[-1]) and isinstance(filled, tuple)
    plain = json.loads(json.dumps(filled.to_dict()))["entries"]
    assert plain[4]["verdict"] == filled[4].verdict
    assert plain[4]["claim"]["evidence"]["names"] == ["03/race/CPU", "03/race/GPU"]
    for entry in filled:
        assert entry.verdict in str(entry) and entry.claim.why in str(entry)
        with pytest.raises(AttributeError):
            entry.verdict = "faster here"


def test_every_name_without_an_accelerator_is_on_the_reference_card():
    """A lesson that calls its measurement something else would leave a claim unmeasured."""
    reference = results.reference_runs()[-1]
    known = {*reference.measurements, *reference.numbers}
    for claim in ledger.entries():
        if claim.evidence:
            for name in claim.evidence.names:
                as_cpu = name.replace("/gpu/", "/cpu/").replace("/tpu/", "/cpu/")
                as_cpu = as_cpu.replace("02/race/cpu/", "02/control/")
                assert as_cpu in known or name in ("03/race/CPU", "03/race/GPU"), name
            ran = claim.evidence.ran
            assert not ran or any(name.startswith(ran) for name in known), ran


# --- The file


GOOD = """
in_preparation = ["05"]
[say]
"not measured yet" = "Run {lesson}."
"in preparation" = "Soon: {lesson}."
"cannot tell" = "Again: {lesson}."
"no measurement settles it" = "{instead}"
[[claim]]
number = 1
claim = "It is fast."
verdict = "misleading"
why = "It depends."
source = ["https://example.org"]
lesson = "03"
[claim.evidence]
lesson = "03"
rule = "ratio"
names = ["a", "b"]
labels = ["A", "B"]
[claim.evidence.say]
"faster here" = "yes"
"slower here" = "no"
"no measurable difference" = "neither"
"""


def test_a_file_in_order_is_read():
    (claim,), say = ledger_file.parse(GOOD)
    assert (
        claim.evidence.names == ("a", "b") and claim.exists and set(say) == set(ledger_file.EVERY)
    )


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("in_preparation =", "in preparation =", "not valid TOML"),
        ('["05"]', "[5]", "'in_preparation' must be a list of texts"),
        ('"cannot tell" = "Again: {lesson}."\n', "", "'say' must be a table with a text for each"),
        ("number = 1", "number = true", "claim 1: 'number' must be a whole number; got True"),
        ("number = 1", "number = 2", "'number' must count 1, 2, 3"),
        (
            'claim = "It is fast."\n',
            "",
            "claim 1: 'claim' must be a text that is not empty; got None",
        ),
        ('why = "It depends."', 'why = " "', "claim 1: 'why' must be a text"),
        ('why = "It depends."', "why = [1]", "claim 1: 'why' must be a text"),
        ('"misleading"', '"nonsense"', "claim 1: 'verdict' must be one of true, true, with limits"),
        ('["https://example.org"]', "[]", "claim 1: 'source' must be a list"),
        ("https://", "http://", "claim 1: 'source' must be a list of addresses"),
        ("number = 1", "number = 1\nnote = 2", "claim 1: unknown field 'note'"),
        ('rule = "ratio"', 'rule = "guess"', "claim 1, evidence: 'rule' must be one of ratio"),
        ('["a", "b"]', '["a"]', "claim 1, evidence: 'names' must be a list of 2 texts"),
        ('["A", "B"]', '["A", 2]', "claim 1, evidence: 'labels' must be a list of 2 texts"),
        (
            '"slower here" = "no"',
            '"slowr here" = "no"',
            "evidence: 'say' must be a table with a text",
        ),
        (
            '"slower here" = "no"',
            '"slower here" = 0',
            "evidence: 'say' must be a table with a text",
        ),
        ('rule = "ratio"', 'rule = "ratio"\nin_turns = 1', "'in_turns' must be true or false"),
        ('rule = "ratio"', 'rule = "ratio"\ntimes = 0', "'times' must be a number above zero"),
        (
            'rule = "ratio"',
            'rule = "ratio"\nmissing = "x"\nran = "y"',
            "no measurable difference, x",
        ),
        ('lesson = "03"\nrule', "rule", "claim 1, evidence: 'lesson' must be a text"),
    ],
)
def test_a_file_that_is_not_in_order_is_refused_by_place_and_field(old, new, named):
    assert old in GOOD
    with pytest.raises(DataError) as error:
        ledger_file.parse(GOOD.replace(old, new, 1))
    assert str(error.value).startswith("claims.toml") and named in str(error.value)


@pytest.mark.parametrize("text", ["", "claim = 5", "[[claim]]", "claim = [5]", "[claim]\nx = 1"])
def test_a_file_that_is_something_else_is_refused(text):
    with pytest.raises(DataError, match="claims.toml"):
        ledger_file.parse(text)
    head, say, _ = re.split(r"(?=\[say\])|(?=\[\[claim\]\])", GOOD)
    whole = head + say + text if text.startswith("[") else head + text + "\n" + say
    with pytest.raises(DataError, match="claims.toml.*claim"):
        ledger_file.parse(whole)


def test_a_claim_says_how_it_is_settled():
    without = GOOD.partition("[claim.evidence]")[0]
    with pytest.raises(DataError, match="claim 1: 'instead'"):
        ledger_file.parse(without)
    (claim,), _ = ledger_file.parse(without.replace('lesson = "03"', 'lesson = "05"'))
    assert not claim.exists


def test_each_rule_of_the_file_is_a_rule_of_the_ledger():
    assert set(ledger.RULES) == set(ledger_file.RULES)
    assert math.isfinite(ledger.TICKS)
    used = {claim.evidence.rule for claim in ledger.entries() if claim.evidence}
    assert used == set(ledger.RULES)  # a rule that no claim uses is not kept
