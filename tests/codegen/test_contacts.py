"""Steps with contacts, end stops and dry friction in C, against runs with exact events and against closed forms."""

import ctypes
import shutil
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.characteristics import Friction
from cmbcontrol.codegen import export
from cmbcontrol.codegen.contacts import CORRECTIONS, SWEEPS
from cmbcontrol.errors import InputError
from cmbcontrol.plants.biped import SOLES, stand

from ..robustness.landings import drawing
from ..seeds import many
from .conftest import COMPILER

OK, OPEN, ITERATIONS = 0, 8, 9
SUNK = 1e-10  # of the size: ten times what a step may leave open
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)  # s


class Stepping:
    """Steps of a compiled machine, with all that they tell."""

    def __init__(self, found):
        self.found, self.entry = found, found.entries["contact_step"]
        self.sizes = {a.name: a.size for a in (*self.entry.inputs, *self.entry.outputs)}
        self.door = getattr(found.library, f"{found.prefix}_contact_step")

    def run(self, q, v, dt, count, u=None):
        """Trajectories, and the status of each step; the effort is a constant, or a function of (t, q, v)."""
        arrays = {name: np.zeros(n) for name, n in self.sizes.items()}
        arrays["q"][:], arrays["v"][:], arrays["dt"][:] = q, v, dt
        given = [a.name for a in (*self.entry.inputs, *self.entry.outputs) if a.size]
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (self.found.p, *(arrays[name] for name in given))]
        told = ("q_next", "v_next", "push_next", "gap", "report")
        rows, status = {name: [] for name in told}, []
        for k in range(count):
            if u is not None:
                arrays["u"][:] = u(k * dt, arrays["q"], arrays["v"]) if callable(u) else u
            status.append(self.door(*pointers))
            for name, row in rows.items():
                row.append(arrays[name].copy())
            if np.isnan(arrays["q_next"]).any():
                break
            for name in ("q", "v", "push"):
                arrays[name][:] = arrays[f"{name}_next"]
        rows = {name: np.array(row) for name, row in rows.items()}
        report = dict(zip(("sweeps", "residual", "corrections", "open", "work"), rows["report"].T, strict=True))
        rows = {name.removesuffix("_next"): row for name, row in rows.items()}
        return SimpleNamespace(**rows | {"status": np.array(status), "t": dt * np.arange(1, len(status) + 1)} | report)


@pytest.fixture
def steps(in_c):
    """Stepping of a machine, at a configuration."""
    return lambda plant, q, **options: Stepping(in_c(plant, np.asarray(q, float), ["terms"], **options))


def require_bounded(run):
    """Counts within their bounds, and a status that says what the numbers say."""
    assert run.sweeps.max() <= 2 * SWEEPS and run.corrections.max() <= CORRECTIONS
    assert np.isin(run.status, (OK, OPEN, ITERATIONS)).all()
    assert np.isfinite(run.q).all() and np.isfinite(run.v).all()


def order(sizes, errors):
    """Of convergence, by least squares."""
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def ball(restitution):
    body = cmb.Body("ball", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    floor = cmb.PointOnPlane("floor", "ground", "ball")
    plant = cmb.Mechanism("ball", [body], [cmb.Prismatic("height", "ground", "ball")], [floor])
    return plant, cmb.Contact("floor", restitution=restitution)


def bounced(t, height, e, g=9.81):
    """Height of a ball that falls and bounces."""
    fall = np.sqrt(2.0 * height / g)
    if t < fall:
        return height - 0.5 * g * t * t
    t, v = t - fall, e * g * fall
    while v > 1e-9:  # m/s: lower than a nanometre
        if t < 2.0 * v / g:
            return v * t - 0.5 * g * t * t
        t, v = t - 2.0 * v / g, e * v
    return 0.0


def test_a_bouncing_ball_is_of_first_order(steps):
    plant, contact = ball(0.5)
    machine = steps(plant, [1.0], contacts=contact)
    errors = []
    for dt in STEPS:
        run = machine.run([1.0], [0.0], dt, round(2.0 / dt))
        require_bounded(run)
        assert (run.status == OK).all()
        off = np.abs(run.q[:, 0] - [bounced(t, 1.0, 0.5) for t in run.t])
        errors.append(off.mean())
        # each of the first impacts is at most a step early, at 4.4 m/s and less, and flights lag by g dt / 2 a second
        assert off.max() < 2.0 * 4.43 * dt
        assert run.q.min() >= 0.0 and abs(run.q[-1, 0]) < 1e-12 and abs(run.v[-1, 0]) < 1e-12
        energy = 9.81 * run.q[:, 0] + 0.5 * run.v[:, 0] ** 2
        assert np.diff(energy).max() < (9.81 * dt) ** 2  # what gravity may add in a step, to its square
        assert run.work.max() <= 0.0
    assert 0.8 < order(STEPS, errors) < 1.3  # one, but for where impacts are within their steps


def test_a_ball_without_loss_keeps_bouncing(steps):
    plant, contact = ball(1.0)
    run = steps(plant, [1.0], contacts=contact).run([1.0], [0.0], 1e-3, 10000)
    heights = run.q[:, 0]
    peaks = heights[1:-1][(heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:])]
    assert len(peaks) >= 10
    assert np.abs(peaks - 1.0).max() < 0.02  # v dt = 4.4 mm at the impact, and what flights lose until it


