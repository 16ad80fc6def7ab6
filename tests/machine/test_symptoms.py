"""Every known failure is found in a whole log of it; nothing is found where nothing is known."""

import re
import time
import tomllib
from functools import partial
from pathlib import Path
from timeit import timeit

import pytest

from accel_helpers.machine import doctor
from accel_helpers.machine.symptoms import KNOWN, SLOW, find

HERE = Path(__file__).parent
FAILURES = {symptom.id: symptom for symptom in KNOWN}
ENTRIES = FAILURES | {symptom.id: symptom for symptom in SLOW}
EXAMPLES = tomllib.loads((HERE / "examples.toml").read_text("utf-8"))
MESSAGES = EXAMPLES["failure"] | EXAMPLES["slowness"]


def ids(text, among=KNOWN):
    return [finding.id for finding in find(text, among=among)]


def logs(kind):
    return {path.stem: path.read_text("utf-8") for path in (HERE / "logs" / kind).glob("*.t*")}


def test_in_a_whole_log_of_a_failure_that_is_found_first():
    first = {name: ids(text)[0] for name, text in logs("failures").items()}
    assert first == {name: name.partition("_")[2] for name in first}


def test_a_healthy_log_or_an_ordinary_error_gives_no_failure_and_the_warnings_that_it_has():
    for name, text in logs("healthy").items():
        assert find(text) == (), name
        assert ids(text, SLOW) == EXAMPLES["warned"].get(name, []), name
    for error in tomllib.loads(logs("")["ordinary"])["error"]:
        assert find(error["text"]) == (), error["kind"]


def test_a_real_message_is_found_as_its_own_entry_and_as_that_first():
    assert list(MESSAGES) == list(ENTRIES), "each entry has a message, and each message an entry"
    for name, lines in MESSAGES.items():
        among = KNOWN if name in FAILURES else SLOW
        texts = [f"Epoch 1/5\n{line}\nEpoch 2/5" for line in lines]
        assert {ids(text, among)[0] for text in texts} == {name}
        assert name in FAILURES or not any(map(ids, texts)), "what is slow is no failure"


def test_a_real_report_still_gets_the_answer_that_was_judged():
    for reports in logs("real").values():
        for report in tomllib.loads(reports)["report"]:
            answer = ids(report["text"]) or ids(report["text"], SLOW)
            assert answer == report["answer"], report["url"]


def test_all_that_is_in_a_text_is_found_and_what_the_last_exception_says_first():
    one_short_line = r"(?!.*(Epoch|10/10))[^\\\x1b\n\r]{1,202}"
    for alike in EXAMPLES["alike"]:
        for text in alike["texts"]:
            found = doctor.diagnose(text).findings
            assert [one.id for one in found] == alike["found"], text
            assert all(re.fullmatch(one_short_line, one.evidence) for one in found), text
    (long,) = doctor.diagnose(f"{'x' * 150} Cannot dlopen some GPU libraries.").findings
    assert re.fullmatch(r"…x+ Cannot dlopen some GPU libraries\.", long.evidence)


def test_what_to_do_fits_the_place_and_installs_nothing_over_what_colab_ships():
    for symptom in ENTRIES.values():
        colab, kaggle, local = map(symptom.to_do, ("colab", "kaggle", "local"))
        assert "{" not in colab + kaggle + local, "every brace was filled in"
        if symptom.at:
            assert colab == kaggle == local, "it happens at one place alone"
        elif "{" in symptom.fix:
            assert "Runtime →" not in kaggle + local
        before, installs, _ = symptom.fix.partition("pip install")
        allowed = "On your own machine|of your own: |If it must be|pip uninstall"
        assert not installs or re.search(allowed, before), symptom.id


@pytest.mark.parametrize("name", ENTRIES)
def test_no_text_makes_a_pattern_slow(name):
    """The time grows in line with the text, for text that almost fits again and again."""

    # Of this thread alone: a machine that is busy with others is not slower.
    seconds = partial(timeit, number=1, timer=time.thread_time)
    for pattern in ENTRIES[name].patterns:
        for match in filter(None, map(pattern.search, MESSAGES[name])):
            row = (match.group()[:-1] * 4_000)[:4_000] + "\n"
            few, many = partial(pattern.search, row * 10), partial(pattern.search, row * 200)
            assert seconds(many) < 40 * seconds(few) + 1
