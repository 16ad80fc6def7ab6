"""Training on a Keras model: its epochs timed, a step taken apart, a fit that stays on the device.

`images` loads the pictures that it is trained on.
"""
