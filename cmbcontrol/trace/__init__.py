"""Straight-line code of one machine: its kernels run on symbols, and what they compute is compiled."""
