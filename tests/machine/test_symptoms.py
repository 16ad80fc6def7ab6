"""Every known failure is found in a whole log of it; nothing is found where nothing is known."""

import re
import time
from itertools import combinations
from pathlib import Path

import pytest

from accel_helpers.machine.symptoms import Finding, find, known, parse

LOGS = Path(__file__).parent / "logs"
FAILURES = sorted((LOGS / "failures").glob("*.txt"))
HEALTHY = sorted((LOGS / "healthy").glob("*.txt"))
SYMPTOMS = {symptom.id: symptom for symptom in known()}
SECONDS = 5.0  # what a learner may have to wait for the doctor, at most


def name_of(log: Path) -> str:
    return log.stem.split("_", 1)[1]


def ids(text: str) -> list[str]:
    return [finding.id for finding in find(text)]


def test_all_29_failures_have_a_symptom_and_a_log():
    assert {symptom.row for symptom in known()} - {None} == set(range(1, 30))
    assert [int(log.name[:2]) for log in FAILURES] == list(range(1, 30))
    assert all(SYMPTOMS[name_of(log)].row == int(log.name[:2]) for log in FAILURES)


@pytest.mark.parametrize("log", FAILURES, ids=lambda log: log.stem)
def test_a_whole_log_of_a_failure_gives_its_cause_and_fix(log):
    text = log.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert 43 <= len(lines) <= 70
    found = find(text)
    assert found[0].id == name_of(log)
    symptom = SYMPTOMS[name_of(log)]
    assert found[0].to_dict() == {
        "id": symptom.id, "cause": symptom.cause, "fix": symptom.fix, "source": symptom.source,
    }  # fmt: skip
    assert found[0].evidence and len(found[0].evidence) <= 200
    seen = found[0].evidence.removeprefix("...").removesuffix("...")
    assert any(seen in line for line in lines)

    key = [n for n, line in enumerate(lines, 1) if symptom.pattern.search(line)]
    assert key and len(lines) / 3 <= key[0] and key[-1] <= 2 * len(lines) / 3 + 1

    rest = "\n".join(line for n, line in enumerate(lines, 1) if n not in key)
    assert symptom.id not in ids(rest)


def test_no_two_failures_share_a_cause_a_fix_or_a_log():
    for field in ("cause", "fix"):
        said = [getattr(symptom, field) for symptom in known()]
        assert len(set(said)) == len(said)
    logs = {log.name: set(log.read_text(encoding="utf-8").splitlines()) for log in FAILURES}
    for (one, lines), (other, others) in combinations(logs.items(), 2):
        assert len(lines & others) < min(len(lines), len(others)) / 2, (one, other)


@pytest.mark.parametrize("log", HEALTHY, ids=lambda log: log.stem)
def test_a_healthy_log_or_an_unrelated_error_gives_nothing(log):
    assert find(log.read_text(encoding="utf-8")) == ()


def test_there_are_enough_healthy_logs():
    assert len(HEALTHY) >= 30
    assert all(log.stat().st_size > 50 for log in HEALTHY)


