"""The C that is the same for all machines: independent coordinates, closing, events, steps, saved states, errors."""

import itertools
import subprocess
import zipfile

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import Body, Mechanism, fmu, plants

from .conftest import COMPILER, outer

fmpy = pytest.importorskip("fmpy")

T_END = 5.0


def simulated(made, kind="ModelExchange", names=("q",), **options):
    """By fmpy: times, and groups of outputs (times, k), and all else by name."""
    wanted = [n for n in made.outputs if n.partition(".")[0] in names]
    options = {"stop_time": T_END, "output_interval": 0.01, "record_events": False, **options}
    return fmpy.simulate_fmu(str(made.path), fmi_type=kind, output=[*wanted, "closure"], **options)


def held(name):
    """A machine with efforts that nearly hold it, so that it moves, and not wildly; the five-bar hangs and swings."""
    if name == "five-bar":
        plant = plants.five_bar()
        return plant, plant.assemble(left=-2.2, right=-1.0), np.array([1.0, -2.0])
    plant, q, _ = plants.catalogue[name].start()
    q = plant.close(plant.configuration(q))
    u = cmb.trim(plant, q).u
    share = 1.5e-4 if name == "loader" else 2e-3  # it falls: what is off at the start is 1e5 times as much at the end
    return plant, q, u + share * np.abs(u).max()


def reference(plant, q, u, t_end=T_END, v=None):
    run = cmb.simulate(plant, u, q, v, t_end=t_end, rtol=1e-12, atol=1e-12, output_times=0.01, limits="ignore")
    return np.asarray(run.q)


MACHINES = ["five-bar", "loader", "delta", "excavator"]


@pytest.mark.first(2)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("version", ["3.0", "2.0"])
@pytest.mark.parametrize("name", MACHINES)
def test_model_exchange_runs_as_simulate_does(exported, name, version):
    plant, q, u = held(name)
    expected = reference(plant, q, u)
    found = simulated(exported(plant, q, u=u, version=version), relative_tolerance=1e-12)
    assert np.abs(outer(found, "q") - expected).max() < 1e-6
    assert found["closure"].max() < 1e-9
    assert np.ptp(expected, axis=0).max() > 1e-3


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", MACHINES)
def test_co_simulation_has_the_order_of_its_step(exported, name):
    plant, q, u = held(name)
    u = u + 0.1 * np.abs(u).max()
    expected = reference(plant, q, u, 1.0)
    made = exported(plant, q, u=u)
    errors = []
    for step in (2e-2, 1e-2) if name != "five-bar" else (2e-3, 1e-3):
        found = simulated(
            made, "CoSimulation", stop_time=1.0, output_interval=0.02, start_values={"internal_step": step}
        )
        errors.append(np.abs(outer(found, "q") - expected[::2]).max())
        assert found["closure"].max() < 1e-9
    assert 12.0 < errors[0] / errors[1] < 20.0  # 2 to the power of 4


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_other_coordinates_are_kept_while_a_machine_goes_round(opened, exported):
    """Cranks of the five-bar turn and fall: no pair of coordinates is independent all the way."""
    plant = plants.five_bar()
    q, u = plant.assemble(left=2.1, right=1.0), np.zeros(2)
    expected = reference(plant, q, u, 3.0)
    made = exported(plant, q)
    told = []
    found = simulated(
        made, stop_time=3.0, relative_tolerance=1e-12, debug_logging=True, logger=lambda *x: told.append(x[-1].decode())
    )
    assert np.abs(outer(found, "q") - expected).max() < 1e-6
    assert sum("other independent coordinates" in text for text in told) >= 2
    found = simulated(made, "CoSimulation", stop_time=3.0, start_values={"internal_step": 1e-4})
    assert np.abs(outer(found, "q") - expected).max() < 1e-5


def top(free):
    """A heavy top: a body on a spherical joint, or a free one."""
    body = Body("top", mass=2.0, com=(0.0, 0.0, 0.3), inertia=np.diag([0.03, 0.05, 0.07]))
    joint = (cmb.Free if free else cmb.Spherical)("joint", "ground", "top")
    return Mechanism("top", [body], [joint], gravity=(0.0, 0.0, -9.81))


