"""What a newer list of Colab's packages changes of those that the lessons use.

python tools/colab_check.py FREEZE    what `pip freeze` said in Colab
"""

import re
import sys
from pathlib import Path

import lesson

sys.path.append(str(lesson.ROOT / "tests" / "colab"))
import replica


def read(path):
    """Read a `pip freeze`: the version of each package."""
    lines = re.findall(r"^([\w.-]+)==(\S+)", path.read_text("utf-8"), re.M)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in lines}


def changes(new):
    """Say what is not as it was, one line for each of the packages that the lessons use."""
    runtime = replica.TPU if "libtpu" in new else replica.CPU
    old = read(runtime.pins)
    # `pip freeze` leaves pip and setuptools out.
    used = {*runtime.packages, "jaxlib"} - {"pip", "setuptools"}
    for name in sorted(used & old.keys()):
        now = new.get(name, "gone")
        if now != old[name]:
            yield f"{name} {old[name]} -> {now}"


if __name__ == "__main__":
    print("\n".join(changes(read(Path(sys.argv[1])))) or "nothing changed")
