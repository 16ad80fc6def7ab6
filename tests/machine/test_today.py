"""What learners meet with Keras 3 and JAX: the installed packages raise it, or warn of it."""

import json
from pathlib import Path

import pytest
from machines import python

EXAMPLES = Path(__file__).with_name("examples.toml")
# Do what is tried under this framework; print what the doctor says of each.
CHILD = """
import json, os, subprocess, sys, tempfile, tomllib, traceback, warnings
from pathlib import Path
import jax, tensorflow as tf
import accel_helpers as ah

def start(code, **environ):  # where no framework has started yet
    subprocess.run([sys.executable, "-c", code], env=os.environ | environ)

def printed(code):  # also by libraries in C++, which write past Python
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try: exec(code, {"start": start, "__name__": "learner"})
        except Exception: traceback.print_exc()
        finally: os.dup2(kept, 2)
        file.seek(0)
        return file.read().decode(errors="replace")

warnings.simplefilter("always")
# Several devices in one CPU.
jax.config.update("jax_num_cpu_devices", 8)
(cpu,) = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
today = tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))["today"]
said = {}
for name, code in today[os.environ["KERAS_BACKEND"]].items():
    told = ah.diagnose(printed(code))
    said[name] = [one.id for one in told.findings or told.slow] or [str(told)]
print(json.dumps(said))
"""


@pytest.mark.night
@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_what_todays_packages_raise_or_warn_of_is_known(framework):
    # As JAX would leave of TensorFlow's log only the warnings.
    told = python(CHILD, EXAMPLES, KERAS_BACKEND=framework, TF_CPP_MIN_LOG_LEVEL="0")
    assert told.returncode == 0, told.stderr[-2000:]
    said = json.loads(told.stdout.splitlines()[-1])
    assert {name: found for name, found in said.items() if name not in found} == {}
