"""Passive joints (Aghili, 7.4): laws that give them nothing, and what they do where actuation is lost."""

import numpy as np
import pytest
from scipy.optimize import brentq

import cmbcontrol as cmb
from cmbcontrol import actuation, controllers, plants
from cmbcontrol.controllers import PassiveJoints, ProjectedInverseDynamics
from cmbcontrol.controllers.actuation import actuation_along
from cmbcontrol.errors import ActuationError, SimulationError
from cmbcontrol.model.elements import Actuator, Body, Frame, PointOnLine, Revolute
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers.methods import settings
from tests.fixtures import CRANK_PATH, Rest, crank_law, terms_at

# -- machines -----------------------------------------------------------------------------------------


def equal_five_bar(gravity=9.81, motors=("left", "right")):
    """Links and base of 1 m. With the outer links in a line, its ground motors lose a motion."""
    rod = {n: Body.rod(n, mass=1.0, length=1.0) for n in ("left_lower", "left_upper", "right_lower", "right_upper")}
    z, end = (0.0, 0.0, 1.0), Frame((1.0, 0.0, 0.0))
    joints = [
        Revolute("left", "ground", "left_lower", axis=z),
        Revolute("elbow_left", "left_lower", "left_upper", axis=z, frame=end),
        Revolute("right", "ground", "right_lower", axis=z, frame=end),
        Revolute("elbow_right", "right_lower", "right_upper", axis=z, frame=end),
    ]
    tip = PointOnLine("tip", "left_upper", "right_upper", point_a=(1.0, 0.0, 0.0), point_b=(1.0, 0.0, 0.0))
    drives = [Actuator(m) for m in motors]
    return Mechanism(
        "equal five-bar", list(rod.values()), joints, [tip], actuators=drives, gravity=(0.0, -gravity, 0.0)
    )


LEFT = 2.0 * np.pi / 3.0


def equal_pose(slope):
    """The left crank at 120 degrees, its outer link at `slope`: 0 is the actuation singularity, right = 60 degrees."""
    x, y = np.cos(LEFT) + np.cos(slope) - 1.0, np.sin(LEFT) + np.sin(slope)
    bearing, opening = np.arctan2(y, x), np.arccos(0.5 * np.hypot(x, y))
    return np.array([LEFT, slope - LEFT, bearing - opening, 2.0 * opening])


def through_the_singularity(plant, **options):
    """A law that asks for a straight way through that pose."""
    path = cmb.Quintic([LEFT, 0.6 - LEFT], [LEFT, -0.6 - LEFT], duration=2.0)
    return PassiveJoints(ProjectedInverseDynamics(plant, ("left", "elbow_left"), path, bandwidth=8.0), **options)


# -- the slider-crank of section 8 --------------------------------------------------------------------


def crank_torque(q1, rate, acceleration, m=1.0, l=1.0, g=9.81):
    """Virtual work along (1, -2): I(q1) q1'' + I'/2 q1'^2 + m g l cos q1, I = m l^2 (3 - 2 cos 2 q1)."""
    inertia = m * l * l * (3.0 - 2.0 * np.cos(2.0 * q1))
    return inertia * acceleration + 2.0 * m * l * l * np.sin(2.0 * q1) * rate**2 + m * g * l * np.cos(q1)


