"""Runs before the first cell in the browser lab: what cannot run there says so in a sentence."""


def start():
    import traceback

    from IPython import get_ipython

    missing = []  # what cells have asked for in vain

    def say(shell, kind, error, trace, tb_offset=None):
        place = traceback.extract_tb(trace)[-1].filename
        if isinstance(error, ImportError) and error.name:
            needed = error.name.partition(".")[0]
        elif place.endswith("accel_helpers/machine/backend.py"):
            needed = "a framework such as TensorFlow"
        elif place.endswith(("subprocess.py", "threading.py", "socket.py")):
            needed = "a process, a thread or a port of its own"
        elif missing and (isinstance(error, NameError | LookupError) or "/accel_helpers/" in place):
            needed = f"what an earlier cell makes with {missing[0]} ({kind.__name__}: {error})"
        else:
            return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        missing.append(needed)
        print(f"Not in a browser: this cell needs {needed}. Go on; the site shows what comes out.")

    get_ipython().set_custom_exc((Exception,), say)


start()
del start  # what stands here is in the learner's own names