# What users of other versions, frameworks and shells see.
OTHER_WORDINGS = {
    "gpu-no-driver": [
        "failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)\n"
        "SystemError: GPU device not found",
    ],
    "tpu-no-tensorflow": [
        "ModuleNotFoundError: No module named 'tensorflow'",
        "ImportError: No module named \"tensorflow\"",
    ],
    "tpu-node-address": [
        "E           KeyError: 'COLAB_TPU_ADDR'",
        "AssertionError: ERROR: Not connected to a TPU runtime; please see the first cell in this "
        "notebook for instructions!",
        "BaseException: ERROR: Not connected to a TPU runtime; please see the previous cell in "
        "this notebook for instructions!",
    ],
    "tpu-name-missing": [
        "ERROR:root:ValueError('Please provide a TPU Name to connect to.')",
        "tpu not found: Please provide a TPU Name to connect to.",
    ],
    "tpu-plain-tensorflow": [
        'NotFoundError: TPUs not found in the cluster. Failed in initialization: see above',
        "InvalidArgumentError: No OpKernel was registered to support Op 'ConfigureDistributedTPU' "
        "used by node ConfigureDistributedTPU (defined at ops.py:1748) with these attrs: []",
        "(0) Invalid argument: No OpKernel was registered to support Op ConfigureDistributedTPU",
    ],
    "tpu-pip-libtpu-pin": [
        "ERROR: No matching distribution found for libtpu==2.18.0",
        "ERROR: Could not find a version that satisfies the requirement libtpu==2.17.1 (from "
        "tensorflow-tpu) (from versions: 0.0.0.dev0, 0.0.1, 0.0.2)",
    ],
    "tpu-pip-python": [
        "ERROR: No matching distribution found for tensorflow-tpu",
        "ERROR: Could not find a version that satisfies the requirement tensorflow_tpu==2.18.0 "
        "(from versions: 2.20.0)",
    ],
    "tpu-no-platform": [
        "No TPU platform found. Platform manager status: OK",
        "E0000 00:00:1 12 tpu_platform_interface.cc:78] No TPU platform found. Platform manager "
        "status: OK",
    ],
    "tpu-platform-check": [
        "InternalError: RET_CHECK failure (learning/45eac/google/xla/tpu_node_interfaces.cc:432) "
        "*platform",
        "tensorflow.python.framework.errors_impl.InternalError: RET_CHECK failure "
        "(third_party/x/tpu_node_interfaces.cc:501) platform",
    ],
    "tpu-pjrt-crash": [
        'tensorflow-tpu 2.20.0\nSIGSEGV (@0x10), go/stacktraces#s15 for TPU init',
        "PJRT_DEVICE=TPU\n*** SIGSEGV (@0x10), see gl__________43#s15 received by PID 2260154 "
        "(TID 2260154) on cpu 10; stack trace: ***",
        "initialize_tpu_system\n*** SIGSEGV (@(nil)), see go/stacktraces#s15 received by PID 9 "
        "(TID 9) on cpu 1; stack trace: ***",
    ],
    "tpu-no-device": [
        "jaxlib.xla_extension.XlaRuntimeError: NOT_FOUND: No ba16c7433 device found.",
        "RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: TPU initialization failed: "
        "No ba16c7433 device found. (you may need to uninstall the failing plugin package)",
    ],
    "tpu-not-initialised": [
        "strategy = tf.distribute.TPUStrategy(resolver)\n"
        "IndexError: index 0 is out of bounds for axis 0 with size 0",
        '  File "/x/tensorflow/python/distribute/tpu_strategy.py", line 910, in __init__\n'
        "IndexError: index 0 is out of bounds for axis 0 with size 0",
    ],
    "tpu-cpu-xla": [
        "NotFoundError: could not find registered transfer manager for platform Host -- check "
        "target linkage [Op:__inference__jit_compiled_convolution_op_26169]",
        "NOT_FOUND: could not find registered transfer manager for platform Host",
    ],
    "several-steps-several-replicas": [
        "InvalidArgumentError: You must feed a value for placeholder tensor 'while/Placeholder_3' "
        "with dtype float",
        "(1) INVALID_ARGUMENT:  You must feed a value for placeholder tensor "
        "'while/body/_1/while/cond/then/_9/while/cond/Placeholder' with dtype int32",
    ],
    "tpu-in-use": [
        "jaxlib.xla_extension.XlaRuntimeError: ABORTED: The TPU is already in use by process with "
        "pid 1017. Not attempting to load libtpu.so in this process.",
        "I0000 00:00:1649423660.053391 1924758 f236.cc:165] libtpu.so already in use by another "
        "process probably owned by another user.",
        "RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: TPU initialization failed: "
        "open(/dev/vfio/1): Device or resource busy: Device or resource busy; Couldn't open iommu "
        "group /dev/vfio/1",
    ],
    "tpu-two-frameworks": [
        "RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: TPU initialization failed: "
        "ioctl failed",
        "2024-05-15 I external/xla tpu_api libtpu\nInternalError: ioctl failed: Device busy",
    ],
    "tpu-lock": [
        "Internal error when accessing libtpu multi-process lockfile.",
        'I0000 f236.cc:1] something new. Run "$ sudo rm /tmp/libtpu_lockfile".',
    ],
    "tpu-metadata": [
        'Failed to get TPU metadata after 30 tries',
        "Failed to get TPU metadata (tpu-env) from instance metadata for variable WORKER_ID: "
        "INTERNAL: Couldn't connect to server",
        "I0000 common_lib.cc:174] Failed to fetch URL on try 30 out of 30: (http status: 404)",
    ],
    "tpu-import-segfault": [
        "tensorflow-tpu-2.18.0 is there\n$ python check.py\nSegmentation fault (core dumped)",
        "Segmentation fault (core dumped) python -c 'import tensorflow as tf'",
        'Fatal Python error: Segmentation fault\n\nCurrent thread 0x0001 (most recent call first):'
        '\n  File "/venv/lib/python3.11/site-packages/tensorflow/__init__.py", line 49 in <module>',
    ],
    "tpu-node-grpc": [
        "tensorflow: errors_impl.UnavailableError: failed to connect to all addresses",
        "resolver = TPUClusterResolver(tpu='grpc://10.1.2.3:8470')\n"
        "UnavailableError: failed to connect to all addresses",
        "(1) Unavailable: failed to connect to all addresses\nAdditional GRPC error information "
        "from remote target /job:worker/replica:0/task:0:",
    ],
    "tpu-pjrt-versions": [
        "Unexpected PJRT_Plugin_Attributes_Args size: expected 32, got 24.",
        "F0101 x.cc:1] Unexpected PJRT_Client_Create_Args size: expected 88, got 80.",
    ],
    "cuda-libraries": [
        "W tensorflow/core/common_runtime/gpu/gpu_device.cc:1934] Cannot dlopen some GPU "
        "libraries. Please make sure the missing libraries mentioned above are installed",
        "Skipping registering GPU devices...",
    ],
    "tensorflow-replaced": [
        'Successfully installed tensorflow-2.12.0\n>>> gpus\n[]\n',
        "Successfully installed keras-2.12.0 tensorflow-2.12.0\nNum GPUs: 0",
        "      Uninstalling tensorflow-2.18.0:\nSystemError: GPU device not found",
        "tf-keras 2.18.0 requires tensorflow<2.19,>=2.18, but you have tensorflow 2.15.0.post1 "
        "which is incompatible.\n>>> tf.config.list_physical_devices('GPU')\n[]",
    ],
    "gpu-none": [
        "E0000 00:00:1755 1 cuda_platform.cc:51] failed call to cuInit: INTERNAL: CUDA error: "
        "Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an "
        "NVIDIA GPU and installed a driver",
        "RuntimeError: No CUDA GPUs are available",
        "ERROR:numba.cuda.cudadrv.driver:Call to cuInit results in CUDA_ERROR_NO_DEVICE",
    ],
    "cudnn-too-old": [
        "Loaded runtime CuDNN library: 7005 (compatibility version 7000) but source was compiled "
        "with 7101 (compatibility version 7100)",
        "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (8, 7, 0) but "
        "found runtime version (8, 2, 4). PyTorch already comes bundled with cuDNN.",
        "RuntimeError: cuDNN version mismatch: PyTorch was compiled against 7102 but linked "
        "against 7600",
    ],
    "gpu-quota": [
        "You cannot currently connect to a GPU due to usage limits in Colab. Learn more",
        "You are currently unable to connect to a GPU due to Colab's usage limits.",
        "Cannot connect to GPU backend",
    ],
    "gpu-too-new": [
        'GPU 0 has compute capability 12.0, for which there is no kernel',
        "W0000 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible "
        "with compute capability 12.0. CUDA kernels will be jit-compiled from PTX",
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "UserWarning: NVIDIA GeForce RTX 5070 Ti with CUDA capability sm_120 is not compatible "
        "with the current PyTorch installation.",
    ],
    "bfloat16-unsupported": [
        "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU "
        "with cuda>=11.0",
        "ValueError: bf16 mixed precision requires PyTorch >= 1.10 and a supported device.",
        "RuntimeError: Current CUDA Device does not support bfloat16. Please switch dtype to "
        "float16.",
        "ptxas error   : Feature 'cvt.bf16.f32' requires .target sm_80 or higher",
    ],
    "bfloat16-slow": [
        "name: Tesla T4, pci bus id: 0000:00:04.0, compute capability: 7.5\n"
        "policy mixed_bfloat16: 61 ms/step",
    ],
    "out-of-memory": [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a "
        "total capacity of 14.74 GiB",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
        "allocate 6291456 bytes.",
        "errors_impl.ResourceExhaustedError: failed to allocate memory [Op:Mul]",
        "ResourceExhaustedError (see above for traceback): OOM when allocating tensor with "
        "shape[100,4096,32]",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 17.1G "
        "of 15.75G hbm.",
    ],
    "cuda-compiler-missing": [
        "NotFoundError: ./bin/ptxas not found",
        "error: Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice",
        "W asm_compiler.cc:85] Couldn't get ptxas version string: INTERNAL: Couldn't invoke "
        "ptxas --version",
        "F nvptx_compiler.cc:454] ptxas returned an error: 'INTERNAL: Failed to launch ptxas'",
    ],
    "numpy-replaced": [
        "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 "
        "from C header, got 88 from PyObject",
        "ImportError: numpy.core.multiarray failed to import",
    ],
    "numpy-package-too-old": [
        "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.2 as it may crash.",
    ],
    "gpu-driver-silent": [
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
        "that the latest NVIDIA driver is installed and running.",
        "Failed to initialize NVML: Driver/library version mismatch",
    ],
    "device-not-visible": [
        "RuntimeError: Unknown backend: 'gpu' requested, but no platforms that are instances of "
        "gpu are present. Platforms present are: cpu",
        "InvalidArgumentError: Could not satisfy device specification '/device:GPU:7'",
    ],
    "tf1-code": [
        "AttributeError: module 'tensorflow' has no attribute 'Session'",
        "AttributeError: module 'tensorflow' has no attribute 'placeholder'. Did you mean: ...",
    ],
    "tensorflow-gpu-gone": [
        '  The "tensorflow-gpu" package has been removed!',
        "  Downloading tensorflow-gpu-2.12.0.tar.gz (2.6 kB)",
        "ERROR: No matching distribution found for tensorflow-gpu==1.15",
    ],
    "tpu-library-mismatch": [
        "F ./tensorflow/core/tpu/tpu_library_init_fns.inc:98] TpuEmbeddingEngine_Execute not "
        "available in this library.",
        "F0000 tpu.cc:9] ConfigureDistributedTpuOp_DoWork not available in this library.",
    ],
    "devices-already-started": [
        "RuntimeError: Virtual devices cannot be modified after being initialized",
        "RuntimeError: Physical devices cannot be modified after being initialized",
        "RuntimeError: jax_num_cpu_devices config should be updated before backends are "
        "initialized i.e. before any JAX operation is executed.",
    ],
    "two-strategy-sizes": [
        "Collective ops is aborted by: Device /job:localhost/replica:0/task:0/device:CPU:1 is "
        "joining a group with size4, but that group has size 2 (group_key=1)",
    ],
    "batch-not-divisible": [
        "jax._src.sharding.IndivisibleError: Sharding NamedSharding(mesh=Mesh('batch': 4)) implies "
        "that array axis 0 is partitioned 4 times, but the dimension size is 14",
        "ValueError: One of pjit arguments implies that the global size of its dimension 0 should "
        "be divisible by 4, but it is equal to 14",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, all_ in OTHER_WORDINGS.items() for line in all_]
)
def test_other_wordings_of_a_failure_are_found(name, line):
    assert ids(f"Epoch 1/5\n{line}\nEpoch 2/5")[0] == name


