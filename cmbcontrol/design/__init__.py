"""Design of gains: from bandwidth, by LQR and Kalman filter, by matrix inequalities, by simulation."""

from .certificate import Case as Case
from .certificate import Certificate as Certificate
from .certificate import certify as certify
from .costs import effort_cost as effort_cost
from .costs import error_cost as error_cost
from .costs import overshoot_cost as overshoot_cost
from .costs import weighted_cost as weighted_cost
from .family import model_family as model_family
from .family import with_payload as with_payload
from .kalman import kalman as kalman
from .loop_goals import LoopGoal as LoopGoal
from .loop_goals import TunedLaw as TunedLaw
from .loop_goals import structured as structured
from .loop_tuning import TunedLoops as TunedLoops
from .loop_tuning import symmetrical_optimum as symmetrical_optimum
from .loop_tuning import tune_loops as tune_loops
from .lqr import bryson as bryson
from .lqr import lqr as lqr
from .mismatch import Mismatch as Mismatch
from .mismatch import mismatch as mismatch
from .mu_synthesis import mu_synthesis as mu_synthesis
from .pd_gains import pd_gains as pd_gains
from .pd_gains import pd_gains_from_poles as pd_gains_from_poles
from .pd_gains import sampled_pd_gains as sampled_pd_gains
from .regions import PoleRegion as PoleRegion
from .robust import Performance as Performance
from .robust import RobustFeedback as RobustFeedback
from .robust import robust_state_feedback as robust_state_feedback
from .scheduling import LinearGrid as LinearGrid
from .scheduling import ScheduleCheck as ScheduleCheck
from .scheduling import check_schedule as check_schedule
from .scheduling import linear_grid as linear_grid
from .synthesis import Synthesis as Synthesis
from .synthesis import loop_shaping as loop_shaping
from .synthesis import mixed_sensitivity as mixed_sensitivity
from .synthesis import optimal_feedback as optimal_feedback
from .tune import Range as Range
from .tune import TuneResult as TuneResult
from .tune import tune as tune
from .uncertain_loop import UncertainLoop as UncertainLoop
from .uncertain_loop import uncertain_loop as uncertain_loop

__all__ = [
    "Case",
    "Certificate",
    "LinearGrid",
    "LoopGoal",
    "Mismatch",
    "Performance",
    "PoleRegion",
    "Range",
    "RobustFeedback",
    "ScheduleCheck",
    "Synthesis",
    "TuneResult",
    "TunedLaw",
    "TunedLoops",
    "UncertainLoop",
    "bryson",
    "certify",
    "check_schedule",
    "effort_cost",
    "error_cost",
    "kalman",
    "linear_grid",
    "loop_shaping",
    "lqr",
    "mismatch",
    "mixed_sensitivity",
    "model_family",
    "mu_synthesis",
    "optimal_feedback",
    "overshoot_cost",
    "pd_gains",
    "pd_gains_from_poles",
    "robust_state_feedback",
    "sampled_pd_gains",
    "structured",
    "symmetrical_optimum",
    "tune",
    "tune_loops",
    "uncertain_loop",
    "weighted_cost",
    "with_payload",
]
