"""Every known failure is found in a whole log of it; nothing is found where nothing is known.

What today's packages really print is in test_raised_today.py.
"""

import re
import time
import tomllib
from pathlib import Path

import pytest

from accel_helpers.machine import doctor, pages
from accel_helpers.machine.symptoms import GROUPS, KNOWN, SLOW, find

HERE = Path(__file__).parent
LOGS = HERE / "logs"
FAILURES = sorted((LOGS / "failures").glob("*.txt"))
HEALTHY = sorted((LOGS / "healthy").glob("*.txt"))
SYMPTOMS = {symptom.id: symptom for symptom in KNOWN}
ENTRIES = SYMPTOMS | {symptom.id: symptom for symptom in SLOW}
REAL = {
    report["url"]: report
    for path in sorted((LOGS / "real").glob("*.toml"))
    for report in tomllib.loads(path.read_text("utf-8"))["report"]
}
ORDINARY = tomllib.loads((LOGS / "ordinary.toml").read_text("utf-8"))["error"]
EXAMPLES = tomllib.loads((HERE / "examples.toml").read_text("utf-8"))
# What goes well, and is warned of all the same.
WARNED = {
    "allocator_asks_again": ["gpu-memory-more"],
    "deprecations": ["slow-retracing"],
    "mirrored_strategy_two_cpus": ["tf-data-by-python"],
    "t4_training": ["gpu-registers-spilled"],
    "tf_function_retracing": ["slow-retracing"],
}


def ids(text: str) -> list[str]:
    return [finding.id for finding in find(text)]


def warnings_in(text: str) -> list[str]:
    return [finding.id for finding in find(text, among=SLOW)]


@pytest.mark.parametrize("log", FAILURES, ids=lambda log: log.stem)
def test_a_whole_log_of_a_failure_gives_its_cause_and_fix(log):
    text = log.read_text(encoding="utf-8")
    lines = text.splitlines()
    found, symptom = find(text), SYMPTOMS[log.stem.split("_", 1)[1]]
    assert (found[0].id, found[0].cause, found[0].fix) == (
        symptom.id,
        symptom.cause,
        symptom.to_do("local"),
    )
    assert found[0].evidence
    assert len(found[0].evidence) <= 200
    seen = found[0].evidence.removeprefix("...").removesuffix("...")
    assert any(seen in line for line in lines)
    key = [n for n, line in enumerate(lines) if any(each.search(line) for each in symptom.patterns)]
    assert len(lines) / 3 <= key[0] + 1, "in the middle third"
    assert key[-1] <= 2 * len(lines) / 3, "in the middle third"
    assert symptom.id not in ids("\n".join(x for n, x in enumerate(lines) if n not in key))


def test_every_entry_has_its_part_of_the_page_a_source_versions_and_a_cause_of_its_own():
    assert [symptom.group for symptom in KNOWN if symptom.group not in GROUPS] == []
    assert {symptom.group for symptom in KNOWN} == GROUPS.keys()
    for symptom in ENTRIES.values():
        assert re.fullmatch(r"https://\S+", symptom.source), symptom.id
        assert symptom.since, symptom.id
    assert len({symptom.cause for symptom in ENTRIES.values()}) == len(KNOWN) + len(SLOW)


@pytest.mark.parametrize("log", HEALTHY, ids=lambda log: log.stem)
def test_a_healthy_log_or_an_unrelated_error_gives_no_failure_and_the_warnings_that_it_has(log):
    text = log.read_text(encoding="utf-8")
    assert find(text) == ()
    assert warnings_in(text) == WARNED.get(log.stem, [])


@pytest.mark.parametrize("name", ENTRIES)
def test_a_real_message_is_found_as_its_own_entry_and_as_that_first(name):
    slow = name not in SYMPTOMS
    lines = EXAMPLES["slowness" if slow else "failure"][name]
    texts = [f"Epoch 1/5\n{line}\nEpoch 2/5" for line in lines]
    for text in texts:
        assert (warnings_in if slow else ids)(text)[0] == name
        assert not slow or ids(text) == []
    assert texts


def test_there_is_no_message_without_an_entry():
    assert [*EXAMPLES["failure"], *EXAMPLES["slowness"]] == [*ENTRIES]


def test_an_ordinary_error_gives_nothing():
    assert [(one["kind"], ids(one["text"])) for one in ORDINARY if ids(one["text"])] == []
    assert len(ORDINARY) > 40


def test_a_real_report_still_gets_the_answer_that_was_judged():
    got = {}
    for url, report in REAL.items():
        told = doctor.diagnose(report["text"])
        got[url] = [one.id for one in told.findings or told.slow]
    assert got == {url: report["answer"] for url, report in REAL.items()}
    assert len(REAL) > 150


