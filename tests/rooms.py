"""The rule of the house: in which file the tests of a module are (tests/README.md)."""

from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
LIBRARY = TESTS.parent / "cmbcontrol"

# module: (where it is tested, why there)
ELSEWHERE = {
    "_files": ("robustness/test_faults", "what it promises shows when disks are full and processes are killed"),
    "_netcdf": ("sim/test_result", "runs as files"),
    "_interrupt": ("robustness/test_faults", "signals at any moment, in processes of their own"),
    "_arguments": ("controllers/test_description", "laws that are written down by what they were made with"),
    "_notebook": ("plot/test_html", "what notebooks show"),
    "_versions": ("sim/test_provenance", "what runs were made with"),
    "cli/entries": ("cli/test_common", "machines that all commands take"),
    "cli/figures": ("cli/test_linearize", "the figures that this command writes"),
    "cli/linear_report": ("cli/test_linearize", "the work of this command"),
    "cli/tracking_run": ("cli/test_study", "the work of this command"),
    "controllers/effort_program": ("controllers/test_constrained_actuation", "the program that this law solves"),
    "controllers/frame_tasks": ("controllers/test_tasks", "tasks of frames and of coordinates are tested alike"),
    "controllers/lagging_effort": ("controllers/test_rate_limit", "the base of RateLimit and FirstOrderActuator"),
    "controllers/around": ("controllers/test_with_model", "the base of WithModel and other laws around laws"),
    "design/full_order": ("design/test_synthesis", "designs whose systems and H-infinity controllers these are"),
    "dynamics/singular_report": ("dynamics/test_singular", "the texts of what it reports"),
    "formats/links": ("formats/test_urdf", "poses, names and inertia of links, of URDF and SDF alike"),
    "formats/loops_file": ("formats/test_urdf", "the loops beside a URDF file"),
    "formats/mjcf_document": ("formats/test_mjcf", "files of strangers, before MuJoCo sees them"),
    "formats/mjcf_model": ("formats/test_mjcf", "what MuJoCo has compiled, as a machine"),
    "kernels/centroidal": ("controllers/test_centroidal_tasks", "Jacobians and biases of these tasks are its results"),
    "kernels/task_levels": ("controllers/test_hierarchical_inverse_dynamics", "the law whose levels these kernels are"),
    "kernels/arrays": ("kernels/test_split", "copies, used by every kernel"),
    "kernels/derivatives": ("dynamics/test_derivatives", "the functions that call these kernels"),
    "kernels/effort_limits": ("controllers/test_constrained_actuation", "the law whose samples these kernels are"),
    "kernels/force_elements": ("model/elements/test_force_elements", "what these kernels compute"),
    "kernels/friction": ("model/elements/test_load_friction", "what these kernels compute"),
    "model/efforts": ("dynamics/test_forces", "the functions that take these efforts"),
    "trace/equations": ("trace/test_terms", "what numbers and symbols solve alike"),
    "model/dry_friction": ("sim/test_dry_friction", "runs with exact friction, and linear models about its states"),
    "model/pins": ("model/elements/test_load_friction", "there for friction of pins"),
    "model/elements/frames": ("model/test_elements", "all parts are checked alike"),
    "model/elements/pairs": ("model/test_elements", "all parts are checked alike"),
    "model/elements/parameters": ("model/test_renumbered", "machines that are built again with other numbers"),
    "kernels/tapes": ("model/elements/test_force_elements", "the formulas of force elements"),
    "model/formula": ("model/elements/test_force_elements", "formulas are there to describe force elements"),
    "_frozen": ("model/test_elements", "all parts are frozen alike"),
    "kernels/frames": ("controllers/test_tasks", "values, Jacobians and biases of tasks are its results"),
    "kernels/generated": ("whole/test_generated", "runs and linear models by generated code and by the kernels"),
    "kernels/layout": ("model/test_compile", "records that compile.py fills"),
    "kernels/reactions": ("dynamics/test_reactions", "the functions that call these kernels"),
    "kernels/signals": ("kernels/test_linear_algebra", "the two files of what laws compute in kernels"),
    "kernels/time_loop": ("whole/test_interpreted", "the time loop in every way that it is used"),
    "kernels/record": ("sim/test_output", "the columns of a result"),
    "linear/invariant_subspaces": ("linear/test_modes", "repeated and defective modes are their vectors"),
    "linear/bifurcation": ("linear/test_continuation", "the special points of a branch"),
    "linear/chart": ("linear/test_parametrization", "what all charts have in common, chart by chart"),
    "linear/contact_modes": ("linear/test_contact_rest", "which constraints hold where contacts are closed"),
    "model/contacts": ("sim/test_switching", "what is said of contacts, and what they do in runs"),
    "linear/statics": ("linear/test_operating", "the equations that trim solves"),
    "model/units": ("robustness/test_units", "machines in other units"),
    "linear/branch": ("linear/test_iosystem", "far states that a system of python-control goes to"),
    "linear/curve": ("linear/test_continuation", "predictor and corrector of continue_equilibria"),
    "linear/machine_family": ("linear/test_uncertain", "the machines that an uncertain model is of"),
    "linear/kinematics": ("linear/test_signals", "frames and cut joints as outputs"),
    "model/elements/bodies": ("model/test_elements", "all parts are checked alike"),
    "model/elements/constraints": ("model/test_elements", "all parts are checked alike"),
    "model/elements/forces": ("model/test_elements", "all parts are checked alike"),
    "model/elements/part": ("model/test_elements", "all parts are checked alike"),
    "model/contract": ("model/test_plant", "the base of Plant, which asks it"),
    "shapes": ("model/elements/test_shapes", "the same classes, by their public names"),
    "studies/case": ("studies/test_study", "studies of machines with parameters by name"),
    "studies/execution": ("studies/test_study", "the same study here, in processes, on a cluster"),
    "studies/folder": ("studies/test_study", "studies that are killed and go on"),
    "studies/rows": ("studies/test_study", "rows of studies, in memory and in folders"),
    "studies/running": ("studies/test_study", "rows of runs that are completed, and of those that fail"),
    "plants/entry": ("plants/test_registry", "what the catalogue is made of"),
    "_interpreted/_jit": ("_interpreted/test_patience", "what decorates the kernels that are Python there"),
    "_interpreted/_tolerance": ("_interpreted/test_patience", "a name for constants of kernels that are Python there"),
    "trace/_jit": ("trace/test_machine", "what decorates the kernels that are traced there"),
    "trace/_tolerance": ("trace/test_machine", "a name for constants of kernels that are traced there"),
    "sim/units": ("studies/test_measures", "measures with the units of what was run"),
    "sim/failures": ("sim/test_control", "laws that fail, of users and of this package"),
    "sim/contact_reset": (
        "sim/test_contact_states",
        "what happens at one instant: the states of contacts, and the jumps",
    ),
    "sim/constraint_modes": ("sim/test_switching_run", "which constraints hold, from one change to the next"),
    "sim/event_detection": ("sim/test_switching_run", "what ends a part between two changes of the constraints"),
}


@cache
def modules():
    """All modules of the library, by their path without suffix."""
    paths = {path.relative_to(LIBRARY).with_suffix("").as_posix(): path for path in sorted(LIBRARY.rglob("*.py"))}
    return {name: path for name, path in paths.items() if not path.stem.startswith("__")}


def room(module):
    """The test file of a module, without its suffix."""
    folder, _, name = module.rpartition("/")
    return f"{folder}/test_{name}" if folder else f"test_{name.lstrip('_')}"


def where(module):
    """The file that has the tests of a module, without its suffix."""
    return ELSEWHERE[module][0] if module in ELSEWHERE else room(module)