@pytest.mark.parametrize("free", [False, True], ids=["spherical", "free"])
@pytest.mark.slow
def test_a_body_that_tumbles_keeps_its_quaternion(exported, free):
    """All entries of the quaternion vanish and come back, so that three of them are never enough."""
    plant = top(free)
    q = plant.neutral()
    v = np.array([4.0, -3.0, 7.0, *([0.3, 0.2, 5.0] if free else [])])
    expected = reference(plant, q, np.zeros(0), 3.0, v)
    found = simulated(exported(plant, q, v), stop_time=3.0, relative_tolerance=1e-12)
    q = outer(found, "q")
    assert np.abs(q - expected).max() < 1e-6
    assert np.ptp(expected[:, :4], axis=0).min() > 0.7
    np.testing.assert_allclose((q[:, :4] ** 2).sum(axis=1), 1.0, atol=1e-13)


def rolling_coin():
    parts = {"mass": 0.5, "inertia": np.diag([0.01, 0.02, 0.01])}
    return Mechanism(
        "coin",
        [Body("disc", **parts)],
        [cmb.Free("free", "ground", "disc")],
        loops=[cmb.Wheel("rim", "ground", "disc", axis=(0, 1, 0), radius=0.2)],
        gravity=(0.0, 0.0, -9.81),
    )


@pytest.mark.slow
def test_a_machine_that_rolls_has_more_positions_than_velocities(exported):
    """A coin: two coordinates of the plane follow from no constraint on positions."""
    plant = rolling_coin()
    guess = plant.neutral()
    guess[6] = 0.2
    q = plant.close(guess)
    v = plant.project_velocity(q, np.array([0.3, 8.0, 0.6, 0.0, 0.0, 0.0]))
    made = exported(plant, q, v)
    positions = [n for n in made.states if n.startswith("position")]
    assert len(positions) > len(made.states) - len(positions) == plant.terms(q, v).dof
    expected = reference(plant, q, np.zeros(0), 2.0, v)
    found = simulated(made, stop_time=2.0, relative_tolerance=1e-12)
    assert np.abs(outer(found, "q") - expected).max() < 1e-6


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.slow
def test_size_and_units_do_not_matter(exported, scale):
    """A four-bar in millimetres and in kilometres goes as fast as gravity has it."""
    lengths = scale * np.array([0.4, 1.0, 0.8])
    bodies = [Body.rod(f"bar{i}", mass=1.0, length=x) for i, x in enumerate(lengths)]
    joints = [
        cmb.Revolute(f"joint{i}", "ground" if i == 0 else f"bar{i - 1}", f"bar{i}", frame=cmb.Frame((x, 0, 0)))
        for i, x in enumerate([0.0, *lengths[:2]])
    ]
    cut = cmb.Revolute(
        "cut", "ground", "bar2", frame=cmb.Frame((scale, 0, 0)), child_frame=cmb.Frame((lengths[2], 0, 0))
    )
    plant = Mechanism("four-bar", bodies, joints, loops=[cut], gravity=(0.0, -9.81 * scale, 0.0))
    q = plant.assemble(joint0=1.0)
    expected = reference(plant, q, np.zeros(0), 2.0)
    found = simulated(exported(plant, q), stop_time=2.0, relative_tolerance=1e-12)
    assert np.abs(outer(found, "q") - expected).max() < 1e-6
    assert found["closure"].max() < 1e-9 * scale


# -- the interface ---------------------------------------------------------------------------------------------

both = pytest.mark.parametrize("version", ["3.0", "2.0"])


@both
@pytest.mark.first(1)
def test_instances_do_not_know_of_each_other(opened, version):
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    one = opened(plant, q, version=version).begin()
    two = opened(plant, q, version=version).begin()
    before = one.group("a")
    two.set({"u.left": 50.0})
    np.testing.assert_array_equal(one.group("a"), before)
    assert np.abs(two.group("a") - before).max() > 1.0


@both
@pytest.mark.slow
def test_a_saved_state_brings_everything_back(opened, version):
    """Through bytes, too; independent coordinates are part of it."""
    plant = plants.five_bar()
    one = opened(plant, plant.assemble(left=2.1, right=1.0), version=version, kind="CoSimulation").begin()
    names = ("FMUstate" if version == "2.0" else "FMUState",)
    get, put, pack = (getattr(one.of, f"{word}{names[0]}") for word in ("get", "set", "serialize"))
    unpack = getattr(one.of, "deSerializeFMUstate" if version == "2.0" else "deserializeFMUState")
    one.of.doStep(0.0, 0.3)
    content = pack(get())
    one.of.doStep(0.3, 1.5)
    later = one.group("q")
    put(unpack(content))
    one.of.doStep(0.3, 1.5)
    np.testing.assert_array_equal(one.group("q"), later)
    one.of.reset()
    one.begin()
    np.testing.assert_allclose(one.group("q"), plant.assemble(left=2.1, right=1.0), atol=1e-12)


