"""Studies: many runs with parameters that vary, on all cores or a cluster, and what they say."""

from .case import MachineCase as MachineCase
from .evaluation import sobol_indices as sobol_indices
from .measures import damping as damping
from .measures import dissipated_energy as dissipated_energy
from .measures import final_error as final_error
from .measures import motor_energy as motor_energy
from .measures import peak_effort as peak_effort
from .measures import peak_multiplier as peak_multiplier
from .measures import rms_error as rms_error
from .measures import settling_time as settling_time
from .measures import share_at_limits as share_at_limits
from .measures import slowest_pole as slowest_pole
from .measures import worst_conditioning as worst_conditioning
from .measures import worst_error as worst_error
from .study import Study as Study
from .study import study as study
from .variation import Vary as Vary

__all__ = [
    "MachineCase",
    "Study",
    "Vary",
    "damping",
    "dissipated_energy",
    "final_error",
    "motor_energy",
    "peak_effort",
    "peak_multiplier",
    "rms_error",
    "settling_time",
    "share_at_limits",
    "slowest_pole",
    "sobol_indices",
    "study",
    "worst_conditioning",
    "worst_error",
]
