"""Forces on combinations of coordinates, against closed forms."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Coupling, CouplingForce, Frame, Mechanism, Revolute
from cmbcontrol.characteristics import Friction, SpringDamper
from cmbcontrol.dynamics import parameters
from cmbcontrol.errors import ModelError
from tests.fixtures import refuses

J, RATIO, STIFFNESS, DAMPING = (2e-4, 1.5), -0.02, 3e3, 4.0


def drive(force, loops=()):
    """Rotor and arm about parallel axes, without gravity."""
    bodies = [Body(name, 1.0, inertia=(x, x, x)) for name, x in zip(("rotor", "link"), J, strict=True)]
    pins = [
        Revolute("motor", "ground", "rotor"),
        Revolute("arm", "ground", "link", frame=Frame((0.5, 0.0, 0.0))),
    ]
    forces = [] if force is None else [force]
    return Mechanism("drive", bodies, pins, loops, actuators=[Actuator("motor")], gravity=(0, 0, 0), forces=forces)


def elastic(stiffness=STIFFNESS, damping=DAMPING):
    return CouplingForce("flexspline", {"motor": RATIO, "arm": 1.0}, SpringDamper(stiffness, damping=damping))


def test_poles_of_an_elastic_gear():
    """The sum z moves by m z'' + d z' + k z = 0, where 1 / m = sum of coefficient^2 / inertia."""
    plant = drive(elastic())
    model = cmb.linearize(plant, cmb.trim(plant, np.zeros(2)))
    inverse_mass = RATIO**2 / J[0] + 1.0 / J[1]
    expected = np.roots([1.0, DAMPING * inverse_mass, STIFFNESS * inverse_mass])
    poles = np.linalg.eigvals(model.A)
    oscillating = poles[np.abs(poles) > 1.0]
    np.testing.assert_allclose(np.sort_complex(oscillating), np.sort_complex(expected), rtol=1e-9)


def test_forces_and_energy():
    plant, q, v = drive(elastic()), np.array([0.3, -0.2]), np.array([5.0, 0.4])
    z, rate = RATIO * q[0] + q[1], RATIO * v[0] + v[1]
    push = STIFFNESS * z + DAMPING * rate
    a = cmb.forward_dynamics(plant, q, v, np.zeros(1))
    np.testing.assert_allclose(a, [-RATIO * push / J[0], -push / J[1]], rtol=1e-12)
    assert plant.potential_energy(q) == pytest.approx(0.5 * STIFFNESS * z**2, rel=1e-12)


def test_a_stiff_one_is_a_coupling():
    stiff, rigid = drive(elastic(1e9, 4e4)), drive(None, [Coupling("gear", {"motor": RATIO, "arm": 1.0})])
    u = np.array([0.7])
    run = cmb.simulate(stiff, u, [0.0, 0.0], t_end=0.02, rtol=1e-9)
    a = cmb.forward_dynamics(rigid, np.zeros(2), np.zeros(2), u)
    np.testing.assert_allclose(run.data["v"].values[-1], 0.02 * a, rtol=1e-6)


def test_parameters_are_those_of_the_motion():
    """Derivatives of the arrays by coefficients and numbers, against machines that are built anew."""
    plant, q, v = drive(elastic()), np.array([0.3, -0.2]), np.array([5.0, 0.4])
    names = ["force_flexspline_of_motor", "force_flexspline_of_arm", "force_flexspline_stiffness"]
    found = cmb.parameter_derivatives(plant, q, v, parameters=names)
    for k, name in enumerate(names):
        value = parameters(plant)[name].value
        step = 1e-6 * max(abs(value), 1e-2)
        ends = [
            cmb.forward_dynamics(plant.with_parameters({name: value + side * step}), q, v, np.zeros(1))
            for side in (1.0, -1.0)
        ]
        slope = (ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(found.a_p[:, k], slope, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


def test_exact_friction_sticks():
    """A clutch: below its torque it turns both as one, above it the arm lags with a constant torque."""
    clutch = CouplingForce("clutch", {"motor": -1.0, "arm": 1.0}, Friction(0.5))
    for effort, expected in ((0.4, 0.4 / sum(J)), (5.0, 0.5 / J[1])):
        run = cmb.simulate(drive(clutch), np.array([effort]), [0.0, 0.0], t_end=0.1, friction="exact")
        assert run.data["v"].values[-1, 1] == pytest.approx(0.1 * expected, rel=1e-6)


def test_files(tmp_path):
    plant = drive(elastic())
    again = Mechanism.load(plant.save(tmp_path / "drive.yaml"))
    assert again.forces[0].coefficients == plant.forces[0].coefficients
    said = cmb.formats.write_mjcf(plant, tmp_path / "drive.xml").of_kind("left out")
    assert any("flexspline" in str(remark) for remark in said)


def test_refusals():
    refuses(lambda: CouplingForce("f", {"a": 1.0}, SpringDamper(1.0)), "'f'", "two coordinates", kind=ModelError)
    refuses(lambda: CouplingForce("f", {"a": 1.0, "b": 0.0}, SpringDamper(1.0)), "JointForce", kind=ModelError)
    refuses(lambda: drive(CouplingForce("f", {"motor": 1.0, "arn": 1.0}, SpringDamper(1.0))), "'arn'", kind=ModelError)
