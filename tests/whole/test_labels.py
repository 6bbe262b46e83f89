"""Labels of figures do not lie over one another and are not cut, whatever a run is like."""

from contextlib import nullcontext
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from matplotlib.text import Text

import cmbcontrol as cmb
from cmbcontrol import controllers, plants, plot
from cmbcontrol.plot import style
from cmbcontrol.plot.figure import narrow, new_figure
from cmbcontrol.studies import study

FIGURES = (plot.responses, plot.forces, plot.accuracy, plot.reports)
KINDS = ("singular passage", "impact foot", "upper limit boom", "released grasp", "level")
_TOUCH = 1.0  # pixels: boxes have the height of a line, with room above and below most letters


def labels(figure):
    """Texts that are drawn, each with its box."""
    for _ in range(2):  # as files are written: ticks follow from the layout, and the layout from the ticks
        figure.draw_without_rendering()
    hidden = {id(text) for ax in figure.axes if not ax.get_visible() for text in ax.findobj(Text)}
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            drawn = axis._update_ticks() if axis.get_visible() else []
            ticks = (*axis.get_major_ticks(), *axis.get_minor_ticks())
            hidden |= {id(t) for tick in ticks if tick not in drawn for t in (tick.label1, tick.label2)}
    found = []
    for text in figure.findobj(Text):
        if text.get_text() and id(text) not in hidden and _is_seen(text):
            found.append((text.get_text(), text.get_window_extent()))
    return found


def _is_seen(text):
    return text.get_visible() and (text.axes is None or text.axes.axison)


