"""Measured side by side: this package and other tools on the same machines, in one run."""
