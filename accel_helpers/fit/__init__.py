"""Training: a call of fit, timed, taken apart, changed, or kept on the device."""