def faults(figure):
    """Pairs of texts that lie over one another, and texts that leave the figure."""
    page, found = figure.bbox, labels(figure)
    cut = [text for text, box in found if box.x0 < -_TOUCH or box.y0 < -_TOUCH or box.x1 > page.x1 + _TOUCH
           or box.y1 > page.y1 + _TOUCH]  # fmt: skip
    over = []
    for (a, one), (b, other) in combinations(found, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        tall = min(one.y1, other.y1) - max(one.y0, other.y0)
        if wide > _TOUCH and tall > _TOUCH:
            over.append((a, b))
    return cut, over


@cache
def machines():
    """Short runs of machines of several kinds: their names, units and numbers of signals are used."""
    made = []
    for name, effort in (("five-bar", 80.0), ("excavator", None), ("delta", None)):
        entry = plants.catalogue[name]
        plant, q, _ = entry.start(**({"effort": effort} if effort else {}))
        task = entry.study
        path = cmb.Sine(task.centre, task.amplitude, task.frequency_hz, task.phase)
        law = controllers.ProjectedInverseDynamics(plant, task.coordinates, path, bandwidth=task.bandwidth)
        made.append(cmb.simulate(plant, law, q, t_end=0.01, output_times=0.005))
    plant, q, v = plants.catalogue["n-four-bar"].start(n=12)
    return [*made, cmb.simulate(plant, q0=q, v0=v, t_end=0.01, output_times=0.005)]


def signal(rng, t):
    """A signal of any size, offset and form."""
    s = (t - t[0]) / (t[-1] - t[0])
    form = rng.integers(6)
    y = (
        np.zeros_like(s), np.ones_like(s), s > rng.uniform(), np.sin(2.0 * np.pi * rng.uniform(0.3, 20.0) * s + 3.0),
        np.exp(-rng.uniform(1.0, 30.0) * s), rng.normal(size=s.size),
    )[form].astype(float)  # fmt: skip
    size = 10.0 ** rng.uniform(-9.0, 8.0)
    y = size * y + rng.choice([0.0, 1.0, rng.uniform(0.0, 1e5)]) * size * rng.uniform(-1.0, 1.0)
    if rng.uniform() < 0.1:
        y[rng.integers(s.size) :] = np.nan
    return y


def random_run(rng):
    """A run with the names of a machine and random numbers."""
    run = machines()[rng.integers(4)]
    t = 10.0 ** rng.uniform(-3.0, 3.0) * np.linspace(0.0, 1.0, rng.integers(3, 80)) + rng.choice([0.0, 7.0])
    data = run.data.isel(time=np.zeros(t.size, dtype=int)).assign_coords(time=("time", t, {"units": "s"}))
    for name in data.data_vars:
        values = data[name]
        if values.dims[:1] == ("time",) and values.dtype.kind == "f" and name not in ("conditioning", "potential"):
            random = np.array([signal(rng, t) for _ in range(values[0].size)]).T
            data[name] = (values.dims, random.reshape(values.shape), values.attrs)
    data["conditioning"] = (("time",), 10.0 ** rng.uniform(-8.0, 0.0, t.size), {"units": "1"})
    count = int(rng.choice([0, 0, 1, 3, 12]))
    events = {
        "event_time": rng.uniform(t[0], t[-1], count), "event_kind": rng.choice(KINDS, count).astype(str),
        "event_conditioning": 10.0 ** rng.uniform(-12.0, 0.0, count),
    }  # fmt: skip
    kept = data.drop_vars([n for n in data.data_vars if "event" in data[n].dims])
    return cmb.Simulation(kept.assign({name: ("event", values) for name, values in events.items()}), run.plant)


def figure_of(k, seed):
    """The k-th figure of random runs: all kinds, every other one for a phone."""
    rng = np.random.default_rng([seed, k])
    run, make = random_run(rng), FIGURES[k % 4]
    if make is plot.reports and "report" not in run.data:
        make = plot.responses
    if k % 8 < 4:
        return make(run)
    with narrow():
        return make(run)


def assert_labels_stand_alone(k):
    cut, over = faults(figure_of(k, seed=11))
    assert not cut and not over, (k, cut, over)


def test_the_check_sees_what_is_wrong():
    figure = new_figure(3.0, 2.0, layout="none")
    figure.text(0.5, 0.5, "one")
    figure.text(0.52, 0.5, "other")
    figure.text(0.95, 0.2, "beyond the edge")
    assert faults(figure) == (["beyond the edge"], [("one", "other")])


@pytest.mark.parametrize("k", range(16))
def test_labels_of_random_runs(k):
    assert_labels_stand_alone(k)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_labels_of_five_hundred_random_runs(part):
    for k in range(16 + part, 516, 10):
        assert_labels_stand_alone(k)


@pytest.mark.parametrize("around", [nullcontext, narrow])
@pytest.mark.parametrize("name", ["boom_cylinder_of_the_left_excavator", "a", "x y"])
def test_long_names_are_whole(name, around):
    t = np.linspace(0.0, 1.0, 20)
    with around():
        figure, axes = style.panels(None, 2)
        for ax in axes:
            for k in range(5):
                style.curve(ax, t, t + k, color=style.COLORS[k], label=f"{name}_{k}")
            style.dress(ax, "signal (rad)")
            style.beside(ax)
        style.time_axis(axes, t)
    assert faults(figure) == ([], [])


def random_study(k):
    """A study of a few runs whose measures have any size, and whose parameters have names of any length."""
    rng = np.random.default_rng([17, k])
    names = ["p" * int(rng.integers(1, 30)) + str(i) for i in range(rng.integers(1, 9))]
    size = 10.0 ** rng.uniform(-8.0, 7.0)
    far = size * rng.choice([0.0, 1.0, 1e4])

    def case(**p):
        return {"worst error": far + size * sum(p.values()), "a measure of a long name": size * min(p.values())}

    return study(case, dict.fromkeys(names, (0.0, 1.0)), runs=30, seed=k), (far, far + size)


@pytest.mark.parametrize("around", [nullcontext, narrow])
@pytest.mark.parametrize("k", [0, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 24))])
def test_labels_of_random_studies(k, around):
    found, (low, high) = random_study(k)
    with around():
        made = [
            plot.distribution(found, "worst error", low=low, high=high),
            plot.scatter(found),
            plot.tornado(found.sensitivities("worst error")),
            plot.pareto(found, "worst error", "a measure of a long name"),
        ]
    assert [faults(figure) for figure in made] == [([], [])] * 4


@pytest.mark.parametrize("around", [nullcontext, narrow])
@pytest.mark.parametrize("name", ["five-bar", "pendulum", "three-rrr"])
def test_labels_of_drawings_and_poles(name, around):
    plant, q, _ = plants.catalogue[name].start()
    lin = cmb.linearize(plant, cmb.trim(plant, q))
    with around():
        made = [plot.mechanism(plant, q), plot.poles(lin)]
    assert [faults(figure) for figure in made] == [([], [])] * 2
