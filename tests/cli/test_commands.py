"""All commands together: usage, help."""

import json
import sys

import pytest

import cmbcontrol as cmb
from cmbcontrol import cli
from cmbcontrol.cli import entries, linear_report
from tests.fixtures import run_command

# -- errors ------------------------------------------------------------------------------------------------


def test_usage_errors_keep_their_code():
    assert run_command("study")[0] == 2
    assert run_command("study", "five-bar", "--no-such-option")[0] == 2
    assert run_command("study", "five-bar", "--duration", "long")[0] == 2
    assert run_command("nonsense")[0] == 2


def test_version_and_help():
    assert run_command("--version")[:2] == (0, f"cmbcontrol {cmb.__version__}\n")
    code, out, _ = run_command("--help")
    assert code == 0
    for command in ("list", "diagnose", "linearize", "study", "export"):
        assert command in out


@pytest.mark.parametrize("command", ["list", "diagnose", "linearize", "study", "export"])
def test_every_command_explains_itself(command):
    code, out, _ = run_command(command, "--help")
    assert code == 0 and "--debug" in out
    assert "[bold]" not in out


# -- starting ----------------------------------------------------------------------------------------------


QUICK = ["diagnose five-bar", "linearize five-bar", "export five-bar --c", "convert five-bar here.yaml"]


@pytest.mark.parametrize("words", QUICK)
def test_quick_commands_do_not_wait_for_compilation(words, monkeypatch, here):
    calls = []
    monkeypatch.setattr(entries._jit, "needs_compilation", lambda *kernel: True)
    monkeypatch.setattr(linear_report, "needs_compilation", lambda: True)
    monkeypatch.setattr(entries.subprocess, "call", lambda command, env: calls.append((command, env)) or 3)
    monkeypatch.setattr(sys, "argv", ["cmbcontrol", *words.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    (done,) = calls
    assert done[0] == [sys.executable, "-m", "cmbcontrol", *words.split()]
    assert done[1]["NUMBA_DISABLE_JIT"] == "1"


# -- JSON --------------------------------------------------------------------------------------------------

NUMBERS = {"type": "array", "items": {"type": "number"}}
MATRIX = {"type": "array", "items": NUMBERS}


def told(kind, /, **properties):
    """Schema of what --json prints."""
    head = {"format": {"const": f"cmbcontrol {kind} 1"}, "version": {"type": "string"}}
    return {"type": "object", "properties": head | properties, "required": [*head, *properties]}


COUNT, TEXT, TRUTH = {"type": "integer", "minimum": 0}, {"type": "string"}, {"type": "boolean"}
JSON = {
    ("list",): told("plants", plants={"type": "array", "minItems": 20, "items": {"type": "object"}}),
    ("diagnose", "n-four-bar"): told(
        "diagnosis", plant=TEXT, q={"type": "object"}, rank=COUNT, dof=COUNT, singular=TRUTH, singular_values=NUMBERS
    ),
    ("linearize", "pendulum", "--sampled", "0.01"): told(
        "linear model",
        how=TEXT,
        model={"type": "object", "properties": {"A": MATRIX, "B": MATRIX}, "required": ["A", "B", "states"]},
        sampled={"type": "object", "properties": {"A": MATRIX, "period_s": {"const": 0.01}}, "required": ["A"]},
    ),
    ("experiment",): told("experiments", experiments={"type": "array", "minItems": 10, "items": {"type": "object"}}),
    ("experiment", "udwadia-kalaba-pseudoinverses", "--quick"): told(
        "experiment",
        name=TEXT,
        tables={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"columns": {"type": "array", "items": TEXT}, "rows": {"type": "array"}},
                "required": ["title", "columns", "rows"],
            },
        },
    ),
    ("export", "five-bar", "--c"): told(
        "C",
        functions={"type": "array", "items": TEXT, "minItems": 4},
        parameters={"type": "object", "additionalProperties": {"type": "number"}},
        folder={"const": "five-bar-c"},
        files={"type": "array", "items": TEXT},
    ),
    ("export", "five-bar", "--fmu", "--no-binary"): told(
        "FMU", fmi={"const": "3.0"}, states={"type": "array", "items": TEXT}, file={"const": "five-bar.fmu"}
    ),
    ("convert", "five-bar", "bar.urdf"): told(
        "conversion",
        file={"const": "bar.urdf"},
        remarks={
            "type": "object",
            "properties": {
                "written": {"type": "array", "minItems": 1, "items": {"required": ["kind", "part", "what"]}}
            },
            "required": ["written"],
        },
    ),
    ("view", "five-bar"): told("page", kind={"const": "machine"}, file={"const": "five-bar.html"}, bytes=COUNT),
    ("study", "five-bar", "--duration", "0.1", "--no-animation", "--no-report"): told(
        "study",
        followed=TRUTH,
        verdict=TEXT,
        steps=COUNT,
        max_effort={"type": "object"},
        files={"type": "array"},
        tracking={
            "type": "object",
            "properties": {
                "decay_rate_asked": {"type": "number"},
                "tracking_error_rad": {
                    "type": "object",
                    "properties": {
                        **{name: {"type": "number"} for name in ("start", "largest", "end", "last_tenth")},
                        "decay_rate": {"type": ["number", "null"]},
                    },
                    "required": ["start", "largest", "end", "last_tenth", "decay_rate"],
                },
            },
            "required": ["coordinates", "decay_rate_asked", "tracking_error_rad"],
        },
    ),
}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("words", JSON, ids=" ".join)
def test_json_is_all_that_is_printed(words, here, undrawn):
    from jsonschema import validate

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    code, out, err = run_command(*words, "--json")
    assert (code, err) == (0, "")
    validate(json.loads(out, parse_constant=refuse), JSON[words])


def test_json_of_a_study_from_a_file(here):
    from jsonschema import validate

    (here / "decay.yaml").write_text(
        "machine: five-bar\nstart: {left: 2.1, right: 1.0}\nrun: {t_end: 0.05}\n"
        "vary: {left_lower_scale: {values: [0.9, 1.1], unit: '1'}}\nmeasures: {worst: worst_conditioning}\n"
    )
    code, out, err = run_command("run", "decay.yaml", "--json")
    assert (code, err) == (0, "")
    measures, files = {"required": ["worst"]}, {"type": "array", "items": TEXT}
    shape = told("run", runs={"const": 2}, failed={"const": 0}, measures=measures, folder=TEXT, files=files)
    validate(printed := json.loads(out), shape)
    kept = json.loads((here / "decay-runs" / "summary.json").read_text())
    assert kept == {key: value for key, value in printed.items() if key not in ("folder", "files")}


def test_json_has_no_infinity(here, undrawn):
    """Neither in what is printed nor in the file of a study, of a motor without limit."""
    words = "study", "five-bar", "--with", "effort=inf", "--duration", "0.1", "--no-animation", "--no-report"
    code, out, _ = run_command(*words, "--json")
    assert code == 0 and json.loads(out)["options"] == {"effort": None}
    assert json.loads((here / "study-five-bar" / "summary.json").read_text())["options"] == {"effort": None}
