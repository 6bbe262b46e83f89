"""What users pass in: numbers, arrays, flags, and what is none."""

import dataclasses
import inspect

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Mechanism, Revolute, _check
from tests.fixtures import other_arrays, refuses

NO_NUMBERS = {
    "text": "12",
    "texts": ["1", "2"],
    "complex": np.array([1.0 + 1.0j, 2.0]),
    "complex, real in truth": np.array([1.0 + 0.0j, 2.0]),
    "truth values": np.array([True, False]),
    "a truth value among numbers": [1.0, True],
    "objects": np.array([1.0, None]),
    "None": None,
    "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "ragged": [[1.0], 2.0],
    "dates": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("what", NO_NUMBERS)
def test_what_is_no_number_is_none(what):
    refuses(lambda: _check.vector(NO_NUMBERS[what], 2, "q"), "q must be 2 numbers", kind=TypeError)
    refuses(lambda: _check.gain(NO_NUMBERS[what], 2, "kp"), "kp must be a number", kind=TypeError)


@pytest.mark.parametrize(
    "x", [[1, 2], (1.0, 2), np.array([1, 2], dtype=np.int8), np.float32([1, 2]), range(1, 3), np.array([1.0, 2.0])[::1]]
)
def test_all_kinds_of_numbers_are_numbers(x):
    found = _check.vector(x, 2, "q")
    assert found.dtype == np.float64 and found.tolist() == [1.0, 2.0] and found.flags.carray


def test_vectors_are_handed_on_and_read_only_ones_copied():
    x = np.array([1.0, 2.0])
    assert _check.vector(x, 2, "q") is x
    x.setflags(write=False)
    assert _check.vector(x, 2, "q").flags.writeable
    M = np.eye(2)
    M.setflags(write=False)
    assert _check.matrix(M, (2, 2), "M").flags.writeable


@pytest.mark.parametrize(
    "x",
    ["1.0", b"1", True, np.True_, None, 1j, np.complex128(1.0), np.array("1"), [1.0], np.ones(1), np.ma.masked, {}],
)
def test_single_numbers(x):
    assert [_check.number(y, "mass") for y in (1, 1.0, np.int8(1), np.float32(1), np.array(1.0))] == [1.0] * 5
    refuses(lambda: _check.number(x, "mass"), "mass must be a number", kind=TypeError)


def test_whole_numbers_and_truth_values():
    assert _check.count(np.int32(3), "n") == 3 and _check.flag(np.True_, "f") is True and _check.flag(0, "f") is False
    refuses(lambda: _check.count(2.5, "n"), "n must be a whole number >= 1, got 2.5", kind=ValueError)
    refuses(lambda: _check.count(True, "n"), "n must be a whole number", kind=TypeError)
    refuses(lambda: _check.count(11, "n", 1, 10), "from 1 to 10, got 11", kind=ValueError)
    refuses(lambda: _check.flag("no", "f"), "f must be True or False, got 'no'", kind=TypeError)


def test_plain_arrays_are_handed_on_and_others_copied():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert _check.plain(x) is x and _check.matrix(x, (2, 2), "x") is x and _check.vector(x[0], 2, "x").base is x
    for other in (*other_arrays(x).values(), x.astype(int), x.tolist()):
        made = _check.plain(other)
        assert made is not other and made.flags.carray and made.dtype == np.float64
        assert made.tolist() == x.tolist()


def test_finite_is_told_from_numbers_whose_squares_are_not():
    assert _check.vector([1e200, -1e200], 2, "x").tolist() == [1e200, -1e200]
    assert _check.matrix([[1e200], [-1e200]], (2, 1), "x").tolist() == [[1e200], [-1e200]]
    assert _check.vector(np.full(40, 1e200), 40, "x").tolist() == [1e200] * 40
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"x must be finite, but 30 = "):
            _check.vector(np.where(np.arange(40) == 30, bad, 1e200), 40, "x")
        with pytest.raises(ValueError, match=r"x must be finite, but 1 = "):
            _check.vector(np.array([1e200, bad]), 2, "x")
        with pytest.raises(ValueError, match="x must be finite, got"):
            _check.matrix(np.array([[1e200], [bad]]), (2, 1), "x")


COORDINATES = ("boom", "boom_cylinder", "boom_cylinder_effort", "stick")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("boom_cylinder_length", "boom_cylinder"),  # goes on from a known one
        ("boom_cyl", "boom_cylinder"),  # a known one goes on from it
        ("boom_cylinder_efort", "boom_cylinder_effort"),  # a slip
        ("Boom", "boom"),
    ],
)
def test_the_name_that_was_meant(given, meant):
    assert f"did you mean {meant!r}?" in _check.unknown(given, COORDINATES, "coordinate")


def test_long_lists_of_names_are_cut():
    names = [f"row_{i}" for i in range(40)]
    message = _check.unknown("x", names, "row")
    assert "'row_11', and 28 more)" in message and "'row_12'" not in message
    assert "'row_15')" in _check.unknown("x", names[:16], "row")


