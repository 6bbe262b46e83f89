"""FMUs of drives and loads as blocks of a chain: one written by hand, in C, and one that this package exports."""

import copy
import pickle
import subprocess
import zipfile

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import fmu, plants
from cmbcontrol.controllers import FirstOrderActuator, ProjectedInverseDynamics
from cmbcontrol.errors import FileError, InputError, InputTypeError, ModelError
from cmbcontrol.fmu.export import _platform

from ..fixtures import refuses
from .conftest import COMPILER

fmpy = pytest.importorskip("fmpy")
if COMPILER is None:
    pytest.skip("no C compiler", allow_module_level=True)

# A motor with a lag: tau dx/dt = gain command - x - drag speed, torque x. FMI 2.0, written for this test.
_MOTOR = """
#include <stdlib.h>
#include <string.h>
#include <math.h>
typedef struct { double t, x, dx, v[7]; int fail; } M;
enum { COMMAND = 1, SPEED, TORQUE, TAU, GAIN, DRAG };
static double rate(M *m) { return (m->v[GAIN] * m->v[COMMAND] - m->x - m->v[DRAG] * m->v[SPEED]) / m->v[TAU]; }
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const k[])
{ (void)c; (void)on; (void)n; (void)k; return 0; }
void *fmi2Instantiate(const char *n, int k, const char *g, const char *r, const void *f, int v, int l)
{ M *m = calloc(1, sizeof *m); (void)n; (void)k; (void)g; (void)r; (void)f; (void)v; (void)l;
  m->v[TAU] = 0.01; m->v[GAIN] = 1.0; return m; }
void fmi2FreeInstance(void *c) { free(c); }
int fmi2SetupExperiment(void *c, int d, double t, double s, int e, double o)
{ (void)c; (void)d; (void)t; (void)s; (void)e; (void)o; return 0; }
int fmi2EnterInitializationMode(void *c) { (void)c; return 0; }
int fmi2ExitInitializationMode(void *c) { (void)c; return 0; }
int fmi2Terminate(void *c) { (void)c; return 0; }
int fmi2Reset(void *c) { (void)c; return 0; }
int fmi2GetReal(void *c, const unsigned r[], size_t n, double y[])
{ M *m = c; size_t i; for (i = 0; i < n; i++) y[i] = r[i] == TORQUE ? m->x : r[i] == 0 ? m->x : m->v[r[i]]; return 0; }
int fmi2SetReal(void *c, const unsigned r[], size_t n, const double y[])
{ M *m = c; size_t i; for (i = 0; i < n; i++) { m->v[r[i]] = y[i]; if (!isfinite(y[i])) return 3; } return 0; }
#define NO(name) int fmi2Get##name(void *c) { (void)c; return 3; } int fmi2Set##name(void *c) { (void)c; return 3; }
NO(Integer) NO(Boolean) NO(String)
int fmi2GetFMUstate(void *c, void **s) { if (!*s) *s = malloc(sizeof(M)); memcpy(*s, c, sizeof(M)); return 0; }
int fmi2SetFMUstate(void *c, void *s) { memcpy(c, s, sizeof(M)); return 0; }
int fmi2FreeFMUstate(void *c, void **s) { (void)c; free(*s); *s = NULL; return 0; }
int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { (void)c; (void)s; *n = sizeof(M); return 0; }
int fmi2SerializeFMUstate(void *c, void *s, char b[], size_t n) { (void)c; memcpy(b, s, n); return 0; }
int fmi2DeSerializeFMUstate(void *c, const char b[], size_t n, void **s)
{ (void)c; if (!*s) *s = malloc(n); memcpy(*s, b, n); return 0; }
int fmi2GetDirectionalDerivative(void *c) { (void)c; return 3; }
int fmi2EnterEventMode(void *c) { (void)c; return 0; }
int fmi2NewDiscreteStates(void *c, void *e) { (void)c; memset(e, 0, 32); return 0; }
int fmi2EnterContinuousTimeMode(void *c) { (void)c; return 0; }
int fmi2CompletedIntegratorStep(void *c, int f, int *e, int *t) { (void)c; (void)f; *e = *t = 0; return 0; }
int fmi2SetTime(void *c, double t) { ((M *)c)->t = t; return 0; }
int fmi2SetContinuousStates(void *c, const double x[], size_t n) { (void)n; ((M *)c)->x = x[0]; return 0; }
int fmi2GetDerivatives(void *c, double x[], size_t n) { (void)n; x[0] = rate(c); return 0; }
int fmi2GetEventIndicators(void *c, double z[], size_t n) { (void)c; (void)z; (void)n; return 0; }
int fmi2GetContinuousStates(void *c, double x[], size_t n) { (void)n; x[0] = ((M *)c)->x; return 0; }
int fmi2GetNominalsOfContinuousStates(void *c, double x[], size_t n) { (void)c; (void)n; x[0] = 1; return 0; }
int fmi2SetRealInputDerivatives(void *c) { (void)c; return 3; }
int fmi2GetRealOutputDerivatives(void *c) { (void)c; return 3; }
int fmi2DoStep(void *c, double t, double h, int f)
{ M *m = c; double end = m->x + m->v[TAU] * rate(m); (void)f;
  m->x = end + (m->x - end) * exp(-h / m->v[TAU]); m->t = t + h; return 0; }
int fmi2CancelStep(void *c) { (void)c; return 3; }
int fmi2GetStatus(void *c) { (void)c; return 3; }
int fmi2GetRealStatus(void *c) { (void)c; return 3; }
int fmi2GetIntegerStatus(void *c) { (void)c; return 3; }
int fmi2GetBooleanStatus(void *c) { (void)c; return 3; }
int fmi2GetStringStatus(void *c) { (void)c; return 3; }
"""

