"""Uncertain loops against loops of machines that are built anew, linearized one by one."""

import control
import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, linearize_closed_loop, plants, trim
from cmbcontrol.characteristics import Friction
from cmbcontrol.controllers import PID, FirstOrderActuator, ProjectedInverseDynamics
from cmbcontrol.design import uncertain_loop
from cmbcontrol.errors import InputError
from cmbcontrol.linear import uncertain_model
from tests.fixtures import refuses

DRIVEN = ("left", "right")
INTERVALS = {"left_upper_mass": (2.0, 8.0), "damping_left": (0.0, 2.0)}


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar()


@pytest.fixture(scope="module")
def model(plant):
    return uncertain_model(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), INTERVALS, coordinates=DRIVEN)


def pid(plant, **options):
    given = {"kp": 900.0, "ki": 300.0, "kd": 120.0} | options
    return PID(plant, Constant([2.1, 1.0]), coordinates=DRIVEN, **given)


LOOPS = {
    "continuous": (lambda plant: pid(plant), None),
    "sampled": (lambda plant: pid(plant, period=1e-3), None),
    "late by a part": (lambda plant: pid(plant, period=2e-3), {"left": 1e-3, "right": 2.5e-3}),
    "late by more": (lambda plant: pid(plant, period=1e-2), 0.015),
    "with a drive": (lambda plant: pid(plant, period=2e-3) | FirstOrderActuator(2e-3), 1e-3),
}


def anew(loop, values, law, delay):
    """Loop of a machine with these parameters."""
    machine = loop.model.machine(values)
    return linearize_closed_loop(machine, law, loop.nominal.point.q, coordinates=DRIVEN, delay=delay)


def drawn(seed, count):
    rng = np.random.default_rng(seed)
    return [{name: rng.uniform(*ends) for name, ends in INTERVALS.items()} for _ in range(count)]


def closed(loop, values, numbers=None):
    """Matrix of the uncertain loop at values, with numbers of further blocks."""
    x = dict(zip((p.name for p in loop.model.parameters), loop.model.normalised(values), strict=True)) | (numbers or {})
    Delta = np.zeros(loop.D_zw.shape[::-1])
    w = z = 0
    for b in loop.blocks:
        if b.kind != "full":
            Delta[w : w + b.size, z : z + b.size] = x.get(b.name, 0.0) * np.eye(b.size)
        w, z = w + b.shape[0], z + b.shape[1]
    return loop.A + loop.B_w @ Delta @ np.linalg.solve(np.eye(len(loop.C_z)) - loop.D_zw @ Delta, loop.C_z)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_machines_built_anew(plant, model, name):
    """Poles of machines at random values are those of the uncertain loop: exact in continuous time."""
    make, delay = LOOPS[name]
    law = make(plant)
    loop = uncertain_loop(model, law, delay=delay)
    assert loop.dt == (law.period or 0.0) and loop.checked == 8
    assert loop.remainder < (1e-9 if name == "continuous" else 1e-6)
    for values in drawn(1, 6):
        known = anew(loop, values, law, delay)
        scale = np.abs(known.A - np.eye(len(known.A)) * bool(loop.dt)).max()
        assert np.abs(closed(loop, values) - known.A).max() < 1e-6 * scale
    text = str(loop)
    assert "left_upper_mass 2 to 8 kg" in text and "machines built anew" in text


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] * (x in ("late by more", "with a drive"))) for x in LOOPS]
)
def test_what_is_proven_holds_for_machines_built_anew(plant, model, name):
    """Gains of random machines are below the bound, which the worst one nearly reaches; so is the disk margin."""
    make, delay = LOOPS[name]
    law = make(plant)
    loop = uncertain_loop(model, law, delay=delay)
    stability = loop.robust_stability()
    assert stability.certified
    inputs, outputs = [f"{n}_disturbance" for n in DRIVEN], list(DRIVEN)
    found = loop.worst_case_gain(inputs, outputs)
    disk = loop.disk_margin()
    gains, margins = [], []
    for values in [*drawn(2, 6), loop.values(found), loop.values(disk)]:
        known = anew(loop, values, law, delay)
        assert known.stable
        gains.append(
            control.linfnorm(known.to_ss()[outputs, inputs])[0] if not loop.dt else peak(known, inputs, outputs)
        )
        margins.append(known.margins().disk)
    assert max(gains) <= found.upper * (1.0 + 1e-6) and max(gains) == pytest.approx(found.lower, rel=1e-4)
    assert min(margins) >= 1.0 / disk.upper * (1.0 - 1e-6)
    assert min(margins) == pytest.approx(1.0 / disk.lower, rel=1e-3)


def peak(loop, inputs, outputs):
    """Largest singular value on a fine grid of frequencies."""
    system = loop.to_ss()[outputs, inputs]
    omega = np.concatenate([[1e-3], np.geomspace(0.1, 0.999 * np.pi / loop.dt, 4000)])
    return max(np.linalg.norm(x, 2) for x in np.moveaxis(system(np.exp(1j * omega * loop.dt), squeeze=False), 2, 0))


