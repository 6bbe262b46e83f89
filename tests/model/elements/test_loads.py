"""Loads: against closed forms, virtual work and the energy that they bring in."""

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cmbcontrol as cmb
from cmbcontrol import Body, Frame, Load, Mechanism, Revolute, Wrench, plants
from cmbcontrol.design import with_payload
from tests.fixtures import closed_at_random, every_closure, slope

LENGTH, MASS, G = 0.8, 1.5, 9.81
TIP = Frame((LENGTH, 0.0, 0.0))


def pendulum(*loads, **options):
    """A rod that hangs from a pivot; at zero it points along x, and z is up."""
    rod = Body.rod("rod", mass=MASS, length=LENGTH)
    pivot = Revolute("pivot", "ground", "rod", axis=(0, -1, 0), **options)  # positive turns lift the tip
    return Mechanism("pendulum", [rod], [pivot], loads=loads)


def test_a_force_on_a_pendulum_in_equilibrium():
    """Under a horizontal force at the tip it hangs at tan a = 2 F / (m g) from the vertical."""
    plant = pendulum(Load("wind", "rod", TIP, force=(4.0, 0.0, 0.0)))
    point = cmb.trim(plant, [-1.2], free=("pivot",))
    assert np.pi / 2.0 + point.q[0] == pytest.approx(np.arctan2(2.0 * 4.0, MASS * G), abs=1e-14)
    assert plant.terms(point.q, [0.0]).h == pytest.approx(0.0, abs=1e-13)


def test_a_follower_force_on_a_pendulum():
    """Across the rod, whatever its angle: the acceleration is that of its moment."""
    plant = pendulum(Load("jet", "rod", TIP, force=(7.0, 0.0, 2.0), moment=(0.3, -0.4, 0.5), axes="frame"))
    inertia = MASS * LENGTH**2 / 3.0
    for q in (-1.5, 0.0, 0.7, 2.9):
        expected = (2.0 * LENGTH + 0.4 - 0.5 * MASS * G * LENGTH * np.cos(q)) / inertia
        assert cmb.forward_dynamics(plant, [q], [1.3], []) == pytest.approx(expected, rel=1e-13)


def test_the_frequency_of_a_pendulum_that_is_pulled():
    """A force F downwards at the tip adds F L to the stiffness m g L / 2; a follower force adds none."""
    for axes, added in (("world", 5.0 * LENGTH), ("frame", 0.0)):
        force = (0.0, 0.0, -5.0) if axes == "world" else (5.0, 0.0, 0.0)  # along the rod at the equilibrium
        plant = pendulum(Load("pull", "rod", TIP, force=force, axes=axes))
        poles = cmb.linearize(plant, cmb.trim(plant, [-np.pi / 2.0])).poles()
        inertia = MASS * LENGTH**2 / 3.0
        assert abs(poles[0]) == pytest.approx(np.sqrt((0.5 * MASS * G * LENGTH + added) / inertia), rel=1e-13)


# -- any machine -------------------------------------------------------------------------------------------------------


@every_closure
def test_joint_forces_are_those_of_virtual_work(closure):
    """Of displacements of the frame, by differences; in world axes and in those of the frame."""
    plant, q, v = closed_at_random(closure)
    W = plant.load_matrix(q)
    for i, load in enumerate(plant.loads):
        at = plant.pose(q, load.body) @ load.frame
        axes = at.R if load.axes == "frame" else np.eye(3)
        for k in range(plant.nv):

            def placed(d, k=k, load=load):
                return plant.pose(plant.integrate(q, d * np.eye(plant.nv)[k]), load.body) @ load.frame

            way = slope(lambda d: placed(d).p, 1e-2)
            turn = slope(lambda d, at=at: Rotation.from_matrix(placed(d).R @ at.R.T).as_rotvec(), 1e-2)
            expected = np.concatenate([axes.T @ way, axes.T @ turn])
            np.testing.assert_allclose(W[k, 6 * i : 6 * i + 6], expected, atol=1e-10)
    none = plant.with_loads({load.name: np.zeros(6) for load in plant.loads})
    pushed = plant.terms(q, v).h - none.terms(q, v).h
    np.testing.assert_allclose(pushed, -W @ plant.load_values().ravel(), atol=1e-11)


@every_closure
def test_columns_are_those_of_a_wrench(closure):
    plant, q, v = closed_at_random(closure)
    point, load = cmb.OperatingPoint.at(plant, q, v=v), plant.loads[0]
    if not plant.load_matrix(q)[:, :6].any():  # a joint that the loops lock carries it
        with pytest.raises(ValueError, match="'load_world' moves nothing"):
            cmb.affine_approximation(plant, point, inputs=["load_world"])
        return
    lin = cmb.affine_approximation(plant, point, inputs=["load_world", Wrench(load.body, load.frame), "load_frame_mx"])
    named = dict(zip(lin.inputs, lin.B.T, strict=True))
    for name in load.component_names:
        other = named[f"{load.body}_wrench_{name[-2:]}"]
        np.testing.assert_allclose(named.get(name, 0.0 * other), other, atol=1e-12 * max(1.0, np.abs(other).max()))
    assert "load_frame_mx" in named