class TestSliderCrank:
    def test_the_projector_and_its_window(self):
        """(70) with its cases exchanged: P = I where |c1| < eps/(l sqrt 5), and the crank alone is not enough there."""
        length, epsilon = 0.8, 0.1
        plant = plants.slider_crank(length=length)
        edge = np.arccos(epsilon / (length * np.sqrt(5.0)))
        regular = np.array([[1.0, -2.0], [-2.0, 4.0]]) / 5.0
        for q1, inside in (
            (edge - 1e-6, False),
            (edge + 1e-6, True),
            (0.5 * np.pi, True),
            (0.3, False),
            (1e-3 - edge, False),
        ):
            found = actuation(plant, [q1, -2.0 * q1], epsilon=epsilon, weight=[1.0, 1.0])
            P = found.motions @ found.motions.T
            assert pytest.approx(np.eye(2) if inside else regular, abs=1e-9) == P
            assert found.margin == pytest.approx(0.0 if inside else 1.0 / np.sqrt(5.0), abs=1e-9)
            assert (found.dof, found.rank) == ((2, 1) if inside else (1, 1))
            # (71), likewise: M_c'' = P M + gamma (I - P)
            M, ml2, c2 = plant.terms([q1, -2.0 * q1], [0.0, 0.0]).M, length**2, np.cos(2.0 * q1)
            printed = ml2 * np.array([[1.0, (1.0 + c2) / 5.0], [0.0, (3.0 - 2.0 * c2) / 5.0]])
            assert pytest.approx(M if inside else printed, abs=1e-8) == P @ M + ml2 * (np.eye(2) - P)

    def test_the_margin_is_the_same_up_to_the_pose_itself(self):
        plant = plants.slider_crank()
        for away in (1.0, 1e-2, 1e-4, 1e-6, 1e-8):
            q1 = 0.5 * np.pi - away
            assert actuation(plant, [q1, -2.0 * q1]).margin == pytest.approx(1.0 / np.sqrt(5.0), abs=1e-6)
        found = actuation(plant, [0.5 * np.pi, -np.pi])
        assert found.margin == 0.0 and found.dof == 2 and found.verdict == "under-actuated" and found.joint == "q2"
        assert found.lost[:, 0] == pytest.approx([0.0, np.sign(found.lost[1, 0])], abs=1e-12)
        both = actuation(plants.slider_crank(actuated=("q1", "q2")), [0.5 * np.pi, -np.pi])
        assert both.margin == pytest.approx(1.0) and both.verdict == "fully-actuated"
        rod = actuation(plants.slider_crank(actuated=("q2",)), [0.6, -1.2])
        assert rod.margin == pytest.approx(2.0 / np.sqrt(5.0))

    @pytest.mark.slow
    def test_the_crank_alone_drives_through(self, passage):
        _, run = passage
        q, v, a = run.q.values, run.v.values, run.a.values
        assert np.abs(run.reference.values - q[:, :1]).max() < 1e-8
        assert np.abs(q[:, 1] + 2.0 * q[:, 0]).max() < 1e-8  # on the branch where the slider slides
        away = np.abs(q[:, 0] - 0.5 * np.pi) > 1e-2
        torque = crank_torque(q[:, 0], v[:, 0], a[:, 0])
        assert np.abs(run.u.values[:, 0] - torque)[away].max() < 2e-8
        assert run.max_energy_error < 1e-8 and run.max_drift < 1e-12

    def test_the_loss_is_told_by_time_and_joint(self, passage):
        plant, run = passage
        found = actuation_along(plant, run)
        assert found.margin.values == pytest.approx(np.full(run.time.size, 1.0 / np.sqrt(5.0)), abs=1e-6)
        expected = brentq(lambda t: CRANK_PATH(t)[0][0] - 0.5 * np.pi, 0.5, 1.5, xtol=1e-14)
        assert found.loss_time.values == pytest.approx([expected], abs=1e-7)
        assert found.loss_joint.values.tolist() == ["q2"]
        assert found.loss_kind.values.tolist() == ["singular configuration"]
        assert found.loss_margin.values.tolist() == [0.0]
        assert (int(found.loss_rank[0]), int(found.loss_dof[0])) == (1, 2)
        assert found.loss_q.values[0] == pytest.approx([0.5 * np.pi, -np.pi], abs=1e-7)
        both = actuation_along(plants.slider_crank(actuated=("q1", "q2")), run)  # the same motion, another motor
        assert both.sizes["loss"] == 0 and both.margin.values == pytest.approx(np.ones(run.time.size))

    def test_the_window_of_the_paper_along_the_run(self, passage):
        plant, run = passage
        epsilon = 0.2
        found = actuation_along(plant, run, epsilon=epsilon)
        edge = np.arccos(epsilon / np.sqrt(5.0))
        for key, angle in (("begin", edge), ("end", np.pi - edge)):
            expected = brentq(lambda t, angle=angle: CRANK_PATH(t)[0][0] - angle, 0.5, 1.5, xtol=1e-14)
            assert float(found[f"loss_{key}"][0]) == pytest.approx(expected, abs=1e-6)
        assert found.loss_time.size == 1 and found.loss_kind.values[0] == "singular configuration"
        inside = np.abs(np.cos(run.q.values[:, 0])) < epsilon / np.sqrt(5.0)
        assert (found.margin.values[inside] == 0.0).all() and (found.margin.values[~inside] > 0.4).all()

    def test_in_the_window_the_law_takes_the_crank_for_itself(self):
        """With P = I, the crank's force is the first row of M a + h; else that of virtual work."""
        plant = plants.slider_crank()
        law = crank_law(plant, cmb.Constant(1.7), epsilon=0.2)
        for q1, inside in ((1.45, False), (1.52, True)):
            q = np.array([q1, -2.0 * q1])
            terms = plant.terms(q, np.array([0.3, -0.6]))
            a = law.desired_acceleration(0.0, terms)
            need = terms.M @ a + terms.h
            expected = need[0] if inside else crank_torque(q1, 0.3, a[0])
            assert law(0.0, terms, np.zeros(0)) == pytest.approx([expected], abs=1e-9)
            assert law.evaluate(0.0, terms, np.zeros(0)).reported()["lost"] == float(inside)

    @pytest.mark.nojit_slow
    @pytest.mark.slow
    def test_a_wide_window_costs_accuracy(self):
        """What the window loses is made up for by the feedback, and falls with its width."""
        plant, worst = plants.slider_crank(), []
        for epsilon in (0.05, 0.2):
            law = crank_law(plant, epsilon=epsilon)
            run = cmb.simulate(plant, law, [0.6, -1.2], t_end=2.5, rtol=1e-7, atol=1e-7, **settings(pass_within=0.0))
            error = np.abs(run.reference.values - run.q.values[:, :1])[:, 0]
            worst.append(error.max())
            assert error[-1] < 1e-3 * worst[-1]
        assert 1e-5 < worst[0] < 0.5 * worst[1] < 0.5

    @pytest.mark.nojit_slow
    def test_stop_ends_the_run_at_the_window(self):
        plant = plants.slider_crank()
        law = crank_law(plant, epsilon=0.2, on_loss="stop")
        with pytest.raises(SimulationError, match=r"ActuationError.*q2 1.*on 'q2'") as caught:
            cmb.simulate(plant, law, [0.6, -1.2], t_end=2.5, rtol=1e-8, atol=1e-8, **settings(max_step=0.01))
        expected = brentq(lambda t: CRANK_PATH(t)[0][0] - np.arccos(0.2 / np.sqrt(5.0)), 0.5, 1.5)
        run = caught.value.partial
        assert expected - 0.011 < run.time[-1] < expected
        assert np.abs(run.reference.values - run.q.values[:, :1]).max() < 1e-6

    def test_at_the_pose_itself_the_law_goes_on(self):
        """The motor alone cannot do both motions there; the law does the part of the crank."""
        plant = plants.slider_crank()
        terms = plant.terms([0.5 * np.pi, -np.pi], [0.3, -0.6])
        law = crank_law(plant)
        with pytest.raises(ActuationError):
            law.motion(0.0, terms, np.zeros(0))
        need = terms.M @ law.desired_acceleration(0.0, terms) + terms.h
        assert law(0.0, terms, np.zeros(0)) == pytest.approx(need[:1], abs=1e-12)
        brake = crank_law(plant, on_loss="damp", damping=4.0)(0.0, terms, np.zeros(0))
        assert brake == pytest.approx([-4.0 * terms.M[0, 0] * 0.3])
        with pytest.raises(ActuationError, match="margin 0"):
            crank_law(plant, on_loss="stop")(0.0, terms, np.zeros(0))

    @pytest.mark.nojit_slow
    def test_sampled_through_the_pose(self):
        plant = plants.slider_crank()
        motion = ProjectedInverseDynamics(plant, "q1", CRANK_PATH, bandwidth=8.0, period=5e-3)
        run = cmb.simulate(plant, PassiveJoints(motion, on_loss="stop"), [0.6, -1.2], t_end=1.3, rtol=1e-7, atol=1e-7)
        assert np.abs(run.reference.values - run.q.values[:, :1]).max() < 2e-3  # what the sampling costs
        assert np.abs(run.q.values[:, 1] + 2.0 * run.q.values[:, 0]).max() < 1e-8
        assert actuation_along(plant, run).loss_kind.values.tolist() == ["singular configuration"]

    def test_from_rest_in_the_pose(self):
        """The crank goes where it is told; on which branch the rod follows, the motor cannot choose."""
        plant = plants.slider_crank()
        law = crank_law(plant, cmb.Quintic([0.5 * np.pi], [2.3], duration=0.5))
        run = cmb.simulate(plant, law, [0.5 * np.pi, -np.pi], t_end=0.6, rtol=1e-8, atol=1e-8)
        q1, q2 = run.q.values[-1]
        assert abs(q1 - 2.3) < 1e-6 and min(abs(q2 + np.pi), abs(q2 + 2.0 * q1)) < 1e-6
        found = actuation_along(plant, run)
        assert found.loss_time.values == pytest.approx([0.0], abs=1e-9) and found.loss_margin.values[0] == 0.0

    def test_a_motion_law_that_cannot_say_where_control_is_lost(self):
        class Fussy(Rest):
            def desired_acceleration(self, t, terms):
                raise ActuationError("no idea")

        plant = plants.slider_crank()
        law = PassiveJoints(Fussy(plant))
        terms = plant.terms([0.5 * np.pi, -np.pi], [0.0, 0.0])
        assert law(0.0, terms, np.zeros(0)) == pytest.approx(terms.h[:1], abs=1e-12)
        with pytest.raises(ActuationError, match="no idea"):
            law(0.0, plant.terms([0.6, -1.2], [0.0, 0.0]), np.zeros(0))


