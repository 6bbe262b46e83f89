"""Tolerances of the kernels, under the name by which traced kernels import them."""

from .._tolerance import *  # noqa: F403
