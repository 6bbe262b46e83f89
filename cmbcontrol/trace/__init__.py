"""Straight-line code of one machine: kernels run on symbols, and the expressions that they make are compiled."""