_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="motor" guid="{{motor}}" numberOfEventIndicators="{events}">
  <ModelExchange modelIdentifier="motor"/>
  <CoSimulation modelIdentifier="motor" canGetAndSetFMUstate="{saved}" canSerializeFMUstate="{saved}"
    canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>
    <ScalarVariable name="current" valueReference="0" initial="exact"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="command" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="speed" valueReference="2" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="torque" valueReference="3" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="tau" valueReference="4" causality="parameter" variability="fixed">
      <Real start="0.01"/></ScalarVariable>
    <ScalarVariable name="gain" valueReference="5" causality="parameter" variability="fixed">
      <Real start="1"/></ScalarVariable>
    <ScalarVariable name="drag" valueReference="6" causality="parameter" variability="fixed">
      <Real start="0"/></ScalarVariable>
    <ScalarVariable name="der(current)" valueReference="7"><Real derivative="1"/></ScalarVariable>
    <ScalarVariable name="number" valueReference="8" causality="input" variability="discrete">
      <Integer start="0"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="4"/></Outputs>
    <Derivatives><Unknown index="8"/></Derivatives>
    <InitialUnknowns><Unknown index="4"/><Unknown index="8"/></InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("motor")
    (folder / "motor.c").write_text(_MOTOR)
    flags = ["-std=c99", "-O1", "-shared", "-fPIC", "motor.c", "-o", "motor.so", "-lm"]
    subprocess.run([COMPILER, *flags], cwd=folder, check=True)
    return (folder / "motor.so").read_bytes()


@pytest.fixture
def motor(library, tmp_path):
    """A file with the motor."""

    def make(events=0, saved="true"):
        place, ending = _platform("2.0")
        path = tmp_path / "motor.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", _DESCRIPTION.format(events=events, saved=saved))
            archive.writestr(f"binaries/{place}/motor{ending}", library)
        return path

    return make


def machine(period=4e-3):
    plant = plants.five_bar()
    path = cmb.Sine([2.1, 1.0], [0.1, 0.05], 0.5)
    law = ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0, period=period)
    return plant, plant.assemble(left=2.1, right=1.0), law


def both(path, **options):
    """The motor at both joints."""
    left = fmu.FmuBlock(path, {"command": "u.left", "speed": "v.left"}, {"torque": "left"}, **options)
    return left | fmu.FmuBlock(path, {"command": "u.right", "speed": "v.right"}, {"torque": "right"}, **options)


def run(plant, law, q, t_end=0.2):
    return np.asarray(cmb.simulate(plant, law, q, t_end=t_end, rtol=1e-10, atol=1e-10).q)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("period", [4e-3, None], ids=["sampled", "continuous"])
def test_a_drive_of_model_exchange_is_one_of_this_package(motor, period):
    """A first-order lag, behind held efforts and in continuous time."""
    plant, q, law = machine(period)
    expected = run(plant, law | FirstOrderActuator(0.02), q)
    found = run(plant, law | both(motor(), parameters={"tau": 0.02}), q)
    assert np.abs(found - expected).max() < 1e-8


@pytest.mark.nojit_slow
def test_a_drive_of_co_simulation_steps_from_sample_to_sample(motor):
    """The exact lag, sampled: x_k+1 = u + (x_k - u) exp(-T / tau), held for a period."""
    plant, q, law = machine()
    block = both(motor(), kind="CoSimulation")
    chain = law | block
    state, terms = chain.start(plant), plant.terms(q, np.zeros(4))
    u, x, decay = np.asarray(law(0.0, terms, np.zeros(0))), np.zeros(2), np.exp(-4e-3 / 0.01)
    for k in range(5):
        said = chain.evaluate(k * 4e-3, terms, state)
        np.testing.assert_allclose(said.effort, x, atol=1e-12)
        u = np.asarray(law(k * 4e-3, terms, np.zeros(0)))
        x, state = u + (x - u) * decay, said.state
    assert np.abs(run(plant, chain, q) - run(plant, law, q)).max() > 1e-4


