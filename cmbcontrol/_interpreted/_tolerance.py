"""The tolerances of the kernels, under the name by which kernels ask for them here."""

from .._tolerance import *  # noqa: F403