# -- the five-bar ---------------------------------------------------------------------------------------


class TestFiveBar:
    @pytest.mark.nojit_slow
    def test_two_ground_motors_track(self):
        """The error obeys e'' + G_D e' + G_P e = 0, and passive joints get exactly nothing."""
        plant = plants.five_bar()
        motion = ProjectedInverseDynamics(
            plant, ("left", "right"), cmb.Sine([2.1, 1.0], [0.3, 0.2], [0.5, 0.7]), bandwidth=8.0, damping_ratio=0.7
        )
        law = PassiveJoints(motion)
        run = cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.95), t_end=1.0, rtol=1e-10, atol=1e-10)
        t, w, z = run.time, 8.0, 0.7
        e, rate = run.reference.values - run.q.values[:, [0, 2]], motion.reference(0.0)[1]
        damped = w * np.sqrt(1.0 - z * z)
        wave = e[0] * np.cos(damped * t)[:, None] + (rate + z * w * e[0]) / damped * np.sin(damped * t)[:, None]
        assert np.abs(e - np.exp(-z * w * t)[:, None] * wave).max() < 1e-8
        assert run.u.shape == (t.size, 2)
        for i in range(0, t.size, 50):
            terms = plant.terms(run.q.values[i], run.v.values[i])
            f = terms.B @ run.u.values[i]
            assert f[1] == 0.0 and f[3] == 0.0
            needed = terms.M @ run.a.values[i] + terms.h + run.constraint_force.values[i]
            assert needed == pytest.approx(f, abs=1e-9)  # nor does anything else push them
        report = run.data["report"]
        assert report.sel(quantity="lost").values.max() == 0.0
        expected = actuation_along(plant, run).margin.values
        assert report.sel(quantity="margin").values == pytest.approx(expected, abs=1e-9)
        assert report.sel(quantity="rank").values.tolist() == [2.0] * t.size

    def test_the_same_efforts_as_the_smallest_ones(self):
        plant, q, _ = plants.catalogue["two-arms"].start()
        motion = ProjectedInverseDynamics(plant, plant.velocity_names[:3], cmb.Constant(q[:3] + 0.1), bandwidth=5.0)
        terms = terms_at(plant, q)
        assert PassiveJoints(motion)(0.0, terms, np.zeros(0)) == pytest.approx(motion(0.0, terms, np.zeros(0)))

    def test_one_motor_is_refused(self):
        plant = equal_five_bar(motors=("left",))
        with pytest.raises(ActuationError, match=r"under-actuated.*reach 1 of 2"):
            ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0)
        with pytest.raises(ActuationError, match=r"under-actuated.*left reach 1 of 2.*Not reached.*Add a motor") as e:
            PassiveJoints(Rest(plant))
        named = str(e.value).split("one on ")[1].strip("'.")
        PassiveJoints(Rest(equal_five_bar(motors=("left", named))))  # the remedy works

    def test_no_motor_is_refused(self):
        with pytest.raises(ActuationError, match=r"\(none\) reach 0 of 2"):
            PassiveJoints(Rest(equal_five_bar(motors=())))

    @pytest.mark.nojit_slow
    def test_on_a_wrong_model_and_sampled(self):
        plant = plants.five_bar()
        motion = ProjectedInverseDynamics(
            plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0, period=2e-3
        )
        law = controllers.WithModel(plant, PassiveJoints(motion))
        run = cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.95), t_end=1.0, rtol=1e-7, atol=1e-7)
        assert law.period == 2e-3 and law.coordinates == ("left", "right")
        assert np.abs(run.q.values[-1, [0, 2]] - [2.1, 1.0]).max() < 2e-3

    @pytest.mark.nojit_slow
    def test_the_poles_are_those_asked_for(self):
        plant = plants.five_bar()
        motion = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), kp=40.0, kd=14.0)
        loop = cmb.linearize_closed_loop(plant, PassiveJoints(motion))
        assert np.sort(np.linalg.eigvals(loop.A).real) == pytest.approx([-10.0, -10.0, -4.0, -4.0], abs=1e-4)

    def test_what_is_handed_on(self):
        plant = plants.five_bar()
        motion = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0)
        law = PassiveJoints(motion)
        law = law.with_reference(cmb.Constant([2.0, 1.1]))
        assert law.reference(0.0)[0].tolist() == [2.0, 1.1] and motion.reference(0.0)[0].tolist() == [2.1, 1.0]
        assert law.period is None and law.start(plant).size == 0
        with pytest.raises(ValueError, match="made for"):
            law.start(plants.slider_crank())