@pytest.mark.nojit_slow
def test_a_load_adds_to_what_the_law_asks_for(motor):
    """A drag of the speed through the motor, as fast as it can be, is viscous friction of the joint."""
    plant, q, law = machine()
    drag = {"gain": 0.0, "drag": 5.0, "tau": 1e-4}
    block = fmu.FmuBlock(motor(), {"command": "u.left", "speed": "v.left"}, {"torque": "left"}, drag, adds=True)
    terms = plant.terms(q, plant.project_velocity(q, np.ones(4)))
    chain = law | block
    drive = chain.drive
    state = np.array([-5.0 * terms.v[0]])
    said = drive.evaluate(0.0, terms, np.array([1.0, 2.0]), state)
    np.testing.assert_allclose(said.effort, [1.0 - 5.0 * terms.v[0], 2.0])
    np.testing.assert_allclose(said.state, [0.0], atol=1e-9)
    assert list(drive.state_names(plant)) == ["motor_current"]


@pytest.mark.nojit_slow
def test_evaluations_do_not_know_of_each_other(motor):
    """Whatever was asked before; also of a copy, and in another process."""
    plant, q, law = machine()
    terms = plant.terms(q, np.ones(4))
    for kind in ("ModelExchange", "CoSimulation"):
        block = fmu.FmuBlock(motor(), {"command": "u.left"}, {"torque": "left"}, kind=kind)
        bound = law | block
        part = bound.drive.blocks[0] if kind == "ModelExchange" else bound.blocks[0]
        state, u = part.start(plant), np.array([3.0, 4.0])
        one = part.effort(0.1, terms, u, state)
        after = part.derivative(0.1, terms, u, state) if kind == "ModelExchange" else part.update(0.1, terms, u, state)
        part.effort(0.7, terms, -u, after)
        np.testing.assert_array_equal(part.effort(0.1, terms, u, state), one)
        for other in (copy.copy(part), pickle.loads(pickle.dumps(part))):
            again = (
                other.derivative(0.1, terms, u, state)
                if kind == "ModelExchange"
                else other.update(0.1, terms, u, state)
            )
            np.testing.assert_array_equal(again, after)


@pytest.mark.nojit_slow
def test_a_machine_that_was_exported_is_a_load(tmp_path):
    """A pendulum on the shaft of a motor, by co-simulation in FMI 3.0."""
    pendulum = plants.pendulum()
    made = fmu.export(pendulum, tmp_path / "pendulum.fmu")
    plant, q, law = machine()
    block = fmu.FmuBlock(made.path, {"u.motor": "u.left"}, {"q.angle": "left"}, adds=True)
    assert block.kind == "CoSimulation"  # its event indicator is no event of a block
    found = cmb.simulate(plant, law | block, q, t_end=0.05)
    assert found.status == 0
    assert np.abs(np.asarray(found.q) - run(plant, law, q, 0.05)).max() > 0.0


@pytest.mark.nojit_slow
def test_refusals(motor, tmp_path):
    plant, q, law = machine()
    path = motor()

    def block(inputs=None, outputs=None, **options):
        given = {"command": "u.left"} if inputs is None else inputs
        return fmu.FmuBlock(path, given, {"torque": "left"} if outputs is None else outputs, **options)

    refuses(lambda: fmu.FmuBlock(tmp_path / "no.fmu", {}, {"a": "left"}), "no.fmu", kind=FileError)
    (tmp_path / "bad.fmu").write_bytes(b"no archive")
    refuses(lambda: fmu.FmuBlock(tmp_path / "bad.fmu", {}, {"a": "left"}), "bad.fmu", kind=FileError)
    refuses(lambda: block(outputs={}), "no outputs", kind=InputError)
    refuses(lambda: block({"comand": "u.left"}), "comand", "'command'", kind=InputError)
    refuses(lambda: block({"number": "t"}), "number", "Integer", kind=InputError)
    refuses(lambda: block(parameters={"tau": "fast"}), "tau", kind=InputTypeError)
    refuses(lambda: block(kind="Both"), "kind", "ModelExchange", kind=InputError)
    refuses(lambda: block({"command": "w.left"}), "w.left", "u.MOTOR", kind=InputError)
    refuses(lambda: law | block({"command": "u.lift"}), "lift", "left", kind=InputError)
    refuses(lambda: law | block(outputs={"torque": "arm"}), "arm", "left", kind=InputError)
    _, _, continuous = machine(None)
    refuses(lambda: continuous | block(kind="CoSimulation"), "continuous time", "period", kind=InputError)
    bad = law | block()
    refuses(
        lambda: bad.drive.evaluate(0.0, plant.terms(q, np.zeros(4)), np.array([np.nan, 0.0]), np.zeros(1)),
        "motor.fmu", "setReal", kind=ModelError,
    )  # fmt: skip
    refuses(lambda: fmu.export(plant, tmp_path / "x.fmu", law=bad, binary=False), "motor.fmu", kind=InputTypeError)
    path = motor(events=2)
    refuses(lambda: block(kind="ModelExchange"), "2 event indicators", "CoSimulation", kind=InputError)
    path = motor(events=2, saved="false")
    refuses(lambda: block(), "cannot be saved", kind=InputError)
