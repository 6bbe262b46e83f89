"""Laws as data do what the same laws do in Python."""

import json

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants
from cmbcontrol.controllers import law_from_dict
from cmbcontrol.controllers.description import DescribedLaw, law_to_dict
from cmbcontrol.errors import ModelError
from tests.fixtures import actuated_five_bar, force_motion, force_start

SINE = {"type": "Sine", "centre": [2.1, 1.0], "amplitude": 0.1, "frequency_hz": 0.5}
TRACKING = {"type": "ProjectedInverseDynamics", "coordinates": ["left", "right"], "reference": SINE, "bandwidth": 8}


def test_a_chain_runs_as_in_python(plant):
    described = [TRACKING | {"period": 1e-3}, {"type": "Delay", "delay": 1e-3}, {"type": "Saturation", "limits": 60}]
    path = cmb.Sine([2.1, 1.0], 0.1, 0.5)
    law = controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8, period=1e-3)
    chain = law | controllers.Delay(1e-3) | controllers.Saturation(60)
    q0 = plant.assemble(left=2.1, right=1.0)
    runs = [cmb.simulate(plant, x, q0, t_end=0.2) for x in (law_from_dict(described, plant), chain)]
    np.testing.assert_array_equal(runs[0].u.values, runs[1].u.values)


def test_tasks_and_laws_around_laws(plant):
    pose = {"type": "PointTask", "body": "left_upper", "point": [1.0, 0.0, 0.0], "axes": "xy"}
    motion = {"type": "ProjectedInverseDynamics", "coordinates": pose, "reference": SINE, "bandwidth": 8}
    law = law_from_dict({"type": "ConstrainedActuation", "motion": motion}, plant)
    assert law.name.startswith("ConstrainedActuation(") and law.task.axes == ("x", "y")
    np.testing.assert_array_equal(law_from_dict([1.0, 2.0], plant), [1.0, 2.0])
    feedback = law_from_dict(
        {
            "type": "GravityPD",
            "reference": {"type": "Constant", "position": [2, 1]},
            "kp": 9,
            "kd": 1,
            "coordinates": ["left", "right"],
        },
        plant,
    )
    assert feedback.name == "GravityPD"


def test_parameters_by_name(plant):
    made = DescribedLaw([TRACKING | {"bandwidth": "$width"}, {"type": "Saturation", "limits": "$limit"}])
    assert made.parameters == ("width", "limit")
    assert made(plant, width=4.0, limit=50.0).name == "ProjectedInverseDynamics | Saturation"
    assert made.described() != DescribedLaw(TRACKING).described()


@pytest.mark.parametrize(
    ("description", "error", "said"),
    [
        (TRACKING | {"type": "ProjectedInverseDynamic"}, ValueError, "did you mean 'ProjectedInverseDynamics'"),
        (TRACKING | {"bandwith": 8}, ValueError, "did you mean 'bandwidth'"),
        (TRACKING | {"bandwidth": "$width"}, ValueError, r"parameter behind a \$"),
        (TRACKING | {"bandwidth": "fast"}, TypeError, "bandwidth"),
        ({"type": "Sine", "centre": [1.0]}, ValueError, "Sine needs 'amplitude', 'frequency_hz'"),
        ({"type": "os.system"}, ValueError, "type of law"),
        ({"type": ["law"]}, TypeError, "type of law"),
        ([TRACKING, {"type": "Saturation", "limits": -1}], ValueError, "limits"),
    ],
)
def test_what_is_refused(plant, description, error, said):
    with pytest.raises(error, match=said):
        law_from_dict(description, plant)


def test_only_classes_of_the_library_can_be_described():
    from cmbcontrol.controllers.description import _kinds

    assert all(kind.__module__.startswith("cmbcontrol.") for kind in _kinds().values())
    assert {"ProjectedInverseDynamics", "Sine", "PoseTask", "Encoder"} <= set(_kinds())
    assert plants.five_bar().nu == 2


def test_values_are_numbers_of_parameters_that_are_asked_for(plant):
    described = {"type": "Saturation", "limits": "$limit"}
    with pytest.raises(ValueError, match=r"'limits'.*'limit'"):
        law_from_dict(described, plant, {"limits": 60.0})
    with pytest.raises(TypeError, match=r"the value of 'limit'"):
        law_from_dict(described, plant, {"limit": "large"})


# -- back ----------------------------------------------------------------------------------------------------------


