"""The installable package. It depends on nothing, so that installing it changes nothing.

Colab preinstalls TensorFlow, NumPy, ipywidgets and matplotlib in builds of its own. A dependency
named here could replace one of them, so everything that a local machine needs is in an extra.
"""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
VERSION = re.search(
    r'^__version__ = "([^"]+)"', (HERE / "accel_helpers" / "__init__.py").read_text("utf-8"), re.M
).group(1)

# ipywidgets must not ask for 8: Colab's own widget manager stops at 7.7.1.
JUPYTER = [
    "jupyterlab>=4.1",
    "ipykernel",
    "ipywidgets>=7.7.1",
    "matplotlib",
    "nbclient>=0.10",
    "nbconvert>=7.16",
    "nbformat",
    "scikit-learn",
    "tqdm",
    "keras>=3.8",
    # Lesson 04 trains on JAX, as Colab's TPU runtime does. 0.10.2, the newest for Python 3.11,
    # computes wrongly on CPUs: https://github.com/jax-ml/jax/issues/39103
    "jax!=0.10.2",
]
# The small TensorFlow build exists for this one platform only.
SMALL_BUILD = 'platform_system == "Linux" and platform_machine == "x86_64"'
SMALL_BUILD_MISSING = 'platform_system != "Linux" or platform_machine != "x86_64"'

EXTRAS = {
    # a machine without an NVIDIA driver
    "course": [
        *JUPYTER,
        f"tensorflow-cpu>=2.18; {SMALL_BUILD}",
        f"tensorflow>=2.18; {SMALL_BUILD_MISSING}",
    ],
    # Linux with an NVIDIA driver; never together with "course": the two builds overwrite each other
    "cuda": [*JUPYTER, "tensorflow[and-cuda]>=2.18"],
    "test": [
        "nbval==0.11.0",  # 0.11.0 is what the rules for stored outputs were tried with
        "pytest>=9,<10",
        "pytest-timeout",
        "pytest-xdist",
        "hypothesis",
        "mypy>=1.18,<3",
        "ruff>=0.17.5,<0.18",  # a new minor version formats differently
        "playwright",
        "axe-playwright-python",  # brings axe-core along: nothing is fetched for it
        "psutil",
        "uv",  # installs the TPU compiler where there is no pip
        "setuptools>=64",  # these two build the wheel that the tests install, without a network
        "wheel",
    ],
    # `make site` and its tests; comes on top, and only when it is asked for
    "site": [
        "sphinx>=9,<10",
        "myst-nb>=1.4,<2",
        "sphinx-book-theme>=1.4,<2",
        "sphinx-copybutton",
        "sphinx-revealjs>=3.2,<4",  # brings the reveal.js of the slides: nothing is fetched for it
        "genanki",
        "jupyterlite-core>=0.8.6,<0.9",
        "jupyterlite-pyodide-kernel>=0.8.6,<0.9",
        "jupyter-server",  # without it JupyterLite leaves the lessons out, and says nothing
    ],
}

setup(
    name="accel-helpers",
    version=VERSION,
    description="Measure what a GPU or TPU does for a Keras model, and believe only that",
    license="MIT",
    author="The accelerator course authors",
    python_requires=">=3.11",
    packages=find_packages(include=["accel_helpers", "accel_helpers.*"]),
    package_data={
        "accel_helpers": [
            "py.typed",
            "course/data/*",
            "course/questions/*.toml",
            "course/templates/*",
            "course/tpu_programs/*.json",
            "course/verdicts/*.md",
            "data/*.csv",
            "data/*.toml",
            "data/templates/*",
            "data/**/*.json",
        ]
    },
    extras_require=EXTRAS,
    zip_safe=False,
)
