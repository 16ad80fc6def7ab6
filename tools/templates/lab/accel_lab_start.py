"""Runs before the first cell in the browser lab: what cannot run there says so in a sentence."""

import traceback

from IPython import get_ipython

FRAMEWORK = "a framework such as TensorFlow"


def in_a_sentence(shell, kind, error, trace, tb_offset=None, missing=[]):
    place = traceback.extract_tb(trace)[-1].filename
    if isinstance(error, ImportError) and error.name:
        missing.append(error.name.partition(".")[0])
        needed = missing[-1]
    elif place.endswith(("accel_helpers/machine/backend.py", "subprocess.py")):
        missing.append(FRAMEWORK)
        needed = FRAMEWORK if place.endswith("backend.py") else "a process of its own"
    elif isinstance(error, NameError) and missing:
        needed = "what an earlier cell could not make here"
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    print(f"Not in a browser: this cell needs {needed}. Go on with the next one;")
    print("the lesson's page on the site shows what comes out.")


get_ipython().set_custom_exc((Exception,), in_a_sentence)