@pytest.mark.parametrize("name", ["continuous", "late by a part"])
def test_efforts_that_are_uncertain(plant, model, name):
    """At a real number of the block the effort is as much larger, behind the delay; a slow weight has its states."""
    make, delay = LOOPS[name]
    law = make(plant)
    loop = uncertain_loop(model, law, delay=delay, efforts={"right": 0.4})
    assert "right_dynamics" in [b.name for b in loop.blocks]
    values = drawn(3, 1)[0]
    known = anew(loop, values, law, delay)
    broken = known._broken("input")
    more = known.A + 0.2 * broken.entry[:, [1]] @ broken.exit[[1]]
    made = closed(loop, values, {"right_dynamics": 0.5})
    assert np.abs(made - more).max() < 1e-6 * np.abs(known.A - np.eye(len(more)) * bool(loop.dt)).max()
    s = control.tf("s")
    weighed = uncertain_loop(model, law, delay=delay, efforts={"left": 2 * s / (s + 50.0)})
    assert len(weighed.A) == len(known.A) + 1
    if not loop.dt:
        before = uncertain_loop(model.with_input_uncertainty({"left_effort": 2 * s / (s + 50.0)}), law)
        bounds = [x.robust_stability().upper for x in (weighed, before)]
        assert bounds[0] == pytest.approx(bounds[1], rel=5e-3) and bounds[0] > 0.5


def test_a_law_that_sags_under_a_load(plant, model):
    """Without an integral machines rest elsewhere: what this changes is a block, and the bound holds for them."""
    law = pid(plant, ki=0.0, period=1e-3)
    loop = uncertain_loop(model, law)
    assert loop.blocks[-1].name == "remainder_of_loop" and loop.remainder > 1e-5
    found = loop.worst_case_gain("left_disturbance", "left")
    for values in drawn(4, 4):
        known = anew(loop, values, law, None)
        assert peak(known, ["left_disturbance"], ["left"]) < found.upper
    assert "a block stands for" in str(loop)


def test_the_worst_machine_runs(plant, model):
    """It is driven to the pose by the law; a run with friction and another reference is one call, too."""
    loop = uncertain_loop(model, pid(plant, period=2e-3), delay=2e-3)
    worst = loop.disk_margin()
    run = loop.run(worst, 6.0)
    errors = np.abs(run.data.error.values).max(axis=1)
    assert errors[-1] < 0.2 * errors.max() < 0.02
    law = loop.law.with_reference(cmb.Quintic([2.1, 1.0], [2.0, 1.1], duration=0.5))

    def rubs(machine):
        return machine.with_parts(forces=[cmb.JointForce("bearing", "left", Friction(0.5, viscous=0.1))])

    rubbing = loop.run(worst, 2.0, law=law, plant=rubs)
    assert np.abs(rubbing.data.error.values[-1]).max() < 0.05
    assert loop.values({"left_upper_mass": 2.5}) == pytest.approx({"left_upper_mass": 2.5, "damping_left": 1.0})
    with pytest.raises(InputError, match="wider interval"):
        loop.values({"left_upper_mass": 9.0})


def test_a_parameter_that_does_nothing(plant):
    """An inertia about an axis in the plane of the machine: nothing depends on it, and all is proven."""
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    model = uncertain_model(plant, point, {"left_upper_inertia_xx": (0.9, 1.0)}, coordinates=DRIVEN)
    for law in (pid(plant), pid(plant, period=2e-3)):
        loop = uncertain_loop(model, law)
        stability, found = loop.robust_stability(), loop.worst_case_gain("left_disturbance", "left")
        assert stability.certified and stability.upper < 1e-6
        if loop.dt:
            assert found.upper == pytest.approx(peak(loop.nominal, ["left_disturbance"], ["left"]), rel=1e-2)


def test_to_python_control(plant, model):
    loop = uncertain_loop(model, pid(plant, period=2e-3))
    system = loop.to_ss("left_ref", ["left", "left_effort"])
    assert system.dt == 2e-3 and system.input_labels[-1] == "left_ref" and system.output_labels[-1] == "left_effort"
    assert np.allclose(system.poles(), loop.nominal.to_ss().poles())


def test_wrong_calls(plant, model):
    sampled = pid(plant, period=2e-3)
    late = model.with_delays({"left_effort": 1e-3})
    with pytest.raises(InputError, match=r"efforts=\{motor: weight\}"):
        uncertain_loop(late, sampled)
    with pytest.raises(InputError, match="one of the two places"):
        uncertain_loop(late, pid(plant), efforts={"left": 0.1})
    with pytest.raises(InputError, match=r"left = 2\.3, not 2\.1"):
        uncertain_loop(model, pid(plant).with_reference(Constant([2.3, 1.0])))
    refuses(lambda: uncertain_loop(model, sampled, efforts={"middle": 0.1}), "'left', 'right'", kind=InputError)
    loop = uncertain_loop(model, sampled)
    refuses(lambda: loop.worst_case_gain("left_disturbance", "height"), "height", kind=InputError)
    few = uncertain_model(plant, model.family.point, INTERVALS, coordinates=DRIVEN, inputs=["left"])
    with pytest.raises(InputError, match="efforts of all motors"):
        uncertain_loop(few, sampled)
    force = ProjectedInverseDynamics(plant, DRIVEN, Constant([2.1, 1.0]), bandwidth=8.0)
    assert uncertain_loop(model, force).robust_stability().stable