# -- where the margin goes to zero ----------------------------------------------------------------------


class TestActuationSingularity:
    def test_the_pose_in_closed_form(self):
        """Outer links in one line, from elbow to elbow: only elbows and tip can move, across it."""
        plant = equal_five_bar()
        q = equal_pose(0.0)
        assert q == pytest.approx(np.array([2.0, -2.0, 1.0, 2.0]) * np.pi / 3.0, abs=1e-12)
        found = actuation(plant, q)
        assert found.margin < 1e-12 and (found.rank, found.dof) == (1, 2)
        assert found.weakest == pytest.approx(
            {"left": 0.0, "elbow_left": 1.0, "right": 0.0, "elbow_right": -1.0}, abs=1e-9
        )
        assert found.joint == "elbow_left" and plant.diagnose(q).singular is False
        with pytest.raises(ActuationError, match="reach 1 of 2"):
            cmb.inverse_dynamics(plant, q, np.zeros(4), np.zeros(4))

    def test_efforts_grow_as_one_over_the_margin(self):
        plant = equal_five_bar()
        products, margins = [], []
        for slope in (1e-2, 1e-3, 1e-4, 1e-5):
            q = equal_pose(slope)
            margins.append(actuation(plant, q).margin)
            products.append(np.abs(cmb.inverse_dynamics(plant, q, np.zeros(4), np.zeros(4)).u).max() * margins[-1])
        assert margins == pytest.approx([margins[-1] / 1e-5 * s for s in (1e-2, 1e-3, 1e-4, 1e-5)], rel=0.02)
        # what is missing at the configuration is the weight across the motion that is lost: one half of a link's each
        found = actuation(plant, equal_pose(0.0))
        weight = abs(found.motions[:, -1] @ terms_at(plant, equal_pose(0.0)).h)
        assert products[-1] * np.sqrt(2.0) == pytest.approx(weight, rel=1e-3)  # shared by two motors alike

    @pytest.mark.parametrize("on_loss", ["hold", "damp"])
    def test_the_force_is_continuous_and_bounded(self, on_loss):
        plant = equal_five_bar()
        law = through_the_singularity(plant, on_loss=on_loss, margin=0.05)

        def effort(slope):
            q = equal_pose(slope)
            terms = plant.terms(q, plant.project_velocity(q, [0.0, 1.0, 0.0, -1.0]))
            need = terms.P @ (terms.M @ law.desired_acceleration(0.9, terms) + terms.h)
            return law(0.9, terms, np.zeros(0)), np.linalg.norm(need)

        for slope in np.linspace(-0.1, 0.1, 21):
            u, need = effort(slope)
            assert np.linalg.norm(u) <= need / 0.05 * (1.0 + 1e-9)
            assert effort(slope + 1e-8)[0] == pytest.approx(u, abs=1e-3)

    def test_damping_takes_energy_out(self):
        plant = equal_five_bar()
        law = through_the_singularity(plant, on_loss="damp", margin=0.5, damping=3.0)
        rng = np.random.default_rng(0)
        q = equal_pose(0.1)
        assert actuation(plant, q).margin < 0.25
        for _ in range(5):
            terms = plant.terms(q, plant.project_velocity(q, rng.standard_normal(4)))
            own = np.where([True, False, True, False], terms.v, 0.0)
            power = law(0.5, terms, np.zeros(0)) @ terms.B.T @ terms.v
            assert power == pytest.approx(-3.0 * own @ terms.M @ own)

    @pytest.mark.nojit_slow
    @pytest.mark.parametrize("on_loss", ["hold", "damp"])
    def test_commanded_through(self, on_loss):
        plant = equal_five_bar()
        law = through_the_singularity(plant, on_loss=on_loss, margin=0.05)
        run = cmb.simulate(plant, law, equal_pose(0.6), t_end=4.0, rtol=1e-8, atol=1e-8)
        error = np.abs(run.reference.values - run.q.values[:, :2]).max(axis=1)
        assert 1e-3 < error.max() < 0.2 and error[-1] < 1e-6  # control is lost for a while, and comes back
        assert run.max_energy_error < 1e-6
        lost = run.data["report"].sel(quantity="lost").values
        margin = run.data["report"].sel(quantity="margin").values
        assert lost.sum() > 5 and ((margin < 0.05) == (lost == 1.0)).all()
        found = actuation_along(plant, run, margin=0.05)
        assert found.sizes["loss"] == 1 and found.loss_kind.values[0] == "actuation singularity"
        assert found.loss_joint.values[0] in ("elbow_left", "elbow_right")
        assert found.loss_margin.values[0] < 1e-6 and found.loss_rank.values[0] in (1, 2)
        begin, end = float(found.loss_begin[0]), float(found.loss_end[0])
        assert run.time[lost == 1.0][[0, -1]] == pytest.approx([begin, end], abs=0.0081)
        slope = found.loss_q.values[0, :2].sum()
        assert slope == pytest.approx(found.loss_q.values[0, 2:].sum() - np.pi, abs=1e-6)  # in one line there

    @pytest.mark.nojit_slow
    def test_stop(self):
        plant = equal_five_bar()
        law = through_the_singularity(plant, on_loss="stop", margin=0.05)
        with pytest.raises(
            SimulationError, match=r"lose control at t = .*margin 0\.0.*elbow_left 1.*on_loss='hold'"
        ) as e:
            cmb.simulate(plant, law, equal_pose(0.6), t_end=4.0, rtol=1e-8, atol=1e-8, **settings(max_step=0.01))
        run = e.value.partial
        margins = actuation_along(plant, run, margin=0.05).margin.values
        assert 0.05 < margins[-1] < 0.12
        assert np.abs(run.reference.values - run.q.values[:, :2]).max() < 1e-6

    @pytest.mark.nojit_slow
    def test_a_loss_between_two_output_times_is_found(self):
        """Of a coarse output nothing is left but the path between."""
        plant = equal_five_bar()
        law = through_the_singularity(plant, margin=0.05)
        run = cmb.simulate(plant, law, equal_pose(0.6), t_end=2.0, rtol=1e-7, atol=1e-7)
        fine = actuation_along(plant, run)
        coarse_run = cmb.Simulation(run.data.isel(time=slice(0, None, 15)), plant)
        coarse = actuation_along(plant, coarse_run)
        assert coarse.margin.values.min() > 0.01
        assert coarse.loss_time.values == pytest.approx(fine.loss_time.values, abs=1e-3)

    @pytest.mark.nojit_slow
    def test_the_path_between_times_of_joints_with_several_axes(self):
        plant, q, v = plants.catalogue["stewart"].start()
        fine = cmb.simulate(plant, None, q, v, t_end=0.4, output_times=0.005, limits="ignore")
        coarse = cmb.Simulation(fine.data.isel(time=slice(0, None, 4)), plant)
        whole, part = (actuation_along(plant, run, margin=0.2) for run in (fine, coarse))
        assert whole.sizes["loss"] == 1 == part.sizes["loss"]  # as the platform falls
        assert float(part.loss_begin[0]) == pytest.approx(float(whole.loss_begin[0]), abs=1e-4)


