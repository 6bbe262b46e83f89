"""Figures of runs, models and machines: every function returns the figure, which notebooks and pyplot show.

In a notebook, and in a script that uses `matplotlib.pyplot` with windows, figures are known to pyplot: the end of a
cell or ``plt.show()`` shows them. Elsewhere nothing is kept of them.
"""

from .actuation import actuation as actuation
from .comparison import comparison as comparison
from .duty import effort_over_speed as effort_over_speed
from .figure import save as save
from .frequency import bode as bode
from .goals import goals as goals
from .loops import nichols as nichols
from .loops import nyquist as nyquist
from .machine import animate as animate
from .machine import mechanism as mechanism
from .measured import measured_response as measured_response
from .modes import animate_mode as animate_mode
from .modes import modes as modes
from .mu import mu as mu
from .pole_sets import pole_sets as pole_sets
from .poles import poles as poles
from .profile import profile as profile
from .root_locus import root_locus as root_locus
from .sigma import sigma as sigma
from .studies import distribution as distribution
from .studies import envelope as envelope
from .studies import pareto as pareto
from .studies import scatter as scatter
from .studies import tornado as tornado
from .time import accuracy as accuracy
from .time import forces as forces
from .time import reports as reports
from .time import responses as responses
from .tuning import tuning as tuning

__all__ = [
    "accuracy",
    "actuation",
    "animate",
    "animate_mode",
    "bode",
    "comparison",
    "distribution",
    "effort_over_speed",
    "envelope",
    "forces",
    "goals",
    "measured_response",
    "mechanism",
    "modes",
    "mu",
    "nichols",
    "nyquist",
    "pareto",
    "pole_sets",
    "poles",
    "profile",
    "reports",
    "responses",
    "root_locus",
    "save",
    "scatter",
    "sigma",
    "tornado",
    "tuning",
]