def test_every_symptom_is_tried_in_another_wording():
    assert set(OTHER_WORDINGS) == set(SYMPTOMS)


@pytest.mark.parametrize(
    "line",
    [
        "ModuleNotFoundError: No module named 'tensorflow_datasets'",
        "KeyError: 'COLAB_GPU'",
        "IndexError: index 0 is out of bounds for axis 0 with size 0",
        "failed to connect to all addresses; last error: UNKNOWN",
        "stty: 'standard input': Inappropriate ioctl for device",
        "ioctl failed: Permission denied",
        "Fatal Python error: Segmentation fault",
        "Segmentation fault (core dumped)",
        "You must feed a value for placeholder tensor 'Placeholder' with dtype float",
        "RESOURCE_EXHAUSTED: Received message larger than max (18874385 vs. 4194304)",
        "MemoryError: Unable to allocate 7.28 TiB for an array",
        "Num GPUs Available: 0",
        "[]",
        "compute capability: 12.0",
        "Policy: mixed_bfloat16",
        "      Uninstalling tensorflow-2.18.0:\nE failed call to cuInit: UNKNOWN ERROR (303)\n[]\n"
        "Num GPUs Available: 0",
        "this function is not available in this library.",
        "Cannot dlopen some TensorRT libraries",
        "ERROR: No matching distribution found for tensorflow==2.13.0",
        "module 'tensorflow' has no attribute 'my_typo'",
    ],
)
def test_a_line_that_may_mean_many_things_is_not_taken_for_a_failure(line):
    assert find(f"Epoch 1/5\n{line}\n") == ()


