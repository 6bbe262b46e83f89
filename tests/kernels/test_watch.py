"""Which steps event functions let pass, and that Python finds the same."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Contact, Event, Mechanism, Planar, Point
from cmbcontrol.kernels import watch


def looks(start, middle, end, armed, tolerance=0.0):
    n = len(start)
    arrays = (np.array(x, dtype=float) for x in (start, middle, end))
    return watch.Looks(
        np.full(n, tolerance),
        np.array(armed),
        np.full(n, -np.inf),
        *arrays,
        np.zeros(1),
        np.zeros(1),
        np.array([np.nan, np.inf, 1.0]),
        1e-9,
    )


class TestCones:
    def test_a_value_is_that_of_its_cone(self):
        rng = np.random.default_rng(3)
        y, normal, across = rng.standard_normal(6), rng.standard_normal(4), rng.standard_normal((4, 2))
        rows = np.array([5, 0, 2, 3])
        none = np.zeros(0)
        cones = watch.Cones(
            np.array([watch.CARRIED]),
            np.array([0, 4]),
            rows,
            normal,
            across,
            np.array([-0.7]),
            np.array([0.4]),
            none,
            rng.standard_normal(6),
            none,
            y,
            none,
        )
        expected = 0.4 + normal @ y[rows] - 0.7 * np.linalg.norm(across.T @ y[rows])
        assert watch.cone(cones, 0, watch.CARRIED) == pytest.approx(expected, rel=1e-14)
        assert watch.cone(cones, 0, watch.RATE) != pytest.approx(expected)


class TestSteps:
    @pytest.mark.parametrize(
        ("values", "armed", "crosses"),
        [
            ((-1.0, -0.9, -0.8), True, False),
            ((-1.0, -0.5, 0.1), True, True),  # above zero at the end
            ((-1.0, 0.1, -1.0), True, True),  # and back
            ((-0.2, -0.01, -0.2), True, True),  # the parabola's top is -0.01, and what is beyond it may be above
            ((0.1, 0.2, 0.3), False, False),  # has been above all the time
            ((0.1, -0.1, 0.3), False, True),
            ((0.1, 0.0, -0.1), False, True),
        ],
    )
    def test_which_may_cross(self, values, armed, crosses):
        assert watch.may_cross(looks(*([x] for x in values), [armed])) == crosses

    def test_what_is_below_zero_is_armed_but_not_right_after_its_event(self):
        of = looks([0.0, 0.0], [0.0, 0.0], [-1.0, -1.0], [False, False])
        of.last[:] = 2.0, 1.0
        watch.arm(of, 2.0 + 1e-10, of.end)
        assert of.armed.tolist() == [False, True]


def bar():
    """A bar that falls on one end, on a floor that rubs."""
    ends = [Point(n, "ground", "bar", (x, 0, 0), (x, 0, 0)) for n, x in (("left", -0.5), ("right", 0.5))]
    body = Body("bar", 1.0, (0, 0, 0), (1.0 / 12.0,) * 3)
    plant = Mechanism("bar", [body], [Planar("base", "ground", "bar")], ends, gravity=(0, -9.81, 0))
    contacts = [Contact(n, normal=(0.0, 1.0, 0.0), friction=0.3, restitution=0.4) for n in ("left", "right")]
    return plant, contacts


def test_python_that_looks_at_each_step_finds_the_same_to_the_last_bit():
    plant, contacts = bar()
    never = Event(lambda t, q, v: -1.0, "never")
    runs = [
        cmb.simulate(plant, None, [0.0, 0.6, 0.5], [0.3, 0.0, 0.0], t_end=1.5, switches=contacts, events=events)
        for events in ([], [never])
    ]
    kinds = [[(event["time"], event["kind"]) for event in run.events()] for run in runs]
    assert len(kinds[0]) > 10
    assert kinds[0] == kinds[1]
    assert np.array_equal(runs[0].q.values, runs[1].q.values)
    assert np.array_equal(runs[0].v.values, runs[1].v.values)
