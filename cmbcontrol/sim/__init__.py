"""Closed-loop simulation in time, and its results."""