def test_a_crash_of_tensorflow_in_the_midst_of_training_is_not_one_at_import():
    training = (
        'Fatal Python error: Segmentation fault\n\n  File "/x/tensorflow/python/eager/execute.py", '
        'line 53 in quick_execute\n  File "/x/keras/src/backend/tensorflow/trainer.py", line 399 '
        'in fit\n  File "/content/train.py", line 3 in <module>'
    )
    assert "tpu-import-segfault" not in ids(training)


NO_GPU = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
DLOPEN = "W gpu_device.cc:2343] Cannot dlopen some GPU libraries."
OOM = "OOM when allocating tensor with shape[512,64]"


def test_several_failures_come_in_the_order_of_the_file():
    order = [symptom.id for symptom in known()]
    found = ids(f"{NO_GPU}\n{OOM}\nNo module named 'tensorflow'\n{DLOPEN}")
    assert len(found) == 4
    assert found == sorted(found, key=order.index)


def test_what_the_last_exception_says_comes_first():
    text = (
        f"No module named 'tensorflow'\n{DLOPEN}\nTraceback (most recent call last):\n"
        '  File "x.py", line 1, in <module>\n    fit()\n'
        f"tensorflow.ResourceExhaustedError: Graph execution error:\n\n{OOM}\n"
        "2026-01-01 10:00:00: W the log goes on\n"
    )
    assert ids(text) == ["out-of-memory", "tpu-no-tensorflow", "cuda-libraries"]
    assert find(text)[0].evidence == OOM