def test_energy_that_loads_bring_in():
    """The work of a constant force is the force times the way, through the loops of a five-bar; the balance closes."""
    tip = Frame((1.5, 0.0, 0.0))
    loads = [Load("pull", "left_upper", tip, force=(12.0, 5.0, 0.0)), Load("jet", "right_upper", axes="frame")]
    plant = plants.five_bar().with_parts(loads=loads)
    q0 = plant.assemble(left=2.1, right=1.0)
    run = cmb.simulate(plant, None, q0, t_end=2.0)
    ends = [(plant.pose(q, "left_upper") @ tip).p for q in (run.q.values[0], run.q.values[-1])]
    assert run.data.load_work.values[-1] == pytest.approx((ends[1] - ends[0]) @ [12.0, 5.0, 0.0], abs=1e-9)
    turned = cmb.simulate(plant.with_loads({"jet": (0.0, 9.0, 0.0, 0.0, 0.0, 1.0)}), None, q0, t_end=2.0)
    assert abs(turned.data.load_work.values[-1] - run.data.load_work.values[-1]) > 0.1
    for found in (run, turned):
        size = np.abs(found.data.load_work.values).max() + np.ptp(found.data.potential.values)
        assert found.max_energy_error < 1e-10 * size
        rate = found.data.load_power.values
        assert rate.shape == found.time.shape and np.abs(rate).max() > 1.0


def test_methods_in_independent_coordinates_count_the_work_too():
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper", Frame((1.5, 0, 0)), force=(12.0, 5.0, 0.0))])
    q0 = plant.assemble(left=2.1, right=1.0)
    work = [
        cmb.simulate(plant, None, q0, t_end=0.5, method=method, rtol=1e-9, atol=1e-9).data.load_work.values[-1]
        for method in ("dop853", "sdirk4")
    ]
    assert work[0] == pytest.approx(work[1], abs=1e-6)
    assert abs(work[0]) > 0.1


def test_motors_that_hold_a_load():
    """Inverse dynamics and the equilibrium agree, and a law that knows the plant holds it."""
    load = Load("digging", "left_upper", Frame((1.5, 0.0, 0.0)), force=(-30.0, 10.0, 0.0))
    plant = plants.five_bar().with_parts(loads=[load])
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    rest = np.zeros(plant.nv)
    u = cmb.inverse_dynamics(plant, point.q, rest, rest).u
    np.testing.assert_allclose(u, point.u, atol=1e-9)
    way = cmb.Constant([2.1, 1.0])
    law = cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), way, bandwidth=8.0, period=1e-3)
    run = cmb.simulate(plant, law, point.q, t_end=0.2)
    assert np.abs(run.q.values - point.q).max() < 1e-9
    np.testing.assert_allclose(run.u.values[-1], point.u, atol=1e-7)


# -- the machine under other loads -------------------------------------------------------------------------------------


def test_with_loads_is_the_machine_built_with_them():
    frame = Frame((1.0, 0.2, 0.0), Rotation.from_rotvec([0.0, 0.0, 0.4]).as_matrix())
    plant = plants.five_bar().with_parts(loads=[Load("a", "left_upper", frame, axes="frame"), Load("b", "left_lower")])
    values = {"a": (1.0, 2.0, 3.0), "b_fy": 4.0, "a_mz": 0.5}
    other = plant.with_loads(values)
    built = plant.with_parts(
        loads=[
            Load("a", "left_upper", frame, force=(1.0, 2.0, 3.0), moment=(0.0, 0.0, 0.5), axes="frame"),
            Load("b", "left_lower", force=(0.0, 4.0, 0.0)),
        ]
    )
    q, v = plant.assemble(left=2.1, right=1.0), [0.1, 0.2, 0.3, 0.4]
    for found in (other, pickle.loads(pickle.dumps(other)), copy.deepcopy(other), other.with_loads({})):
        assert found.terms(q, v).h.tolist() == built.terms(q, v).h.tolist()
    assert plant.terms(q, v).h.tolist() == plants.five_bar().terms(q, v).h.tolist()
    assert plant.load_names[:3] == ("a_fx", "a_fy", "a_fz") and len(plant.load_names) == 12
    np.testing.assert_array_equal(plant.load_values(values), other.load_values())


def test_parts_of_a_machine_keep_their_loads():
    plant = plants.five_bar().with_parts(loads=[Load("a", "left_upper", force=(1.0, 2.0, 0.0))])
    for other in (with_payload(plant, "left_upper", 1.0), plant.with_loops(), plant.without("tip"), plant.with_parts()):
        assert [load.name for load in other.loads] == ["a"]
        assert other.arrays.loads["value"].tolist() == plant.arrays.loads["value"].tolist()
    mode = plant.without("tip").with_loads({"a": (0.0, 0.0, 7.0)})
    assert pickle.loads(pickle.dumps(mode)).load_values().tolist() == mode.load_values().tolist()
    assert "load   a" in str(plant)


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (lambda: Load("a", "bucket"), "load 'a'.*'bucket'"),
        (lambda: Load("a", "ground"), "which the ground holds"),
        (lambda: Load("a", "left_upper", force=(1.0, 2.0)), "the force of load 'a' must have shape"),
        (lambda: Load("a", "left_upper", moment=(1.0, np.nan, 0.0)), "the moment of load 'a'"),
        (lambda: Load("a", "left_upper", axes="body"), "axes of load 'a'"),
        (lambda: Load("a", "left_upper", (1.0, 0.0, 0.0)), "the frame of load 'a' must be a Frame"),
    ],
)
def test_wrong_loads_are_told(load, message):
    with pytest.raises((ValueError, TypeError), match=message):
        plants.five_bar().with_parts(loads=[load()])


