"""The work of activation functions, for `layers`."""

# Name -> operations for each element, (forward, backward), from the formulas. The exponential, the
# hyperbolic tangent and the error function themselves are not counted.
ACTIVATIONS = {
    "linear": (0, 0),
    "relu": (1, 2),
    "relu6": (2, 4),
    "leaky_relu": (3, 3),
    "elu": (3, 4),
    "sigmoid": (3, 3),
    "tanh": (0, 4),
    "silu": (4, 5),
    "hard_sigmoid": (4, 5),
    "hard_silu": (5, 8),
    "gelu": (4, 8),
    "exponential": (0, 1),
    "softmax": (4, 4),
    "log_softmax": (4, 3),
}
