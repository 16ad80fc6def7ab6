"""Training: plain, resident, replicated, resumed, served."""
