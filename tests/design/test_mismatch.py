"""What a law does not know of a machine: closed forms of a mass on a line, and what is refused."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.characteristics import Friction
from cmbcontrol.controllers import PID, FirstOrderActuator, GravityPD, ProjectedInverseDynamics, Saturation
from cmbcontrol.design import mismatch
from cmbcontrol.errors import InputError, InputTypeError
from tests.fixtures import refuses

KP, KD = 400.0, 60.0


def lift():
    """A mass of 3 kg on a vertical line."""
    body, joint = cmb.Body("m", 3.0, inertia=(1, 1, 1)), cmb.Prismatic("z", "ground", "m", axis=(0, 0, 1))
    return cmb.Mechanism("lift", [body], [joint], actuators=[cmb.Actuator("z", effort=500.0)], gravity=(0, 0, -9.81))


def test_a_payload_leaves_its_weight_over_the_stiffness():
    plant = lift()
    law = GravityPD(plant, Constant([0.5]), kp=KP, kd=KD)
    found = mismatch(plant, law, [0.5], t_end=3.0, payload={"m": 1.2})
    assert found.differences == ("1.2 kg more on m",)
    assert np.abs(found.ideal.data.error.values).max() < 1e-12
    assert found.real.data.error.values[-1, 0] == pytest.approx(1.2 * 9.81 / KP, rel=1e-6)
    assert found.plant.bodies[0].mass == pytest.approx(4.2)
    row = found.table().loc["effort z"]
    assert (row["unit"], row["ideal RMS"]) == ("N", pytest.approx(3.0 * 9.81))
    assert "1.2 kg more on m" in str(found)


def test_friction_takes_its_force_from_a_motion():
    plant = lift()
    law = PID(plant, lambda t: ([0.1 * t], [0.1], [0.0]), kp=KP, kd=KD, at=[0.0])
    found = mismatch(plant, law, [0.0], [0.1], t_end=3.0, friction={"z": Friction(8.0, transition_rate=1e-3)})
    assert found.real.data.error.values[-1, 0] == pytest.approx(8.0 / KP, rel=1e-6)


def test_gears_lose_their_part():
    """Steadily, the effort is that of the ideal machine over the efficiency."""
    bodies = [cmb.Body.planar(name, 1.0, (0, 0), 0.5) for name in ("rotor", "drum")]
    joints = [cmb.Revolute(name, "ground", name) for name in ("rotor", "drum")]
    plant = cmb.Mechanism("winch", bodies, joints, [cmb.Coupling("gear", {"rotor": 1.0, "drum": -10.0})],
                          forces=[cmb.JointForce("load", "drum", Friction(0.0, viscous=50.0))],
                          actuators=[cmb.Actuator("rotor")])  # fmt: skip
    turns = lambda t: ([20.0 * t], [20.0], [0.0])  # noqa: E731
    law = PID(plant, turns, kp=40.0, kd=40.0, ki=200.0, coordinates="rotor", feedforward="none")
    found = mismatch(plant, law, [0.0, 0.0], [20.0, 2.0], t_end=20.0, efficiency={"gear": 0.8})
    ideal, real = (float(run.u.values[-1, 0]) for run in (found.ideal, found.real))
    assert real == pytest.approx(ideal / 0.8, rel=1e-4)


def test_a_delay_stands_before_the_machine():
    plant = plants.five_bar(effort=90.0)
    q0 = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.1]), bandwidth=8.0, period=2e-3)
    found = mismatch(plant, law | Saturation() | FirstOrderActuator(1e-3), q0, t_end=0.1, delay=3e-3)
    assert found.law.delay == pytest.approx(3e-3)
    assert [type(x).__name__ for x in found.law.law.parts][1] == "Delay"
    assert found.differences == ("efforts 3 ms later",)


def test_several_at_once_and_a_figure():
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.1]), bandwidth=8.0, period=2e-3)
    more = {"payload": {"left_upper": (2.0, (1.5, 0.0, 0.0))}, "friction": {"left": 2.0}, "delay": 1e-3}
    found = mismatch(plant, law, q0, t_end=0.2, **more)
    assert len(found.differences) == 3
    figure = found.plot()
    assert [ax.get_ylabel().split(" (")[0] for ax in figure.axes] == [
        "error of left", "error of right", "effort of left", "effort of right"]  # fmt: skip
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["ideal", "real"]


def test_refusals():
    plant = lift()
    law = GravityPD(plant, Constant([0.5]), kp=KP, kd=KD)
    refuses(lambda: mismatch(plant, law, [0.5], t_end=1.0), "nothing differs", kind=InputError)
    refuses(lambda: mismatch(plant, law, [0.5], t_end=1.0, payload={"n": 1.0}), "no body", kind=InputError)
    refuses(lambda: mismatch(plant, law, [0.5], t_end=1.0, friction={"y": 1.0}), "no joint", kind=InputError)
    refuses(lambda: mismatch(plant, law, [0.5], t_end=1.0, efficiency={"y": 0.9}), "no coupling", kind=InputError)
    refuses(lambda: mismatch(plant, law, [0.5], t_end=1.0, delay=1e-3), "continuous time", kind=InputError)
    refuses(lambda: mismatch(cmb.Plant, law, [0.5], t_end=1.0, delay=1e-3), "Mechanism", kind=InputTypeError)
