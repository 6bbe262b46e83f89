"""FMUs opened by fmpy, an importer that knows nothing of this package."""

import ctypes
import shutil
import sys

import numpy as np
import pytest

from cmbcontrol import fmu

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


class Opened:
    """An FMU of Model Exchange, asked by the functions of the interface.

    All values are by names of variables.
    """

    def __init__(self, fmpy, made, kind="ModelExchange"):
        self.made, self.messages = made, []
        folder = fmpy.extract(str(made.path))
        self.description = fmpy.read_model_description(folder)

        def tell(*given):
            self.messages.append(given[-1].decode())

        self.of = fmpy.instantiate_fmu(folder, self.description, kind, logger=tell, debug_logging=True)
        self.two = made.version == "2.0"
        self.folder = folder

    def references(self, names):
        return [self.made.references[name] for name in names]

    def set(self, values):
        given = self.references(values), [float(x) for x in values.values()]
        (self.of.setReal if self.two else self.of.setFloat64)(*given)

    def get(self, names):
        names = [names] if isinstance(names, str) else list(names)
        return np.array((self.of.getReal if self.two else self.of.getFloat64)(self.references(names)))

    def group(self, title):
        """Outputs that begin with a title, as an array."""
        return self.get([name for name in self.made.outputs if name.startswith(f"{title}.")])

    def begin(self, start=0.0):
        if self.two:
            self.of.setupExperiment(startTime=start)
            self.of.enterInitializationMode()
        else:
            self.of.enterInitializationMode(startTime=start)
        self.of.exitInitializationMode()
        return self

    def update(self):
        return (self.of.newDiscreteStates if self.two else self.of.updateDiscreteStates)()

    def run(self):
        """On to continuous time."""
        found = self.update()
        self.of.enterContinuousTimeMode()
        return found

    @property
    def x(self):
        made = (ctypes.c_double * len(self.made.states))()
        self.of.getContinuousStates(made, len(made))
        return np.array(made)

    @x.setter
    def x(self, values):
        self.of.setContinuousStates((ctypes.c_double * len(values))(*values), len(values))

    @property
    def rates(self):
        made = (ctypes.c_double * len(self.made.states))()
        (self.of.getDerivatives if self.two else self.of.getContinuousStateDerivatives)(made, len(made))
        return np.array(made)

    def derivatives(self, unknowns, knowns):
        """Of all unknowns by all knowns, from directional ones."""
        found = np.empty((len(unknowns), len(knowns)))
        for j, known in enumerate(knowns):
            given = self.references(unknowns), self.references([known]), [1.0]
            found[:, j] = self.of.getDirectionalDerivative(*given)
        return found

    def close(self):
        self.of.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def exported(tmp_path):
    """An FMU of a plant with a library, where there is a compiler."""
    if COMPILER is None:
        pytest.skip("no C compiler")

    def make(plant, *args, name="machine", **options):
        return fmu.export(plant, tmp_path / f"{name}.fmu", *args, overwrite=True, **options)

    return make


@pytest.fixture
def opened(exported, monkeypatch):
    """An FMU that is open, where there is a compiler and fmpy; compiled in half the time, for a few evaluations."""
    fmpy = pytest.importorskip("fmpy")
    monkeypatch.setattr(sys.modules["cmbcontrol.fmu.export"], "_OPTIMISE", "-O0")
    made = []

    def make(plant, *args, kind="ModelExchange", **options):
        made.append(Opened(fmpy, exported(plant, *args, name=f"m{len(made)}", **options), kind))
        return made[-1]

    yield make
    for one in made:
        one.close()


def outer(made, name):
    """Of several outputs at once: those of a simulation as an array (times, outputs)."""
    return np.array([made[n] for n in made.dtype.names if n.startswith(f"{name}.")]).T
