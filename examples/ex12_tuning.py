"""One gain for nine configurations and three payloads of the five-bar, and PD gains from simulations.

The nominal LQR is designed for the unloaded machine in the middle configuration, the robust gain for 27 linear models
at once. Both are judged on the nonlinear machines, linearized where they come to rest. Then bandwidth and damping ratio
of projected inverse dynamics are searched for a machine with a delay and a payload that the law does not know.
"""

from __future__ import annotations

from functools import cache

from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import controllers, design, plants, plot
from cmbcontrol.plot.figure import new_figure

DRIVEN = ("left", "right")
TIP = (1.5, 0.0, 0.0)  # of the left upper link, m
PAYLOADS = (0.0, 2.0, 4.0)  # kg
POSES = {f"({a}, {b})": {"left": a, "right": b} for a in (1.9, 2.3, 2.7) for b in (0.4, 0.8, 1.2)}  # rad
REGION = design.PoleRegion(decay=3.0, damping=0.6, radius=40.0)
INSIDE = design.PoleRegion(decay=3.5, damping=0.6, radius=40.0)  # a loaded machine rests aside of its configuration


def machines() -> dict[str, cmb.Mechanism]:
    """The five-bar with each payload at its tip."""
    return {f"{m:g} kg": design.with_payload(plants.five_bar(), "left_upper", m, TIP) for m in PAYLOADS}


@cache
def robust_gain() -> tuple[design.RobustFeedback, design.Certificate, design.Certificate]:
    """The gain for all models; certificates of it and of the nominal LQR on the nonlinear machines."""
    family = machines()
    models = design.model_family(family, POSES, coordinates=DRIVEN)
    found = design.robust_state_feedback(models, INSIDE)
    robust = found.law(models["2 kg, (2.3, 0.8)"])
    lqr = design.lqr(models["0 kg, (2.3, 0.8)"], Q={"left": 100.0, "right": 100.0}, R=0.01)
    return found, design.certify(family, robust, POSES, REGION), design.certify(family, lqr, POSES, REGION)


def make(bandwidth: float, damping_ratio: float) -> dict[str, object]:
    """A point-to-point motion, 10 ms late, with a payload of 2 kg that the law does not know."""
    nominal, loaded = plants.five_bar(), machines()["2 kg"]
    path = cmb.Quintic([2.1, 1.0], [2.4, 0.7], duration=0.6)
    law = controllers.ProjectedInverseDynamics(
        nominal, DRIVEN, path, bandwidth=bandwidth, damping_ratio=damping_ratio, period=0.01
    )
    chain = controllers.WithModel(nominal, law) | controllers.Saturation(120.0) | controllers.Delay(0.01)
    q0 = loaded.assemble(left=2.1, right=1.0)
    return {
        "plant": loaded, "controller": chain, "q0": q0, "t_end": 1.2, "output_times": 0.01, "rtol": 1e-6, "atol": 1e-6,
    }  # fmt: skip


@cache
def tuned(max_evaluations: int = 60) -> design.TuneResult:
    """Gains with the smallest tracking error; a jerky effort costs, too."""
    bounds = {
        "bandwidth": design.Range(2.0, 60.0, log=True, unit="rad/s", start=5.0),
        "damping_ratio": design.Range(0.3, 2.0, unit="1", start=1.0),
    }
    cost = design.weighted_cost(
        error=(1.0, design.error_cost("ISE")), roughness=(1e-9, design.effort_cost(rate=True))
    )  # fmt: skip
    return design.tune(make, bounds, cost, max_evaluations=max_evaluations)


def main() -> dict[str, float]:
    """How many pole sets are inside, and what the search found."""
    found, robust, lqr = robust_gain()
    results = {
        "robust gain: models inside of the region": sum(case.inside for case in found.certificate.cases),
        "robust gain: decay by one Lyapunov matrix, 1/s": found.common_decay,
        "robust gain: nonlinear machines inside": sum(case.inside for case in robust.cases),
        "nominal LQR: nonlinear machines inside": sum(case.inside for case in lqr.cases),
        "nominal LQR: slowest pole, 1/s": max(case.poles.real.max() for case in lqr.cases),
        "robust gain: slowest pole, 1/s": max(case.poles.real.max() for case in robust.cases),
    }
    search = tuned()
    results |= {f"tuned {name}": value for name, value in search.gains.items()}
    first = float(search.data["cost"][0])
    return results | {"tuned cost over that of the start": search.cost / first, "runs": search.evaluations}


def figure() -> Figure:
    """Poles of the 27 nonlinear machines under both laws, and the search for PD gains."""
    _, robust, lqr = robust_gain()
    drawn = new_figure(7.2, 9.6)
    maps, search = drawn.subfigures(2, 1, height_ratios=(1.1, 1.0))
    axes = maps.subplots(2, 1, sharex=True, sharey=True)
    for ax, certificate, title in zip(axes, (lqr, robust), ("LQR of one model", "one gain for all"), strict=True):
        plot.pole_sets(certificate, ax=ax, legend=ax is axes[0])
        inside = sum(case.inside for case in certificate.cases)
        ax.set_title(f"{title}: {inside} of {len(certificate.cases)} inside", fontsize=9, loc="left")
        ax.label_outer()
    plot.tuning(tuned(), axes=search.subplots(3, 1, sharex=True))
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:50} {value:.4g}")
    print("drawn:", plot.save(figure(), "ex12_tuning.png"))
