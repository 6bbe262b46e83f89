"""Signals of pages: groups by unit, names, colours."""

from itertools import pairwise

import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.plot.signals import SignalStyles
from cmbcontrol.plot.style import DISTINCT, styles
from cmbcontrol.viewer.curves import curves_of, dashes_of

from .runs import singular, tracked


def by_label(run):
    told = curves_of(run)
    return told, {(g["label"], g["unit"]): g for g in told["groups"]}


def test_values_and_units():
    run = tracked("stewart", 0.2)
    told, groups = by_label(run)
    legs = groups["joint travel", "m"]
    for signal in legs["signals"]:
        assert np.allclose(signal["values"], run.q.sel(position=signal["name"]), rtol=1e-6)
    assert ("joint angle", "rad") in groups and ("joint speed", "m/s") in groups
    assert all(signal["values"].dtype == np.float32 for g in told["groups"] for signal in g["signals"])
    assert np.array_equal(told["times"], run.time)


def test_first_come_the_task_the_efforts_and_the_constraint_forces():
    told, _ = by_label(tracked("stewart", 0.2))
    first = [told["groups"][i] for i in told["shown"]]
    assert [g["label"] for g in first] == ["tracking, reference dotted", "motor effort", "multiplier"]
    assert first[0]["unit"] == "m"
    free = simulate(plants.five_bar(), q0=plants.five_bar().assemble(left=2.1, right=1.0), t_end=0.1)
    told, _ = by_label(free)
    assert told["groups"][told["shown"][0]]["label"] == "joint angle"
    assert not any(g["label"] == "motor effort" for g in told["groups"])


def test_a_reference_goes_with_what_follows_it():
    run = tracked("five-bar", 0.2)
    _, groups = by_label(run)
    value, reference = groups["tracking, reference dotted", "rad"]["signals"][:2]
    assert reference["of"] == value["name"] == "left" and reference["color"] == value["color"] and reference["dash"]
    assert np.allclose(reference["values"] - value["values"], run.error.sel(controlled="left"), atol=1e-6)


def test_colours_are_those_of_the_figures():
    run = tracked("five-bar", 0.1)
    _, groups = by_label(run)
    styles = SignalStyles(run)
    for label, unit in (("joint angle", "rad"), ("joint rate", "rad/s")):
        for signal in groups[label, unit]["signals"]:
            assert signal["color"] == styles.coordinates[signal["name"]]["color"]


def test_errors_are_above_rounding():
    _, groups = by_label(singular())
    for key in (("loop opening", "m"), ("energy error", "J"), ("conditioning", "1")):
        assert groups[key]["log"]
    assert all((s["values"] > 0.0).all() for s in groups["loop opening", "m"]["signals"])


def test_many_signals_are_hidden_at_first():
    _, groups = by_label(tracked("stewart", 0.1))
    group = groups["joint angle", "rad"]
    shown = [signal["shown"] for signal in group["signals"]]
    assert len(shown) > 8 and sum(shown) == 8 and shown == sorted(shown, reverse=True)


def test_the_eight_curves_that_are_shown_differ_by_dashes_alone():
    _, groups = by_label(tracked("stewart", 0.1))
    for label, unit in (("joint angle", "rad"), ("multiplier", "N")):
        shown = [tuple(signal["dash"]) for signal in groups[label, unit]["signals"] if signal["shown"]]
        assert len(shown) == len(set(shown)) == 8 and shown.count(()) == 1
    legs = groups["tracking, reference dotted", "m"]["signals"]
    references = {tuple(signal["dash"]) for signal in legs if "of" in signal}
    assert len(references) == 1 and not references & {tuple(signal["dash"]) for signal in legs if "of" not in signal}


@pytest.mark.parametrize("n", [8, DISTINCT, DISTINCT + 1, 200])
def test_curves_differ_by_colour_and_dashes(n):
    looks = [(str(look["color"]), tuple(dash)) for look, dash in zip(styles(n), dashes_of(styles(n)), strict=True)]
    assert len(set(looks)) == n
    assert all(a[1] != b[1] for a, b in pairwise(looks))