def test_a_pendulum_between_stops(steps):
    rod = cmb.Body("rod", 1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    pivot = cmb.Revolute("pivot", "ground", "rod", axis=(0, 0, 1), limits=(-2.2, -0.9), restitution=0.4)
    plant = cmb.Mechanism("rod", [rod], [pivot], gravity=(0, -9.81, 0))
    machine = steps(plant, [-1.2], limits=True)
    errors = []
    for dt in STEPS:
        run = machine.run([-1.2], [3.0], dt, round(2.0 / dt))
        require_bounded(run)
        exact = cmb.simulate(plant, None, [-1.2], [3.0], t_end=2.0, output_times=dt).q.values[1:]
        errors.append(np.abs(run.q - exact).mean())
        assert run.q.min() >= -2.2 - SUNK and run.q.max() <= -0.9 + SUNK
        assert run.gap.min() >= -SUNK
    assert 0.8 < order(STEPS, errors) < 1.5
    assert errors[-1] < 1e-3
    # the limit is a number of the machine
    machine.found.p[list(machine.found.made.parameters).index("pivot_lower_stop_value")] = -1.8
    run = machine.run([-1.2], [3.0], 1e-3, 2000)
    assert run.q.min() == pytest.approx(-1.8, abs=4e-3)  # it turns round within a step of it, at 3 rad/s
    assert run.q.min() >= -1.8 - SUNK


def test_a_limit_of_zero_is_a_number_too(steps):
    rod = cmb.Body("rod", 1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    pivot = cmb.Revolute("pivot", "ground", "rod", axis=(0, 0, 1), limits=(0.0, 1.0))
    plant = cmb.Mechanism("rod", [rod], [pivot], gravity=(0, -9.81, 0))
    machine = steps(plant, [0.5], limits=["pivot"])
    assert machine.run([0.5], [0.0], 1e-3, 1000).q[-1, 0] == pytest.approx(0.0, abs=SUNK)
    machine.found.p[list(machine.found.made.parameters).index("pivot_lower_stop_value")] = 0.2
    assert machine.run([0.5], [0.0], 1e-3, 1000).q[-1, 0] == pytest.approx(0.2, abs=SUNK)


@pytest.mark.slow
def test_a_five_bar_with_limits(steps):
    plain = plants.five_bar()
    joints = [replace(j, limits=(1.7, 2.4), restitution=0.3) if j.name == "left" else j for j in plain.joints]
    plant = plain.with_parts(joints=joints)
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [2.0, 0.0, 0.0, 0.0])
    machine = steps(plant, q, limits=["left"])
    errors = []
    for dt in STEPS:
        run = machine.run(q, v, dt, round(1.0 / dt))
        require_bounded(run)
        exact = cmb.simulate(plant, None, q, v, t_end=1.0, output_times=dt).q.values[1:]
        errors.append(np.abs(run.q - exact).mean())
        assert (run.status == OK).all() and run.gap.min() >= -SUNK * plant.size
        assert max(plant.closure_error(x) for x in run.q[::20]) < SUNK * plant.size
    assert 0.8 < order(STEPS, errors) < 1.3


def block(law):
    bodies = [cmb.Body("slide", 0.5, (0, 0, 0), (0.1,) * 3), cmb.Body("block", 2.0, (0, 0, 0), (0.1,) * 3)]
    joints = [cmb.Prismatic("x", "ground", "slide", axis=(1, 0, 0)), cmb.Prismatic("z", "slide", "block")]
    floor = cmb.PointOnPlane("floor", "ground", "block")
    return cmb.Mechanism("block", bodies, joints, [floor]), cmb.Contact("floor", friction=law)


def test_a_block_slides_and_stops(steps):
    """Closed form: a = mu g of all that presses, v0^2 / (2 a) far; the slide has no contact and presses on nothing."""
    plant, contact = block(0.3)
    machine = steps(plant, [0.0, 0.0], contacts=contact)
    a = 0.3 * 9.81 * 2.0 / 2.5
    for dt in STEPS:
        run = machine.run([0.0, 0.0], [2.0, 0.0], dt, round(1.5 / dt))
        require_bounded(run)
        stops = 2.0 / a
        exact = np.where(run.t < stops, 2.0 * run.t - 0.5 * a * run.t**2, 2.0**2 / (2.0 * a))
        assert np.abs(run.q[:, 0] - exact).max() < 1.1 * dt  # half of the fall of 2 m/s, a step late
        assert run.v[-1, 0] == 0.0
        # energy: what friction takes in a step is its push at the mean speed
        assert run.work.sum() == pytest.approx(-0.5 * 2.5 * 4.0, rel=1e-9)
    machine.found.p[list(machine.found.made.parameters).index("contact_floor_friction")] = 0.6
    faster = machine.run([0.0, 0.0], [2.0, 0.0], 1e-3, 1500)
    assert faster.q[-1, 0] == pytest.approx(0.5 * run.q[-1, 0], abs=3e-3)


def test_static_friction_and_a_stribeck_curve(steps):
    """What rests stays up to static friction, and then needs less."""
    plant, contact = block(Friction(0.2, 0.5, stribeck_rate=0.02))
    plant = plant.with_parts(actuators=[cmb.Actuator("x")])
    machine = steps(plant, [0.0, 0.0], contacts=contact)
    holds = 0.5 * 2.0 * 9.81
    rest = machine.run([0.0, 0.0], [0.0, 0.0], 1e-3, 200, [0.99 * holds])
    assert np.abs(rest.v).max() < 1e-12
    moves = machine.run([0.0, 0.0], [0.0, 0.0], 1e-3, 1000, [1.01 * holds])
    rate = (1.01 * holds - 0.2 * 2.0 * 9.81) / 2.5
    assert np.diff(moves.v[-100:, 0]).mean() / 1e-3 == pytest.approx(rate, rel=1e-6)


def test_dry_friction_of_a_joint_sticks(steps):
    """Steps far longer than the smooth form allows: a pendulum rests where friction holds it."""
    rod = cmb.Body("rod", 1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    pivot = cmb.Revolute("pivot", "ground", "rod", axis=(0, 0, 1))
    rub = cmb.JointForce("rub", "pivot", Friction(1.0, transition_rate=1e-4))
    plant = cmb.Mechanism("rod", [rod], [pivot], gravity=(0, -9.81, 0), forces=[rub])
    run = steps(plant, [-1.0], friction="exact").run([-1.0], [0.0], 1e-3, 4000)
    exact = cmb.simulate(plant, None, [-1.0], [0.0], t_end=4.0, output_times=1e-3, friction="exact").q.values[1:]
    require_bounded(run)
    assert np.abs(run.q - exact).max() < 5e-3  # a step at 2 rad/s, twice
    assert run.v[-1, 0] == 0.0 and abs(np.cos(run.q[-1, 0])) * 0.5 * 9.81 < 1.0


def biped(above):
    plant = plants.biped()
    contacts = [cmb.Contact(name, normal=(0, 1, 0), friction=0.7) for name in SOLES]
    q = stand(plant, above=above)
    driven = [plant.index(name) for name in plant.actuator_names]

    stiff = np.array([50.0 if "ankle" in name else 400.0 for name in plant.actuator_names])

    def effort(q_now, v_now):  # damped by a fiftieth of a second: sampled each millisecond, light feet do not swing
        return np.clip(stiff * (q[driven] - q_now[driven] - 0.02 * v_now[driven]), -200.0, 200.0)

    return plant, contacts, q, effort


@pytest.mark.slow
def test_a_biped_lands_on_two_feet(steps):
    plant, contacts, q, effort = biped(0.1)
    machine = steps(plant, q, contacts=contacts, limits=True)
    free, period, count = plant.without(*SOLES), 1e-3, 400
    stepper = cmb.Stepper(plant, q, switches=contacts)
    states = []
    for _ in range(count):
        state = stepper.step(effort(stepper.state.q, stepper.state.v), period)
        states.append(state.q)
    lengths, errors = [1e-3, 5e-4, 2.5e-4, 1.25e-4], []
    for dt in lengths:
        each, held = round(period / dt), {}

        def sampled(t, q_now, v_now, dt=dt, each=each, held=held):
            if round(t / dt) % each == 0:
                held["u"] = effort(q_now, v_now)
            return held["u"]

        run = machine.run(q, np.zeros(plant.nv), dt, count * each, sampled)
        require_bounded(run)
        assert (run.status == OK).all()
        assert run.gap.min() >= -SUNK
        assert max(free.closure_error(x) for x in run.q[::20]) < SUNK
        assert np.abs(run.gap[-1, :4]).max() < dt**2  # on both feet, but for what curves within a step, at 1 m/s2
        errors.append(np.abs(run.q[each - 1 :: each] - states).mean())
    assert 0.7 < order(lengths, errors) < 1.4
    assert errors[0] < 5e-3


def landed(steps, seed, count=600):
    """A random machine with random contacts, limits and dry friction, which falls; None where it is refused."""
    _, plant, contacts, q, v = drawing(seed)
    try:
        machine = steps(plant, q, contacts=contacts, limits=True, friction="exact", prefix=f"m{seed}", overwrite=True)
    except cmb.errors.CmbError:
        return None
    run = machine.run(q, v, 1e-3, count)
    require_bounded(run)
    free = plant.without(*(contact.name for contact in contacts))
    terms = [free.terms(a, b, check=False) for a, b in zip(run.q[::20], run.v[::20], strict=True)]
    energy = np.array([t.kinetic + t.potential for t in terms])
    # no motor: impacts and friction take energy, and gravity adds what a step of first order misses of it
    slack = 1e-3 * np.ptp(energy) + 9.81**2 * 1e-3 * 20 * 1e-3 * np.trace(terms[0].M)
    assert np.diff(energy).max() < slack, seed
    solved = run.status == OK
    assert (run.residual[solved] <= 1e-9).all() and (run.open[solved] <= 1e-11 * plant.size).all()
    assert (run.residual[run.status == ITERATIONS] > 1e-9).all()
    return solved.mean()


@pytest.mark.slow
def test_random_machines_on_random_contacts(steps):
    shares = [share for seed in range(many(24)) if (share := landed(steps, seed)) is not None]
    assert len(shares) >= 0.8 * many(24)
    assert np.mean(shares) > 0.98  # points that stick whatever this takes may jam, which no push solves


def test_one_random_machine(steps):
    assert landed(steps, 4, 300) == 1.0


# -- where it is honest -------------------------------------------------------------------------------------


def test_what_cannot_be_solved_has_a_status(steps, monkeypatch):
    """With one sweep only, a landing on two points is not solved, and is told so; results are given."""
    monkeypatch.setattr("cmbcontrol.codegen.contacts.SWEEPS", 1)
    _, plant, contacts, q, v = drawing(4)
    run = steps(plant, q, contacts=contacts).run(q, v, 1e-3, 600)
    assert set(run.status) == {OK, ITERATIONS} and run.sweeps.max() == 1
    assert np.isfinite(run.q).all()
    assert (run.residual[run.status == ITERATIONS] > 1e-9).all()


def test_loops_that_stay_open_have_a_status(steps, monkeypatch):
    monkeypatch.setattr("cmbcontrol.codegen.contacts.CORRECTIONS", 0)
    plain = plants.five_bar()
    plant = plain.with_parts(joints=[replace(j, limits=(1.0, 3.0)) if j.name == "left" else j for j in plain.joints])
    q = plant.assemble(left=2.1, right=1.0)
    run = steps(plant, q, limits=True).run(q, plant.project_velocity(q, np.ones(4)), 1e-3, 50)
    assert (run.status == OPEN).all() and np.isfinite(run.q).all() and run.open[-1] > 1e-6


def test_steps_that_are_no_steps(steps):
    plant, contact = ball(0.0)
    found = steps(plant, [1.0], contacts=contact).found
    for dt, status in ((0.0, 7), (-1e-3, 7), (np.nan, 1)):
        got, y = found.call("contact_step", [1.0], [0.0], [], [dt], [0.0])
        assert got == status and np.isnan(y.q_next).all()


def test_other_functions_are_those_of_open_contacts(in_c):
    plant, contact = block(0.3)
    found = in_c(plant, np.zeros(2), ["forward"], contacts=contact)
    status, y = found.call("forward", [0.0, 0.0], [0.0, 0.0], [])
    assert status == 0
    np.testing.assert_allclose(y.a, [0.0, -9.81], atol=1e-12)
    header = next(path for path in found.made.files if path.suffix == ".h").read_text()
    assert "BLOCK_CONTACT_FLOOR = 0 /* gap in m */" in header and f"#define BLOCK_SWEEPS {SWEEPS}" in header
    assert "BLOCK_REPORT_SWEEPS = 0" in header and "BLOCK_STATUS_ITERATIONS" in header


def test_what_it_refuses(tmp_path):
    plant, contact = block(0.3)
    with pytest.raises(InputError, match="contacts must be Contact"):
        export(plant, tmp_path, contacts=cmb.Release("floor", at=1.0))
    with pytest.raises(InputError, match=r"contact 'floor' is closed by 0\.1 beyond zero"):
        export(plant, tmp_path, [0.0, -0.1], contacts=contact)
    with pytest.raises(InputError, match="limits"):
        export(plant, tmp_path, [0.0, 0.1], limits=["x"])


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("way", ["sanitizers", "valgrind"])
def test_no_read_or_write_goes_astray(tmp_path, way):
    if way == "valgrind" and shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    _, plant, contacts, q, v = drawing(2)  # a chain with contacts, limits and dry friction
    export(plant, tmp_path, q, contacts=contacts, limits=True, friction="exact", functions=["terms"], states=2)
    numbers = [", ".join(map(repr, x.tolist())) for x in (q, v)]
    (tmp_path / "selftest.c").unlink()
    (tmp_path / "main.c").write_text(f"""#include "chain.h"
int main(void)
{{
    double q[] = {{{numbers[0]}}}, v[] = {{{numbers[1]}}}, push[CHAIN_PUSHES] = {{0.0}}, gap[CHAIN_CONTACTS];
    double report[CHAIN_REPORTS], closeness[1], dt[] = {{1e-3}};
    int k, status = 0;
    for (k = 0; k < 1000 && (status == 0 || status >= CHAIN_STATUS_OPEN); k++) {{
        status = chain_contact_step(chain_parameters, q, v, dt, push, q, v, push, gap, report, closeness);
    }}
    return k == 1000 ? 0 : status;
}}
""")
    flags = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all"] if way == "sanitizers" else []
    command = [COMPILER, "-std=c99", "-g", "-O1", *flags, "main.c", "chain.c", "-o", "t", "-lm"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if built.returncode and way == "sanitizers":
        pytest.skip("no sanitizers")
    runner = ["valgrind", "-q", "--error-exitcode=9"] if way == "valgrind" else []
    done = subprocess.run([*runner, "./t"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["ball", "pendulum", "out of reach"])
def test_the_self_test_covers_it(tmp_path, name):
    """Of a floor out of reach too: a random machine found that nothing to touch was an error."""
    plant, contact = ball(0.5)
    options = {"contacts": contact}
    if name == "pendulum":
        plain = plants.pendulum()
        limited = [replace(j, limits=(-0.5, 0.5)) if len(j.position_names) == 1 else j for j in plain.joints]
        plant, options = plain.with_parts(joints=limited), {"limits": True}
    elif name == "out of reach":
        rod = cmb.Body("rod", 1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        floor = cmb.PointOnPlane("floor", "ground", "rod", point_a=(0, -3, 0), point_b=(1, 0, 0), normal=(0, 1, 0))
        pivot = cmb.Revolute("pivot", "ground", "rod", axis=(0, 0, 1))
        plant = cmb.Mechanism("rod", [rod], [pivot], [floor], gravity=(0, -9.81, 0))
    q = plant.neutral()
    export(plant, tmp_path, q, functions=["terms"], prefix="m", **options)
    assert "test_contact_step" in (tmp_path / "selftest.c").read_text()
    command = [COMPILER, "-std=c99", "m.c", "selftest.c", "-o", "t", "-lm"]
    for old, new, code in ((" + ", " + ", 0), ("b[i] -= rebound;", "b[i] -= 0.9 * rebound;", int(name == "ball"))):
        source = (tmp_path / "m.c").read_text()
        assert old in source
        (tmp_path / "m.c").write_text(source.replace(old, new))
        subprocess.run(command, cwd=tmp_path, check=True)
        assert subprocess.run(["./t"], cwd=tmp_path, check=False).returncode == code
