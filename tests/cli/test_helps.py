"""Helps of the commands: what they say, in which words, how they are laid out."""

import re

import pytest

from cmbcontrol.cli.commands import app
from tests.fixtures import run_command

COMMANDS = ["list", "diagnose", "linearize", "study", "run", "export", "convert", "view", "experiment"]


def test_all_commands_are_known_here():
    assert [command.name for command in app.registered_commands] == COMMANDS


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_helps_stay_on_the_terminal_and_speak_of_people_s_things(command, columns, monkeypatch):
    """No type of Python for what an option takes, no brackets of a markup language, no broken word."""
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = run_command(command, "--help")
    assert (code, err) == (0, "") and f" {command} [OPTIONS]" in out.splitlines()[0]
    assert max(map(len, out.splitlines())) <= min(columns, 100)
    assert not re.search(r"<(str|int|float|path|bool)>|\[/?bold\]|\(\(", out.lower())
    monkeypatch.setenv("COLUMNS", "100")
    wide = run_command(command, "--help")[1]
    assert wide.split() == out.split()  # the same words, whatever the width


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_text_and_what_it_takes(command):
    out = run_command(command, "-h")[1]
    options = re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)(?: / (--[\w-]+))?( \S+)?(?:  |$)", out)
    assert {"--debug", "--json"} <= {name for name, *_ in options}
    flags = {name for name, _, takes in options if not takes}
    assert flags <= {
        *("--help", "--debug", "--json", "--notes", "--force", "--held", "--stable", "--stops", "--affine"),
        *("--animation", "--report", "--check", "--resume", "--c", "--fmu", "--binary", "--open", "--quick"),
    }


def test_sections_of_options():
    out = run_command("linearize", "--help")[1]
    heads = re.findall(r"(?m)^(\w[\w ]*):$", out)
    assert heads == ["Arguments", "Operating point", "Model", "Sampled time", "Files", "Options"]


def test_the_help_of_all_says_what_each_command_is_for():
    out = run_command("--help")[1]
    assert re.findall(r"(?m)^  ([a-z]+)  ", out) == COMMANDS
    assert "None" not in out


def test_wrong_calls_are_told_in_one_style():
    for words, match in (
        (["lst"], "No such command 'lst'. Did you mean 'list'?"),
        (
            ["study", "five-bar", "--duraton", "3"],
            "No such option: --duraton (did you mean --animation, --at, --duration?)",
        ),
        (["diagnose"], "Missing argument 'PLANT'."),
    ):
        code, out, err = run_command(*words)
        usage, hint, error = err.splitlines()
        assert (code, out) == (2, "") and usage.startswith("Usage: ") and hint.startswith("Try '")
        assert error.startswith("error: ") and match in error
    code, out, err = run_command()
    assert (code, out) == (2, "") and err == run_command("--help")[1]
