"""The tolerances of the kernels, under the name by which traced kernels ask for them."""

from .._tolerance import *  # noqa: F403