@pytest.mark.parametrize("name", ENTRIES)
def test_what_to_do_is_said_in_the_words_of_the_place(name):
    symptom = ENTRIES[name]
    if "{" in symptom.fix and not symptom.at:  # else it is the same everywhere
        assert "Runtime →" not in symptom.to_do("kaggle") + symptom.to_do("local")
    for place in ("colab", "kaggle", "local"):
        assert "{" not in symptom.to_do(place)
        assert len(symptom.to_do(place)) <= 400


@pytest.mark.parametrize(
    "text",
    [
        *("", " \t\r\n\x00", "Traceback (most recent call last)", "\ud800\udfff", "Error: "),
        "KeyError: 'COLAB_GPU'",
        "      Uninstalling tensorflow-2.18.0:\nE failed call to cuInit: UNKNOWN ERROR (303)\n[]\n"
        "Num GPUs Available: 0",
        "this function is not available in this library.",
        "AttributeError: 'LinearSVC' object has no attribute 'predict_proba'",  # scikit-learn's
    ],
)
def test_a_text_that_may_mean_many_things_or_nothing_is_not_taken_for_a_failure(text):
    assert find(text) == ()


NO_GPU = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
DLOPEN = "W gpu_device.cc:2343] Cannot dlopen some GPU libraries."
OOM = "OOM when allocating tensor with shape[512,64]"
RAISED = "Traceback (most recent call last):\n  File\n"


def test_what_the_last_exception_says_comes_first():
    text = (
        f"No module named 'tensorflow'\n{DLOPEN}\nTraceback (most recent call last):\n"
        '  File "x.py", line 1, in <module>\n    fit()\n'
        f"tensorflow.ResourceExhaustedError: Graph execution error:\n\n{OOM}\n"
        "2026-01-01 10:00:00: W the log goes on\n"
    )
    assert ids(text) == ["out-of-memory", "tpu-no-tensorflow", "cuda-libraries"]
    assert find(text)[0].evidence == OOM
    chained = (
        f"{RAISED}KeyError: 'COLAB_TPU_ADDR'\n"
        "During handling of the above exception, another exception occurred:\n"
        f"{RAISED}ResourceExhaustedError: {OOM}\n"
    )
    assert ids(chained)[0] == "out-of-memory"


def test_an_error_that_is_named_in_the_message_does_not_end_the_exception():
    two = f"{DLOPEN}\n{RAISED}RuntimeError: two errors:\n{NO_GPU}\nValueError: the second one\n"
    assert ids(two)[0] == "gpu-none"
    unrelated = f"{DLOPEN}\n{RAISED}ValueError: 3\n{NO_GPU}\n"
    assert ids(unrelated)[0] == "gpu-none"
    for between in ("line\n" * 30, "2026-01-01 10:00:00: W the log goes on\n", "E0000 00:00: x\n"):
        assert ids(unrelated.replace(NO_GPU, between + NO_GPU))[0] == "cuda-libraries"


def test_a_failure_comes_once_and_its_evidence_is_one_short_line_with_the_match_in_it():
    long = "x " * 900 + OOM + " y" * 900
    for text in (f"   {OOM}   \n" * 50, long, f"a\n{long}\nb"):
        (finding,) = find(text)
        assert OOM in finding.evidence
        assert len(finding.evidence) <= 200
        assert finding.evidence == finding.evidence.strip()


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[0;31mKeyError\x1b[0m: 'COLAB_TPU_ADDR'\r\nEpoch 1/5\r\n",
        "Epoch 1/5\r10/10\rKeyError: 'COLAB_TPU_ADDR'\r",
        '"text": ["\\u001b[0;31mKeyError\\u001b[0m: \'COLAB_TPU_ADDR\'\\n", "Epoch"]',
        "b'Epoch 1/5\\r\\nKeyError: \\'COLAB_TPU_ADDR\\'\\n'".replace("\\'", "'"),
        "\ufeff\x00\x00KeyError: 'COLAB_TPU_ADDR'\x00",
    ],
)
def test_colours_line_ends_and_a_notebooks_own_spelling_do_not_matter(text):
    (finding,) = find(text)
    assert finding.id == "tpu-node-address"
    assert not re.search(r"Epoch|10/10|\\|\x1b|\n|\r", finding.evidence)


