"""A training step, compiled for a TPU that is not there; the compiler is installed on request.

>>> import accel_helpers as ah
>>> callable(ah.tpu.compile_training_step)
True
"""

from accel_helpers.machine.doctor import tpu_recipe as recipe
from accel_helpers.tpu.compiler import compile_training_step
from accel_helpers.tpu.environment import install, remove, status

__all__ = ["compile_training_step", "install", "recipe", "remove", "status"]