def test_wrong_values_are_told():
    plant = plants.five_bar().with_parts(loads=[Load("a", "left_upper")])
    with pytest.raises(ValueError, match="'b'"):
        plant.with_loads({"b": 1.0})
    with pytest.raises(ValueError, match="load 'a' must have shape"):
        plant.with_loads({"a": (1.0, 2.0)})
    with pytest.raises(TypeError, match="load 'a_fx'"):
        plant.with_loads({"a_fx": "much"})
    with pytest.raises(ValueError, match="2 loads are called 'a'"):
        plant.with_parts(loads=[Load("a", "left_upper"), Load("a", "left_lower")])
    with pytest.raises(ValueError, match="'a_f'"):
        cmb.linearize(plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0)), inputs=["a_f"])


@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_loads_disturb_a_closed_loop():
    """Their stationary effect is what a run settles to; the law is not told."""
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper", Frame((0.5, 0.0, 0.0)))])
    q = plant.assemble(left=2.1, right=1.0)
    law = cmb.controllers.ProjectedInverseDynamics(
        plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0, damping_ratio=0.7
    )
    loop = cmb.linearize_closed_loop(
        plant, law, q, disturbances=["pull"], outputs=["left", "right"], coordinates=("left", "right")
    )
    system = loop.to_ss()
    labels = list(system.input_labels)
    gain = system.dcgain()[:, labels.index("pull_fx")]
    run = cmb.simulate(plant, law, q, t_end=5.0, loads={"pull_fx": 1e-3})
    moved = run.data.q.values[-1] - q
    np.testing.assert_allclose(moved[[0, 2]], 1e-3 * gain, rtol=1e-4)
    assert {"pull_fy", "pull_mz"} <= set(labels)
    alone = cmb.linearize_closed_loop(plant, law, q, disturbances="pull_fx", coordinates=("left", "right")).to_ss()
    assert "pull_fx" in alone.input_labels and "pull_fy" not in alone.input_labels
    with pytest.raises(ValueError, match=r"'push'; motors"):
        cmb.linearize_closed_loop(plant, law, q, disturbances=["push"])


@pytest.mark.parametrize("absolute", [False, True])
def test_loads_are_inputs_of_python_control(absolute):
    """The nonlinear system under a load is the machine that has it, and its linear model is that of `linearize`."""
    force = np.array([12.0, -7.0])
    load = Load("pull", "left_upper", Frame((0.5, 0.0, 0.0)), force=(3.0, 1.0, 0.0))
    plant = plants.five_bar().with_parts(loads=[load])
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    names = ["left", "pull_fx", "right", "pull_fy"]
    system = plant.to_iosystem(point, coordinates=("left", "right"), inputs=names, absolute=absolute)
    assert list(system.input_labels) == ["left_effort", "pull_fx", "right_effort", "pull_fy"]
    u0 = np.array([point.u[0], 3.0, point.u[1], 1.0]) if absolute else np.zeros(4)
    x = np.array([0.05, -0.03, 0.2, 0.1])
    for _ in range(2):
        rate = system.dynamics(0.0, x, u0 + np.array([0.5, force[0], -0.2, force[1]]))
        still = system.dynamics(0.0, x, u0)
    pulled = plant.with_loads({"pull_fx": 3.0 + force[0], "pull_fy": 1.0 + force[1]})
    q, v = system.to_plant(x)
    a = cmb.forward_dynamics(pulled, q, v, point.u + np.array([0.5, -0.2]))
    np.testing.assert_allclose(rate[2:], a[[0, 2]], rtol=1e-10)
    np.testing.assert_allclose(still[2:], cmb.forward_dynamics(plant, q, v, point.u)[[0, 2]], rtol=1e-10)
    lin = cmb.linearize(plant, point, coordinates=("left", "right"), inputs=names)
    found = system.linearize(np.zeros(4), u0)
    np.testing.assert_allclose(found.A, lin.A, atol=1e-9)
    np.testing.assert_allclose(found.B, lin.B, atol=1e-10)
    twin = copy.deepcopy(system)
    np.testing.assert_array_equal(twin.dynamics(0.0, x, u0 + 1.0), system.dynamics(0.0, x, u0 + 1.0))
    system.dynamics(0.0, x, u0 + 5.0)
    np.testing.assert_array_equal(twin.dynamics(0.0, x, u0), still)