def test_a_huge_log_is_searched_at_both_ends_in_time():
    filler = "2026-11-21 10:00:00.1: I libtpu says: Created device GPU:0, compute capability: 7.5\n"
    middle = filler * (50_000_000 // len(filler))
    assert ids(f"{DLOPEN}\n{middle}{OOM}\n") == ["out-of-memory", "cuda-libraries"]
    assert find("libtpu TPU " * 400_000) == ()


@pytest.mark.parametrize("name", ENTRIES)
def test_no_text_makes_a_pattern_slow(name):
    """The time grows in line with the text, for text that almost fits again and again."""
    for pattern in ENTRIES[name].patterns:
        lines = (EXAMPLES["failure"] | EXAMPLES["slowness"])[name]
        matches = [match for x in lines if (match := pattern.search(x))]
        fits = matches[0].group() if matches else lines[0]
        for almost in (fits[:-1], fits[: len(fits) // 2], fits[-10:]):
            row = (almost * (4_000 // len(almost) + 1))[:4_000] + "\n"
            assert spent(pattern, row * 200) < 40 * spent(pattern, row * 10) + 1


def spent(pattern, text):
    """The seconds of this thread alone: a machine that is busy with others is not slower."""
    start = time.thread_time()
    pattern.search(text)
    return time.thread_time() - start


def test_what_is_said_is_for_a_learner_and_installs_nothing_over_what_colab_ships():
    allowed = ("On your own machine", "of your own: ", "If it must be", "pip uninstall")
    for symptom in [*KNOWN, *SLOW]:
        for words in (symptom.cause, symptom.fix):
            assert words.endswith("."), symptom.id
            assert 20 < len(words) <= 300, symptom.id
        before, installs, _ = symptom.fix.partition("pip install")
        assert not installs or any(words in before for words in allowed), symptom.id


def test_also_and_unless_are_looked_for_in_the_whole_text():
    assert ids("ioctl failed\n" + "line\n" * 99) == []
    assert ids("ioctl failed\n" + "line\n" * 99 + "TPU v5e\n") == ["tpu-two-frameworks"]
    crash = 'Fatal Python error: Segmentation fault\n"/a/tensorflow/b.py", line 3 in <module>\n'
    assert ids(crash) == ["tpu-import-segfault"]
    assert ids(crash + "*** SIGSEGV of something else\n") == []
    training = '"/x/tensorflow/python/eager/execute.py", line 53 in quick_execute\n'
    assert ids(crash.replace('"/a', training + '"/a')) == [], "a crash while it trains"


def test_each_place_hears_only_of_itself():
    for name in ("no-internet", "disk-full", "kaggle-phone"):
        for place in ("colab", "kaggle", "local"):
            said = SYMPTOMS[name].to_do(place)
            assert "In Colab:" not in said
            assert "On Kaggle:" not in said
            assert "Elsewhere" not in said
    switch = [SYMPTOMS["no-internet"].to_do(each) for each in ("colab", "kaggle", "local")]
    assert ["switch Internet on" in said for said in switch] == [False, True, False]


@pytest.mark.parametrize(
    "name", ["gpu-quota", "colab-too-many-sessions", "colab-no-connection", "gpu-lent-unused"]
)
def test_what_happens_in_colab_alone_is_answered_with_colabs_menus(name):
    said = {SYMPTOMS[name].to_do(place) for place in ("colab", "kaggle", "local")}
    assert len(said) == 1
    assert "Runtime →" in said.pop()


def test_what_an_error_says_of_the_set_up_of_a_tpu_is_what_a_page_is_told_of_the_line():
    (line,) = [old for old in pages.YESTERDAY if "TPUClusterResolver" in old["line"]]
    error = SYMPTOMS["tpu-name-missing"]
    for words in ("Delete ", "JAX drives the TPU without set-up", "print(ah.tpu.recipe())"):
        assert words in line["instead"]
        assert words in error.fix
    assert not [symptom.id for symptom in KNOWN if re.search("tpu='local'", symptom.fix)]


def test_a_full_disk_is_not_told_to_make_a_new_environment():
    assert "fresh" not in SYMPTOMS["disk-full"].to_do("local")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cannot connect to GPU backend", "gpu-quota"),
        ("Não é possível conectar ao back-end da GPU", "gpu-quota"),
        ("No matching distribution found for tensorflow==1.15.5", "keras-tensorflow1-gpu-pip"),
        ("No matching distribution found for tensorflow==2.1", "pip-no-such-framework"),
        (
            "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory "
            "space hbm. Used 26.90G of 15.75G hbm. Exceeded hbm capacity by 11.15G.",
            "jax-memory",
        ),
        (
            "Unexpected PJRT_Client_Create_Args size: expected 88, got 80. Mismatched PJRT plugin "
            "PJRT API version (0.46) for cuda",
            "jax-plugin-pair",
        ),
        ("Failed to assign a backend", "colab-none-free"),
        ("RuntimeError: Unable to initialize backend 'tpu'", "jax-tpu-start"),
        ("LLVM ERROR: PTX version 8.5 does not support target 'sm_120'.", "gpu-too-new"),
        ("Tesla P100: no kernel image is available for execution on the device", "gpu-too-old"),
    ],
)  # fmt: skip
def test_one_failure_gives_one_finding_and_the_right_one(text, name):
    assert ids(text) == [name]
