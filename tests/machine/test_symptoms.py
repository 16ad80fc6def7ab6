"""Every known failure is found in a whole log of it; nothing is found where nothing is known."""

import re
import time
import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor
from accel_helpers.machine.symptoms import GROUPS, KNOWN, SLOW, find

HERE = Path(__file__).parent
LOGS = HERE / "logs"
FAILURES = {symptom.id: symptom for symptom in KNOWN}
ENTRIES = FAILURES | {symptom.id: symptom for symptom in SLOW}
EXAMPLES = tomllib.loads((HERE / "examples.toml").read_text("utf-8"))
MESSAGES = EXAMPLES["failure"] | EXAMPLES["slowness"]
RAISED = "Traceback (most recent call last):\n  File\n"
OOM = "OOM when allocating tensor with shape[512,64]"
NO_GPU = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
DLOPEN = "W gpu_device.cc:2343] Cannot dlopen some GPU libraries."


def ids(text, among=KNOWN):
    return [finding.id for finding in find(text, among=among)]


def logs(kind):
    return {path.stem: path.read_text("utf-8") for path in (LOGS / kind).glob("*.txt")}


def test_in_a_whole_log_of_a_failure_that_is_found_first():
    first = {name: ids(text)[0] for name, text in logs("failures").items()}
    assert first == {name: name.partition("_")[2] for name in first}


def test_a_healthy_log_or_an_ordinary_error_gives_no_failure_and_the_warnings_that_it_has():
    healthy = logs("healthy")
    ordinary = tomllib.loads((LOGS / "ordinary.toml").read_text("utf-8"))["error"]
    texts = healthy | {one["kind"]: one["text"] for one in ordinary}
    assert {name: ids(text) for name, text in texts.items() if ids(text)} == {}
    warned = {name: ids(text, SLOW) for name, text in healthy.items()}
    assert {name: slow for name, slow in warned.items() if slow} == EXAMPLES["warned"]


def test_a_real_message_is_found_as_its_own_entry_and_as_that_first():
    assert list(MESSAGES) == list(ENTRIES), "each entry has a message, and each message an entry"
    for name, lines in MESSAGES.items():
        among = KNOWN if name in FAILURES else SLOW
        texts = [f"Epoch 1/5\n{line}\nEpoch 2/5" for line in lines]
        assert {ids(text, among)[0] for text in texts} == {name}
        assert name in FAILURES or not any(map(ids, texts)), "what is slow is no failure"


def test_a_real_report_still_gets_the_answer_that_was_judged():
    for path in (LOGS / "real").glob("*.toml"):
        for report in tomllib.loads(path.read_text("utf-8"))["report"]:
            told = doctor.diagnose(report["text"])
            answer = [one.id for one in told.findings or told.slow]
            assert answer == report["answer"], report["url"]


def test_of_what_looks_alike_the_right_failure_is_found_and_nothing_where_it_may_be_another():
    for alike in EXAMPLES["alike"]:
        for text in alike["texts"]:
            found = find(text)
            assert [finding.id for finding in found] == alike["found"], text
            shown = " ".join(finding.evidence for finding in found)
            assert not re.search(r"Epoch|10/10|\\|\x1b|\n|\r", shown), "one line, without colours"


def test_what_the_last_exception_says_comes_first():
    text = (
        f"No module named 'tensorflow'\n{DLOPEN}\nTraceback (most recent call last):\n"
        '  File "x.py", line 1, in <module>\n    fit()\n'
        f"tensorflow.ResourceExhaustedError: Graph execution error:\n\n{OOM}\n"
        "2026-01-01 10:00:00: W the log goes on\n"
    )
    assert ids(text) == ["out-of-memory", "tpu-no-tensorflow", "cuda-libraries"]
    chained = (
        f"{RAISED}KeyError: 'COLAB_TPU_ADDR'\n"
        "During handling of the above exception, another exception occurred:\n"
        f"{RAISED}ResourceExhaustedError: {OOM}\n"
    )
    assert ids(chained)[0] == "out-of-memory"
    # An error that is named in the message does not end it; the log behind it does.
    two = f"{DLOPEN}\n{RAISED}RuntimeError: two errors:\n{NO_GPU}\nValueError: the second one\n"
    assert ids(two)[0] == "gpu-none"
    log_goes_on = f"{DLOPEN}\n{RAISED}ValueError: 3\n2026-01-01 10:00:00: W x\n{NO_GPU}\n"
    assert ids(log_goes_on)[0] == "cuda-libraries"


def test_of_a_long_line_the_match_is_shown():
    (finding,) = find("x " * 900 + OOM + " y" * 900)
    assert OOM in finding.evidence
    assert len(finding.evidence) <= 200


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
    assert "fresh" not in FAILURES["disk-full"].to_do("local"), "a new environment needs room"


def test_every_entry_has_its_part_of_the_page_a_source_and_a_cause_of_its_own():
    assert {symptom.group for symptom in KNOWN} == GROUPS.keys()
    assert all(symptom.source.startswith("https://") for symptom in ENTRIES.values())
    assert len({symptom.cause for symptom in ENTRIES.values()}) == len(ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_no_text_makes_a_pattern_slow(name):
    """The time grows in line with the text, for text that almost fits again and again."""

    def seconds(pattern, text):
        # Of this thread alone: a machine that is busy with others is not slower.
        start = time.thread_time()
        pattern.search(text)
        return time.thread_time() - start

    for pattern in ENTRIES[name].patterns:
        matches = [match.group() for match in map(pattern.search, MESSAGES[name]) if match]
        fits = [*matches, MESSAGES[name][0]][0]
        for almost in (fits[:-1], fits[: len(fits) // 2], fits[-10:]):
            row = (almost * 4_000)[:4_000] + "\n"
            assert seconds(pattern, row * 200) < 40 * seconds(pattern, row * 10) + 1