def test_an_exception_that_was_followed_by_another_is_not_the_last():
    text = (
        "Traceback (most recent call last):\n  File\nKeyError: 'COLAB_TPU_ADDR'\n"
        "During handling of the above exception, another exception occurred:\n"
        f"Traceback (most recent call last):\n  File\nResourceExhaustedError: {OOM}\n"
    )
    assert ids(text)[0] == "out-of-memory"


def test_an_error_that_is_named_in_the_message_does_not_end_the_exception():
    text = (
        f"{DLOPEN}\nTraceback (most recent call last):\n  File\nRuntimeError: two errors:\n"
        f"{NO_GPU}\nValueError: the second one\n"
    )
    assert ids(text)[0] == "gpu-none"
    unrelated = f"{DLOPEN}\nTraceback (most recent call last):\n  File\nValueError: 3\n{NO_GPU}\n"
    assert ids(unrelated)[0] == "gpu-none"
    for between in ("line\n" * 30, "2026-01-01 10:00:00: W the log goes on\n", "E0000 00:00: x\n"):
        assert ids(unrelated.replace(NO_GPU, between + NO_GPU))[0] == "cuda-libraries"


def test_a_failure_comes_once_however_often_its_line_comes():
    assert ids(f"{OOM}\n" * 50) == ["out-of-memory"]


def test_the_evidence_is_one_short_line_with_the_match_in_it():
    long = "x " * 900 + OOM + " y" * 900
    for text in (f"   {OOM}   \n", long, f"a\n{long}\nb"):
        (finding,) = find(text)
        assert OOM in finding.evidence and len(finding.evidence) <= 200
        assert finding.evidence == finding.evidence.strip()


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'COLAB_TPU_ADDR'",
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        " \t\r\n\x00",
        "Traceback (most recent call last)",
        "Traceback (most recent call last):\n",
        bytes(range(256)).decode("latin-1") * 50,
        "\ud800\udfff",
        "Error: ",
    ],
)
def test_a_text_without_a_known_failure_gives_an_empty_tuple(text):
    assert find(text) == ()


@pytest.mark.parametrize("what", [None, b"KeyError: 'COLAB_TPU_ADDR'", 3, ValueError("x"), ["x"]])
def test_what_is_no_text_is_refused_with_advice(what):
    with pytest.raises(TypeError, match=rf"got {type(what).__name__}\. Give it a str"):
        find(what)


