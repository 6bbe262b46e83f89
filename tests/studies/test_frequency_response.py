"""Measured frequency responses against linear models, and against balances of harmonics in closed form."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Frame, JointForce, Load, Mechanism, Prismatic, plants
from cmbcontrol.characteristics import FormulaForce, Friction, SpringDamper
from cmbcontrol.controllers import Delay, Encoder, FirstOrderActuator, ProjectedInverseDynamics
from cmbcontrol.errors import InputError, Interrupted, SimulationError
from cmbcontrol.linear import describing_function

NEAR = 1e-6  # of the response: what is not linear leaves 1e-7 at the default amplitude, a transient 1e-7


def five_bar(**options):
    plant = plants.five_bar()
    at = cmb.Constant([2.1, 1.0])
    return plant, ProjectedInverseDynamics(plant, ("left", "right"), at, bandwidth=8.0, **options), None


def catalogue(name, **options):
    """A machine of the catalogue under a law for its coordinates, where its study starts."""
    entry = plants.catalogue[name]
    plant, q, _ = entry.start()
    names = entry.study.coordinates
    at = cmb.Constant([q[plant.position_names.index(n)] for n in names])
    return plant, ProjectedInverseDynamics(plant, names, at, bandwidth=10.0, **options), q, names


def require_near(found):
    assert np.nanmin(found.data["coherence"].values) > 0.99
    assert float(found.deviation().max()) < NEAR


@pytest.mark.parametrize("source", ["left_ref", "left_rate_ref", "left_disturbance", "left_command"])
def test_a_multisine_against_the_linear_model(source):
    plant, law, q = five_bar()
    found = cmb.frequency_response(
        plant, law, q, between=(source, ("left_effort", "left", "left_rate")), omega=np.geomspace(2.0, 60.0, 6),
        excitation="multisine", workers=1,
    )  # fmt: skip
    assert found.data["output"].values.tolist() == ["left", "left_rate", "left_effort"]  # as the linear model has them
    require_near(found)


def test_a_sampled_loop_with_delay_at_all_its_signals():
    """Frequencies fit into samples; the excitation is held where the linear model holds it."""
    plant, law, q = five_bar(period=5e-3)
    chain = law | Delay(7e-3) | FirstOrderActuator(4e-3)
    for source in ("left_ref", "left_command", "right_measurement", "left_rate_measurement"):
        # what the law decouples answers a ten-thousandth, of which rounding (4e-15 rad) is 1e-6 and more
        outputs = ("right", "left") if source.startswith("right") else ("left", "left_rate", "left_effort")
        found = cmb.frequency_response(
            plant, chain, q, between=(source, outputs), omega=np.geomspace(3.0, 150.0, 5), excitation="multisine",
            workers=1,
        )  # fmt: skip
        require_near(found)
    with pytest.raises(InputError, match="excite left_command before it"):
        cmb.frequency_response(plant, chain, q, between=("left_disturbance", "left"), workers=1)


def test_the_loop_at_a_motor_is_that_of_the_linear_model():
    plant, law, _ = five_bar(period=5e-3)
    chain, omega = law | Delay(5e-3), np.array([4.0, 9.0, 25.0])
    found = cmb.frequency_response(plant, chain, between=("left_command", "left_effort"), omega=omega, workers=1)
    L = found.loop()
    exact = cmb.linearize_closed_loop(plant, chain).loop(channel="left")
    expected = exact(np.exp(1j * L.omega * 5e-3))
    assert L.data["response"].values.ravel() == pytest.approx(expected, rel=NEAR)
    assert L.to_frd().frdata.ravel() == pytest.approx(expected, rel=NEAR)
    with pytest.raises(InputError, match="the loop at a motor"):
        L.loop()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta", "stewart", "three-rrr"])
def test_machines_of_the_catalogue(name):
    plant, law, q, names = catalogue(name)
    motor = plant.actuator_names[0]
    for between in ((f"{names[0]}_ref", (names[0], f"{motor}_effort")), (f"{motor}_command", (names[0],))):
        require_near(cmb.frequency_response(plant, law, q, between=between, omega=[2.0, 10.0, 60.0], workers=1))


@pytest.mark.slow
def test_an_excavator_with_a_load_and_a_frame():
    from cmbcontrol.plants.excavator import configuration

    plant = plants.excavator()
    q = configuration(plant, boom=0.3, arm=-1.6, bucket=-0.6)
    names = ("boom_cylinder", "arm_cylinder", "bucket_cylinder")
    at = cmb.Constant([q[plant.position_names.index(n)] for n in names])
    law = ProjectedInverseDynamics(plant, names, at, bandwidth=6.0)
    for source, outputs in (
        ("boom_cylinder_ref", ("boom_cylinder", "bucket_position", "boom_cylinder_effort")),
        ("digging_fx", ("arm", "bucket_rate")),
    ):
        omega = [2.0, 10.0, 40.0]
        found = cmb.frequency_response(plant, law, q, between=(source, outputs), omega=omega, workers=1)
        require_near(found)


@pytest.mark.slow
def test_sines_and_a_sweep_in_one_run_say_the_same():
    plant, law, q = five_bar()
    for excitation in ("sine", "chirp"):
        omega = np.geomspace(2.0, 40.0, 4)
        found = cmb.frequency_response(
            plant, law, q, between=("left_ref", "left"), omega=omega, excitation=excitation, workers=1
        )
        require_near(found)


@pytest.mark.slow
def test_a_load_that_is_held_for_samples():
    plant, law, q, names = catalogue("excavator", period=4e-3)
    found = cmb.frequency_response(
        plant, law, q, between=("digging_fy", names[:1]), omega=[3.0, 20.0, 100.0], workers=1
    )
    assert float(found.deviation().max()) < NEAR


def test_a_study_that_goes_on(tmp_path):
    plant, law, q = five_bar()
    calls = []

    def stop(part):
        calls.append(part)
        if len(calls) > 2:
            raise KeyboardInterrupt

    options = {"between": ("left_ref", "left"), "omega": [5.0, 20.0, 40.0], "workers": 1, "folder": tmp_path / "rows"}
    with pytest.raises(Interrupted):
        cmb.frequency_response(plant, law, q, progress=stop, **options)
    found = cmb.frequency_response(plant, law, q, **options)
    options.pop("folder")
    again = cmb.frequency_response(plant, law, q, **options)
    assert np.array_equal(found.data["response"].values, again.data["response"].values)
    assert found.table().shape[0] == 3 and "from left_ref, sine, 3 frequencies" in str(found)


# -- what is not linear ---------------------------------------------------------------------------------------


def oscillator(*characteristics):
    """Mass of 2 kg between a spring and what else is given, pushed by a load."""
    law = sum(characteristics[1:], characteristics[0])
    slide = Prismatic("x", "ground", "mass", axis=(1, 0, 0))
    loads = [Load("push", "mass", Frame())]
    return Mechanism(
        "oscillator",
        [Body("mass", 2.0, (0, 0, 0), (1, 1, 1))],
        [slide],
        forces=[JointForce("k", "x", law)],
        loads=loads,
    )


def stiffness_of(found):
    """Complex stiffness force/displacement at each level, less that of the mass: what holds the fundamental."""
    return 1.0 / found.data["response"].values[:, 0, 0] + 2.0 * found.omega[0] ** 2


@pytest.mark.slow
def test_a_friction_oscillator_keeps_the_balance_of_its_fundamental():
    """Friction that always slides is a square wave: its fundamental is 4 F/pi, whatever else moves."""
    k, F, omega = 50.0, 1.5, 8.0
    plant = oscillator(SpringDamper(k, damping=0.5), Friction(F))
    smooth = oscillator(SpringDamper(k, damping=0.5), Friction(F, transition_rate=1.0))
    linear = cmb.linearize_closed_loop(smooth, np.zeros(0), [0.0], outputs=("x",), disturbances=("push_fx",))
    found = cmb.frequency_response(
        plant, np.zeros(0), [0.0], between=("push_fx", "x"), omega=[omega], amplitude=[6.0, 20.0], linear=linear,
        friction="exact", workers=1,
    )  # fmt: skip
    Y = np.abs(found.data["response"].values[:, 0, 0]) * found.data["amplitude"].values[:, 0]
    rest = stiffness_of(found) - k - 0.5j * omega
    assert np.abs(rest) * Y == pytest.approx(np.full(2, 4.0 * F / np.pi), rel=1e-6)
    # harmonic balance: the friction is in phase with the velocity but for the harmonics, which move its zeros
    N = describing_function(lambda x, rate: F * np.sign(rate), Y)
    assert np.abs(rest - N) == pytest.approx(0.0, abs=0.1 * np.abs(N).max())
    assert found.data["distortion"].values.min() > 0.0


@pytest.mark.slow
def test_a_play_keeps_its_describing_function():
    """The measured fundamental of a spring with play, as far as harmonics of the motion allow."""
    k, b = 900.0, 0.01
    play = FormulaForce("k * (max(x - b, 0) + min(x + b, 0))", values={"k": k, "b": b})
    plant = oscillator(SpringDamper(20.0, damping=4.0), play)
    amplitude = [80.0, 160.0, 320.0]
    found = cmb.frequency_response(
        plant, np.zeros(0), [0.0], between=("push_fx", "x"), omega=[40.0], amplitude=amplitude, workers=1
    )
    Y = np.abs(found.data["response"].values[:, 0, 0]) * amplitude
    part = b / Y
    exact = k * (1.0 - 2.0 / np.pi * (np.arcsin(part) + part * np.sqrt(1.0 - part**2)))
    assert describing_function(play, Y).real == pytest.approx(exact, rel=1e-9)
    measured = stiffness_of(found) - 20.0 - 4j * 40.0
    # the third harmonic of the motion is the force's, a part c of k Y, through a mass: c k/(9 m w^2 - k)
    share = found.data["distortion"].values[:, 0, 0] / np.abs(found.data["response"].values[:, 0, 0])
    assert share.max() < 0.02
    assert (np.abs(measured - exact) < 3.0 * k * share).all()


def test_the_default_amplitude_is_small_for_smooth_friction():
    """Friction that turns round within 0.1 m/s: what moves by more is not what the linear model says."""
    plant = oscillator(SpringDamper(50.0, damping=0.5), Friction(1.5, transition_rate=0.1))
    options = {"between": ("push_fx", ("x", "x_rate")), "omega": [8.0], "workers": 1}
    require_near(cmb.frequency_response(plant, np.zeros(0), [0.0], **options))
    large = cmb.frequency_response(plant, np.zeros(0), [0.0], amplitude=1.0, **options)
    assert float(large.deviation().min()) > 1e-3 and large.data["distortion"].values.min() > 0.0


def test_what_does_not_settle_is_refused_with_numbers():
    plant, law, _ = five_bar(period=5e-3)
    noisy = Encoder(noise=1e-6) | law
    linear = cmb.linearize_closed_loop(plant, law, outputs=("left",))
    options = {"between": ("left_ref", "left"), "linear": linear, "amplitude": 1e-5, "omega": [5.0, 20.0], "workers": 1}
    with pytest.raises(SimulationError, match=r"does not settle: after \d+ records .* left still changes by .* rad"):
        cmb.frequency_response(plant, noisy, excitation="multisine", **options)


def test_noise_is_told_by_coherence_and_confidence():
    """With as much noise as signal; the linear response is within three times the interval of 95 %."""
    plant, law, _ = five_bar(period=5e-3)
    linear = cmb.linearize_closed_loop(plant, law, outputs=("left",))
    found = cmb.frequency_response(
        plant, Encoder(noise=2e-6, seed=4) | law, between=("left_ref", "left"), linear=linear, amplitude=1e-5,
        omega=np.geomspace(5.0, 60.0, 5), tolerance=10.0, periods=30, workers=1,
    )  # fmt: skip
    data = found.data
    away = np.abs(np.abs(data["response"].values[0]) - np.abs(data["linear"].values))
    assert (away < 3.0 * data["confidence"].values[0]).all() and away.max() > 1e-6
    assert (np.diff(data["coherence"].values[0, :, 0]) < 0.0).all() and data["coherence"].values.max() < 0.9999


def test_a_loop_that_is_not_stable_has_no_response():
    plant = plants.pendulum()
    with pytest.raises(InputError, match="not stable at rest"):
        cmb.frequency_response(
            plant, np.zeros(1), plant.assemble(angle=np.pi / 2.0), between=("motor_disturbance", "angle")
        )


def test_wrong_names_and_options():
    plant, law, q = five_bar()
    with pytest.raises(InputError, match="left_ref"):
        cmb.frequency_response(plant, law, q, between=("left_reff", "left"))
    with pytest.raises(InputError, match="increase"):
        cmb.frequency_response(plant, law, q, between=("left_ref", "left"), omega=[3.0, 2.0])
    with pytest.raises(cmb.errors.InputTypeError, match="t_end="):
        cmb.frequency_response(plant, law, q, between=("left_ref", "left"), t_end=3.0)
    with pytest.raises(SimulationError, match="of 1 runs"):
        cmb.frequency_response(
            plant, law, q, between=("left_ref", "left"), omega=[9.0], method=cmb.Integrator(max_steps=3)
        )
