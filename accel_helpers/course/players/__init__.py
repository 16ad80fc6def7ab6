"""What can be stepped through: a matrix unit, and the threads of a warp."""