# -- input --------------------------------------------------------------------------------------------


class TestInput:
    def test_the_law(self):
        plant = plants.slider_crank()
        motion = ProjectedInverseDynamics(plant, "q1", cmb.Constant(0.6), bandwidth=8.0)
        with pytest.raises(TypeError, match="must be a motion law"):
            PassiveJoints(cmb.Constant(0.6))
        for options in ({"weight": [2.0]}, {"saturation": "clip", "limits": [5.0]}):
            own = ProjectedInverseDynamics(plant, "q1", cmb.Constant(0.6), bandwidth=8.0, **options)
            with pytest.raises(ValueError, match="would ignore"):
                PassiveJoints(own)
        for options, words in (
            ({"on_loss": "hodl"}, "did you mean 'hold'"),
            ({"margin": 0.0}, "margin must be > 0"),
            ({"margin": 1.5}, "must be below 1"),
            ({"damping": -1.0}, "damping must be >= 0"),
            ({"epsilon": 0.0}, "epsilon must be > 0"),
            ({"weight": [1.0, -1.0]}, "positive definite"),
            ({"weight": [1.0]}, "shape"),
            ({"weight": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric"),
        ):
            with pytest.raises(ValueError, match=words):
                PassiveJoints(motion, **options)

    def test_the_functions(self, passage):
        plant, run = passage
        with pytest.raises(ValueError, match="q must have shape"):
            actuation(plant, [0.1])
        assert actuation(plant, {"q1": 0.6, "q2": -1.2}).complete
        with pytest.raises(ValueError, match="the run is of a plant with"):
            actuation_along(plants.five_bar(), run)
        with pytest.raises(ValueError, match="margin must be > 0"):
            actuation_along(plant, run, margin=0.0)
        with pytest.raises(ValueError, match="force must have shape"):
            actuation(plant, [0.6, -1.2]).active_force([1.0])

    @pytest.mark.nojit_slow
    def test_an_assembly_that_fails_is_left_to_the_run(self):
        plant = equal_five_bar()
        bodies, joints = plant.bodies, plant.joints
        far = PointOnLine("tip", "left_upper", "right_upper", point_a=(1.0, 0.0, 0.0), point_b=(9.0, 0.0, 0.0))
        broken = Mechanism("broken", bodies, joints, [far], actuators=plant.actuators)
        assert PassiveJoints(Rest(broken)).on_loss == "hold"
