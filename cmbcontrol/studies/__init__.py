"""Studies: many runs with parameters that vary, on all cores or a cluster, and their statistics."""

from .case import LinearCase as LinearCase
from .case import MachineCase as MachineCase
from .evaluation import sobol_indices as sobol_indices
from .folder import open_rows as open_rows
from .frequency_response import FrequencyResponse as FrequencyResponse
from .measures import bandwidth as bandwidth
from .measures import closest_singularity as closest_singularity
from .measures import damping as damping
from .measures import delay_margin as delay_margin
from .measures import disk_margin as disk_margin
from .measures import dissipated_energy as dissipated_energy
from .measures import final_error as final_error
from .measures import gain_margin as gain_margin
from .measures import motor_energy as motor_energy
from .measures import overshoot as overshoot
from .measures import peak_effort as peak_effort
from .measures import peak_multiplier as peak_multiplier
from .measures import peak_reaction as peak_reaction
from .measures import phase_margin as phase_margin
from .measures import rms_error as rms_error
from .measures import settling_time as settling_time
from .measures import share_at_limits as share_at_limits
from .measures import slowest_pole as slowest_pole
from .measures import smallest_actuation as smallest_actuation
from .measures import worst_conditioning as worst_conditioning
from .measures import worst_error as worst_error
from .study import Study as Study
from .study import study as study
from .study_file import StudyFile as StudyFile
from .study_file import read_study as read_study
from .variation import Vary as Vary

__all__ = [
    "FrequencyResponse",
    "LinearCase",
    "MachineCase",
    "Study",
    "StudyFile",
    "Vary",
    "bandwidth",
    "closest_singularity",
    "damping",
    "delay_margin",
    "disk_margin",
    "dissipated_energy",
    "final_error",
    "gain_margin",
    "motor_energy",
    "open_rows",
    "overshoot",
    "peak_effort",
    "peak_multiplier",
    "peak_reaction",
    "phase_margin",
    "read_study",
    "rms_error",
    "settling_time",
    "share_at_limits",
    "slowest_pole",
    "smallest_actuation",
    "sobol_indices",
    "study",
    "worst_conditioning",
    "worst_error",
]