def test_a_huge_log_is_searched_at_both_ends_in_time():
    filler = "2026-11-21 10:00:00.1: I libtpu says: Created device GPU:0, compute capability: 7.5\n"
    middle = filler * (50_000_000 // len(filler))
    begin = time.perf_counter()
    assert ids(f"{DLOPEN}\n{middle}{OOM}\n") == ["out-of-memory", "cuda-libraries"]
    assert find("libtpu TPU " * 400_000) == ()
    assert time.perf_counter() - begin < SECONDS


@pytest.mark.parametrize("name", OTHER_WORDINGS)
def test_no_text_makes_a_pattern_slow(name):
    """Lines of almost the line that gives it away, again and again."""
    text = OTHER_WORDINGS[name][0]
    key = SYMPTOMS[name].pattern.search(text).group()
    begin = time.perf_counter()
    for almost in (key[:-1], key[: len(key) // 2], key[-10:]):
        line = (almost * (4_000 // len(almost) + 1))[:4_000]
        find(text + "\n" + "\n".join([line] * 50))
    assert time.perf_counter() - begin < SECONDS


def test_what_is_said_is_for_a_learner_and_has_a_source():
    for symptom in known():
        for words in (symptom.cause, symptom.fix):
            assert words[0].isupper() or words.startswith(("libtpu", "pip", "tensorflow-tpu"))
            assert words.endswith(".") and 40 < len(words) <= 280, symptom.id
        assert all(s.startswith("https://") for s in symptom.source.split(" "))


def test_no_fix_installs_over_what_colab_ships():
    allowed = ("On your own machine", "of your own: ", "If it must be", "pip uninstall")
    for symptom in known():
        before, installs, _ = symptom.fix.partition("pip install")
        assert not installs or any(words in before for words in allowed), symptom.id


ENTRY = """[[symptom]]
id = "x"
pattern = "abc"
cause = "c"
fix = "f"
source = ["https://example.org/1", "https://example.org/2"]
versions = "all"
"""


def test_an_entry_in_order_is_read():
    (symptom,) = parse(ENTRY)
    assert symptom.source == "https://example.org/1 https://example.org/2"
    assert (symptom.row, symptom.also, symptom.unless) == (None, None, None)
    assert parse("") == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fix =", "fixx ="), "entry 1 ('x'): unknown field 'fixx'"),
        (('"abc"', '"a(bc"'), "entry 1 ('x'): 'pattern' is no regular expression"),
        (('"abc"', '""'), "entry 1 ('x'): 'pattern' must be text"),
        (('cause = "c"', "cause = 3"), "entry 1 ('x'): 'cause' must be text that is not"),
        (('id = "x"', ""), "entry 1 (None): 'id' must be text"),
        (('versions = "all"', ""), "'versions' must be text that is not empty, got None"),
        (("https://example.org/2", "ct#5238"), "'source' must be a list of addresses"),
        (('id = "x"', 'id = "x"\nrow = 0'), "'row' must be a whole number"),
        (('id = "x"', 'id = "x"\nalso = "["'), "'also' is no regular expression"),
        (('id = "x"', 'id = "x"\nunless = " "'), "'unless' must be text"),
    ],
)  # fmt: skip
def test_an_entry_that_is_not_in_order_is_named(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse(ENTRY.replace(*change))


def test_an_id_that_comes_twice_is_named():
    with pytest.raises(ValueError, match=r"\['x'\] come more often"):
        parse(ENTRY + ENTRY)


def test_also_and_unless_are_looked_for_in_the_whole_text():
    assert ids("ioctl failed\n" + "line\n" * 99) == []
    assert ids("ioctl failed\n" + "line\n" * 99 + "TPU v5e\n") == ["tpu-two-frameworks"]
    crash = 'Fatal Python error: Segmentation fault\n"/a/tensorflow/b.py", line 3 in <module>\n'
    assert ids(crash) == ["tpu-import-segfault"]
    assert ids(crash + "*** SIGSEGV of something else\n") == []


def test_a_finding_without_evidence_is_fine():
    finding = Finding("x", "why", "do this", "https://example.org")
    assert finding.evidence == ""
    assert list(finding.to_dict()) == ["id", "cause", "fix", "source"]