def laws(plant):
    """Laws of all sorts, by what they are about."""
    ctl, path = controllers, cmb.Sine([2.1, 1.0], 0.1, 0.5, [0.3, 0.0])
    pose = plant.assemble(left=2.1, right=1.0)
    lin = cmb.linearize(plant, cmb.trim(plant, pose), coordinates=("left", "right"))
    feedback = ctl.StateFeedback(lin, np.array([[40.0, 1.0, 9.0, 0.3], [2.0, 50.0, 0.1, 8.0]]))
    motion = ctl.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=[8.0, 9.0], period=1e-3)
    tip = ctl.PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    frame = ctl.PoseTask(plant, "left_upper", cmb.Frame((1.5, 0, 0)), axes=("x", "y"))
    both = ctl.Coordinates(plant, "left"), ctl.Coordinates(plant, "right")
    sensors = ctl.Encoder(bits=14, noise=1e-5, seed=3) | ctl.FilteredDifference(0.002)
    drive = ctl.FirstOrderActuator(0.003) | ctl.DriveFriction(coulomb=1.0)
    steady = cmb.Quintic([0.0, 0.5], [0.2, 0.7], 2.0)
    heavy = plant.with_parameters({"left_upper_mass": 3.0})
    moved = cmb.JerkLimited([2.1, 1.0], [2.2, 0.9], 1.0, 4.0, [40.0, 90.0])
    back = cmb.CamProfile([0.0, 1.0], [[2.2, 0.9], [2.1, 1.0]], "3-4-5")
    turning = cmb.Spline([0.0, 1.0], [0.0, 3.0], periodic=True)
    line = cmb.CamProfile([0.0, 1.0], [[0.5, 1.9], [0.6, 1.8]])
    return {
        "numbers": [3.0, -1.0],
        "tracking": motion,
        "task": ctl.ProjectedInverseDynamics(plant, tip, steady, kp=50.0, kd=14.0),
        "pose": ctl.Impedance(plant, frame, steady, 400.0, 40.0),
        "stack": ctl.ProjectedInverseDynamics(plant, ctl.TaskStack(*both), path, bandwidth=8.0),
        "computed torque": ctl.ComputedTorque(plant, path, coordinates=("left", "right"), bandwidth=8.0),
        "cascade": ctl.Cascade(plant, path, position_gain=9.0, velocity_gain=[4.0, 3.0], at=pose) | ctl.Notch(8.0, 9.0),
        "PID": ctl.PID(plant, path, kp=9.0, ki=2.0) | ctl.LeadLag(3.0, 9.0) | ctl.LowPass(99.0, order=2),
        "filter": motion | ctl.Filter({"left": {"num": [1.0, 9.0], "den": [1.0, 0.0]}}),
        "gain scheduled": ctl.GainScheduled(
            [ctl.PID(plant, path, kp=k, ki=2.0) for k in (9.0, 12.0)], {"left": [2.0, 2.2]}, interpolation="cubic"),
        "gravity": ctl.GravityPD(plant, path, kp=90.0, kd=9.0, coordinates=("left", "right")),
        "another model": ctl.WithModel(heavy, motion),
        "limits": ctl.ConstrainedActuation(motion, limits=60.0),
        "passive": ctl.PassiveJoints(motion, margin=0.02),
        "feedback": feedback,
        "output feedback": ctl.OutputFeedback(
            lin, {"A": [[-40.0]], "B": [[1.0, 0.5]], "C": [[-1200.0], [200.0]], "D": [[40.0, 0.0], [0.0, 30.0]]}),
        "another path": motion.with_reference(cmb.Constant([2.0, 1.1])),
        "spline": motion.with_reference(cmb.Spline([0.0, 1.0, 2.0], [[2.1, 1.0], [2.2, 1.1], [2.0, 0.9]])),
        "cycle": motion.with_reference(cmb.Joined([moved, 0.1, back], periodic=True)),
        "electronic cam": motion.with_reference(cmb.ElectronicCam(back, turning)),
        "inverse motion": motion.with_reference(cmb.InverseMotion(plant, tip, line, ("left", "right"), start=pose)),
        "observer": ctl.MotionObserver(motion, ("left", "right"), 60.0),
        "chain": sensors | motion | ctl.Saturation({"left": 50.0, "right": 40.0}) | ctl.Delay(1e-3) | drive,
        "numbers in a chain": [3.0, -1.0] | ctl.Saturation(2.0),
    }  # fmt: skip


NAMES = ["numbers", "tracking", "task", "pose", "stack", "computed torque", "cascade", "PID", "filter"]
NAMES += ["gain scheduled", "gravity"]
NAMES += [
    "another model",
    "limits",
    "passive",
    "feedback",
    "output feedback",
    "another path",
    "spline",
    "cycle",
    "electronic cam",
]
NAMES += ["inverse motion", "observer", "chain", "numbers in a chain"]


@pytest.mark.parametrize("name", NAMES)
def test_a_law_that_is_written_down_does_the_same(plant, name):
    """To the last bit, through JSON, and in a run."""
    law = laws(plant)[name]
    data = json.loads(json.dumps(law_to_dict(law, plant)))
    again = law_from_dict(data, plant)
    assert law_to_dict(again, plant) == data
    assert "Mechanism" not in str(data) or name == "another model"
    start = plant.assemble(left=2.15, right=1.0)
    runs = [cmb.simulate(plant, x, start, t_end=0.05, output_times=0.01) for x in (law, again)]
    assert np.array_equal(runs[0].u.values, runs[1].u.values) and np.ptp(runs[0].q.values, axis=0).max() > 0.0


def test_a_force_law_that_is_written_down_does_the_same():
    plant = actuated_five_bar()
    force = controllers.ConstraintForcePI(plant, [20.0, -10.0], ["tip_x", "tip_y"], kp=0.2, ki=20.0, period=1e-3)
    law = controllers.HybridMotionForce(force_motion(plant, period=1e-3), force)
    again = law_from_dict(json.loads(json.dumps(law_to_dict(law, plant))), plant)
    q0, v0 = force_start(plant)
    runs = [cmb.simulate(plant, x, q0, v0, t_end=0.05) for x in (law, again)]
    assert np.array_equal(runs[0].u.values, runs[1].u.values)


def test_every_law_is_looked_at(plant):
    assert list(laws(plant)) == NAMES


def test_what_cannot_be_written_down(plant):
    class Own(controllers.Controller):
        def effort(self, t, terms, state):
            return [0.0, 0.0]

    for law, words in (
        (lambda t, terms, state: [0.0, 0.0], "is a function, and no file can hold it"),
        (Own(), "is of a class of your own, Own"),
        (controllers.FunctionController(lambda t, terms, state: [0.0, 0.0]), "is a function"),
        (Own() | controllers.Saturation(1.0), "is of a class of your own, Own"),
    ):
        with pytest.raises(ModelError, match=words):
            law_to_dict(law, plant)