@both
@pytest.mark.slow
def test_start_values_move_the_machine_before_it_starts(opened, version):
    """Independent positions set before initialization lead to a closed machine on the same branch."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    one = opened(plant, q, version=version)
    described = {x.name: x.description for x in one.description.modelVariables}
    kept = [plant.position_names.index(described[f"position[{i}]"].rpartition(" ")[2]) for i in (1, 2)]
    there = plant.close(plant.integrate(q, 0.4 * plant.terms(q, np.zeros(4)).unit_motions[:, 0]))
    one.set({"position[1]": there[kept[0]], "position[2]": there[kept[1]]})
    one.begin()
    np.testing.assert_allclose(one.group("q"), there, atol=1e-10)


@both
@pytest.mark.slow
def test_what_is_not_finite_is_told_by_name(opened, version):
    """And nothing crashes: the next good values are computed as ever."""
    plant = plants.five_bar()
    one = opened(plant, plant.assemble(left=2.1, right=1.0), version=version).begin()
    one.run()
    before = one.rates
    with pytest.raises(Exception, match="status"):
        one.set({"u.left": np.nan})
        one.get("der(velocity[1])")
    assert any("u.left" in text and "nan" in text for text in one.messages)
    one.set({"u.left": 0.0})
    np.testing.assert_array_equal(one.rates, before)
    x = one.x
    one.x = np.full(4, np.inf)
    with pytest.raises(Exception, match="status"):
        one.rates  # noqa: B018
    assert any("position[1]" in text for text in one.messages)
    one.x = x
    np.testing.assert_array_equal(one.rates, before)


@both
@pytest.mark.slow
def test_a_state_that_no_configuration_has_is_told_with_the_gap(opened, version):
    plant = plants.five_bar()
    one = opened(plant, plant.assemble(left=2.1, right=1.0), version=version).begin()
    one.run()
    x = one.x
    one.x = [*(x[:2] + 3.0), *x[2:]]
    try:
        one.rates  # noqa: B018
    except Exception:
        assert any("loops" in text or "singular" in text for text in one.messages)
    else:
        assert one.get("closure")[0] < 1e-9
    one.x = x
    assert np.isfinite(one.rates).all()


@both
@pytest.mark.slow
def test_calls_in_the_wrong_mode_are_refused(opened, version):
    plant = plants.five_bar()
    one = opened(plant, plant.assemble(left=2.1, right=1.0), version=version).begin()
    with pytest.raises(Exception, match="status"):
        one.begin()
    one.run()
    for values, word in (
        ({"position[1]": 1.0}, "a state"),
        ({"parameter.left_lower_mass": 1.0}, "a parameter"),
        ({"q.left": 1.0}, "cannot be set"),
        ({"internal_step": -1.0}, "must be positive"),
    ):
        with pytest.raises(Exception, match="status"):
            one.set(values)
        assert word in one.messages[-1]


def test_an_event_keeps_the_motion(opened):
    """Where other coordinates are kept, states have other values, and positions, velocities and rates the same."""
    plant = plants.five_bar()
    one = opened(plant, plant.assemble(left=2.1, right=1.0)).begin()
    one.run()
    t, h, renewed = 0.0, 1e-3, 0
    for _ in range(3000):
        x, k = one.x, one.rates
        one.x = x + 0.5 * h * k
        one.x, t = x + h * one.rates, t + h
        one.of.setTime(t)
        if one.of.completedIntegratorStep()[0]:
            before = [one.group(name) for name in ("q", "v", "a", "constraint_force")]
            spread = one.get("spread")[0]
            one.of.enterEventMode()
            _, _, nominals, values, _, _ = one.update()
            one.of.enterContinuousTimeMode()
            assert nominals and values and spread > 10.0
            assert one.get("spread")[0] <= 1.5 + 1e-9
            for name, expected in zip(("q", "v", "a", "constraint_force"), before, strict=True):
                np.testing.assert_allclose(one.group(name), expected, atol=1e-9 * max(1.0, np.abs(expected).max()))
            renewed += 1
    assert renewed >= 2


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_loads_may_change_during_a_run(opened):
    """A digging force that is linear between points. fmpy sets inputs too seldom for ramps, so scipy integrates."""
    plant, q, _ = plants.catalogue["excavator"].start()
    q = plant.close(plant.configuration(q))
    u = cmb.trim(plant, q).u
    times, pull = np.array([0.0, 0.3, 0.6, 1.0]), np.array([0.0, -8e3, 5e3, 0.0])
    run = cmb.simulate(
        plant, u, q, t_end=1.0, rtol=1e-12, atol=1e-12, limits="ignore", loads={"digging_fx": (times, pull)}
    )
    one = opened(plant, q, u=u).begin()
    one.run()

    def rates(t, x):
        one.of.setTime(t)
        one.x = x
        one.set({"load.digging_fx": np.interp(t, times, pull)})
        return one.rates

    x = one.x
    for begin, end in itertools.pairwise(times):
        x = solve_ivp(rates, (begin, end), x, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    one.x = x
    assert np.abs(one.group("q") - np.asarray(run.q)[-1]).max() < 1e-9
    assert np.ptp(np.asarray(run.q), axis=0).max() > 1e-3


_DRIVER = """
#include "fmu.c"
static void heard(void *c, int status, const char *category, const char *text)
{
    (void)c; (void)status; (void)category; (void)text;
}
int main(void)
{
    unsigned all[AT_END];
    double values[AT_END], seed = 1.0, t = 0.0, reached, dx[NX + 1];
    bool a, b, c;
    int i, kind;
    for (i = 0; i < AT_END; i++) {
        all[i] = (unsigned)i;
    }
    for (kind = 0; kind < 2; kind++) {
        const char *token = INSTANTIATION_TOKEN;
        void *saved = NULL;
        void *one = kind ? fmi3InstantiateCoSimulation("m", token, "", 0, 1, 0, 0, NULL, 0, NULL, heard, NULL)
                         : fmi3InstantiateModelExchange("m", token, "", 0, 1, NULL, heard);
        if (fmi3EnterInitializationMode(one, 0, 0.0, 0.0, 0, 0.0) || fmi3ExitInitializationMode(one)) {
            return 1;
        }
        if (fmi3GetFloat64(one, all, AT_END, values, AT_END)) {
            return 2;
        }
        for (i = AT_STATE; i < AT_RATE; i++) {
            if (fmi3GetDirectionalDerivative(one, all + AT_OUTPUT, NY, all + i, 1, &seed, 1, values, NY)) {
                return 3;
            }
        }
        for (i = 0; kind && i < 200; i++) {
            if (fmi3DoStep(one, t, 0.005, 0, &a, &b, &c, &reached)) {
                return 4;
            }
            t += 0.005;
            if (i == 100 && (fmi3GetFMUState(one, &saved) || fmi3SetFMUState(one, saved))) {
                return 5;
            }
        }
        if (!kind) {
            fmi3UpdateDiscreteStates(one, &a, &b, &c, &a, &b, &reached);
            fmi3EnterContinuousTimeMode(one);
            for (i = 0; i < NX; i++) {
                dx[i] = NAN;
            }
            if (fmi3SetContinuousStates(one, dx, NX) || !fmi3GetContinuousStateDerivatives(one, dx, NX)) {
                return 6;
            }
        }
        fmi3FreeFMUState(one, &saved);
        fmi3FreeInstance(one);
    }
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["five-bar", "delta", "law"])
def test_no_access_is_outside_of_an_array(tmp_path, name):
    """By the sanitizers of the compiler, which look at every access, at leaks, and at undefined behaviour."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    plant, law = plants.catalogue["five-bar" if name == "law" else name].start()[0], None
    q = plant.assemble(left=2.1, right=1.0) if plant.nq == 4 else None
    if name == "law":
        path = cmb.Sine([2.1, 1.0], 0.1, 0.5)
        law = cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0, period=4e-3)
        law = law | cmb.controllers.Delay(6e-3) | cmb.controllers.FirstOrderActuator(0.01)
    made = fmu.export(plant, tmp_path / "m.fmu", q, law=law, binary=False)
    with zipfile.ZipFile(made.path) as archive:
        archive.extractall(tmp_path)
    (tmp_path / "sources" / "driver.c").write_text(_DRIVER)
    flags = ["-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [COMPILER, *flags, "driver.c", "-o", "driver", "-lm"]
    built = subprocess.run(command, cwd=tmp_path / "sources", capture_output=True, text=True, check=False)
    if "sanitize" in built.stderr or "asan" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run(["./driver"], cwd=tmp_path / "sources", capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[:2000])