def test_what_is_large_is_shown_by_its_kind():
    assert _check.shown(np.eye(30)) == "an array of shape (30, 30)"
    assert _check.shown({i: "x" * 20 for i in range(20)}) == "a mapping of 20 entries"
    assert "\n" not in _check.shown(["a" * 30 + "\n"] * 20)
    refuses(lambda: _check.vector({"a": 1.0}, 2, "u"), "a mapping has no order", kind=TypeError)


def test_values_by_name_shows_what_one_can_read():
    assert _check.values_by_name(("a", "b"), [1.0, 2.5]) == "a = 1, b = 2.5"
    assert _check.values_by_name((), [], "nothing") == "nothing"
    text = _check.values_by_name([f"x{i}" for i in range(200)], np.zeros(200))
    assert text.endswith("x11 = 0 and 188 more") and len(text) < 120


@pytest.mark.parametrize("size", [1e100, 1e200, 1.7e308])
def test_numbers_whose_squares_are_infinite_are_refused_by_name(size):
    """Whatever is computed with: of machines, states, efforts, times; what may be infinite may be as large."""
    plant = cmb.plants.five_bar()
    q, far = plant.assemble(left=2.1, right=1.0), [size, 0.0, 0.0, 0.0]
    rod, pin = Body("rod", 1.0, (0.5, 0, 0), (1, 1, 1)), Revolute("pin", "ground", "rod", axis=(0, 1, 0))
    calls = {
        "'left'": lambda: plant.assemble(left=size),
        "v must": lambda: cmb.forward_dynamics(plant, q, far),
        "u must": lambda: cmb.forward_dynamics(plant, q, [0.0] * 4, [size, 0.0]),
        "q must": lambda: cmb.forward_dynamics(plant, far, [0.0] * 4),
        "vdot must": lambda: cmb.inverse_dynamics(plant, q, [0.0] * 4, far),
        "v must ": lambda: plant.project_velocity(q, far),
        "v0 must": lambda: cmb.simulate(plant, None, q, far, t_end=1.0),
        "q0 must": lambda: cmb.simulate(plant, None, far, t_end=1.0),
        "t_end must": lambda: cmb.simulate(plant, None, q, t_end=size),
        "efforts u must": lambda: cmb.simulate(plant, [size, 0.0], q, t_end=1.0),
        "mass of body 'rod'": lambda: Body("rod", size),
        "com of 'rod'": lambda: Mechanism("m", [Body("rod", 1.0, (size, 0, 0))], [pin]),
        "'spring'": lambda: Mechanism("m", [rod], [pin], springs=[cmb.JointSpring("spring", "pin", size)]),
        "gravity": lambda: plant.with_parts(gravity=(0.0, -size, 0.0)),
        "load": lambda: plant.with_parts(loads=[cmb.Load("load", "left_upper", force=(size, 0, 0))]),
    }
    for told, call in calls.items():
        refuses(call, told.strip(), "1e+100", kind=ValueError)
    Mechanism("m", [rod], [pin], actuators=[cmb.Actuator("pin", effort=size)])
    assert np.isfinite(cmb.forward_dynamics(plant, q, [1e40, 0.0, 0.0, 0.0])).all()


@pytest.mark.parametrize("module", [cmb, cmb.controllers])
def test_a_wrong_keyword_is_answered_with_all_that_there_are(module):
    """Of all that people make by name: parts, laws, blocks, tasks, references, switches."""
    for name in module.__all__:
        made = getattr(module, name)
        if not isinstance(made, type) or name in MADE_BY_OTHERS or issubclass(made, BaseException):
            continue
        known = [n for n, p in inspect.signature(made).parameters.items() if p.kind is not p.VAR_POSITIONAL]
        if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(made).parameters.values()):
            continue  # hands them on
        with pytest.raises(TypeError) as caught:
            made(no_such_thing=1.0)
        assert str(caught.value) == f"{name} has no argument 'no_such_thing' (it takes {', '.join(known) or 'none'})"


# results and bases, which people do not make
MADE_BY_OTHERS = (
    "ClosedLoop", "LinearModel", "OperatingPoint", "Plant", "Simulation", "Status", "Terms",
    "Controller", "Drive", "EffortBlock", "Evaluation", "MotionLaw", "SensorBlock", "Task",
)  # fmt: skip


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Revolute("a", "b", "c", frame_b=None), "Revolute has no argument 'frame_b'; did you mean 'frame'?"),
        (lambda: cmb.Weld("w", "a", "b", frame=cmb.Frame()), "Weld has no argument 'frame'; did you mean 'frame_a'?"),
        (lambda: cmb.controllers.Saturation(limit=3.0), "Saturation has no argument 'limit'; did you mean 'limits'?"),
        (lambda: cmb.controllers.ComputedTorque(cmb.plants.five_bar(), cmb.Constant([2.1, 1.0]), bandwith=3.0),
         "ComputedTorque has no argument 'bandwith'; did you mean 'bandwidth'?"),
        (lambda: dataclasses.replace(cmb.Frame(), rotation=0.0), "Frame has no argument 'rotation'"),
        (lambda: Mechanism("m", [], [], spring=[]), "Mechanism has no argument 'spring'; did you mean 'springs'?"),
    ],
)  # fmt: skip
def test_the_keyword_that_was_meant(make, said):
    refuses(make, said, kind=TypeError)
