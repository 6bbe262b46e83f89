"""Time: closed-loop simulation and its results."""
