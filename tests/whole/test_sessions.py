"""Sessions on terminals of 80 and 120 columns, kept as text in the folder `sessions`, and compared to the letter.

Each is what stays on the screen, both streams together, of commands given one after the other in a folder of its own;
colours and bold are left out. To renew the texts after a change that is meant, and to look at what has become of them:

    python -m tests.whole.test_sessions
    git diff tests/whole/sessions

Numbers that differ between machines are masked by the rules in `MASKS`: those of rounding, times, counts of steps, and
sizes of files. All others are compared with the digits that are shown.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

FOLDER = Path(__file__).with_name("sessions")
WIDTHS = (80, 120)
COMMANDS = ("list", "diagnose", "linearize", "study", "run", "export", "convert", "view", "experiment")

# The shape of a number is kept, so that columns stay where they are.
MASKS = (
    (r"\b\d(\.\d+)?e-(09|[1-9]\d)\b", lambda found: re.sub(r"\d", "#", found[0])),  # rounding: below 1e-8 of anything
    (r"(?m)^(  time +)\d.*$", r"\1# s"),  # of the computation, with that of compiling
    (r"\b\d+ steps(?: \(\d+ implicit\))?, \d+ evaluations", "# steps, # evaluations"),  # steps follow rounding, too
    (r"\b\d+\.\d MB\b", "# MB"),
    (r"(?m)^compiling kernels for the first time .*\n", ""),  # where nothing has been compiled yet
)

STUDY = """\
machine: five-bar
law:
  type: ProjectedInverseDynamics
  coordinates: [left, right]
  reference: {type: Constant, position: [2.1, 1.0]}
  bandwidth: 8
  period: 1e-2
start: {left: 2.1, right: 1.0}
run: {t_end: 0.1, output_times: 0.05}
vary:
  left_lower_scale: {values: [-0.2, 0.8, 1.0, 1.2], unit: "1"}
measures: {worst: worst_error, conditioning: worst_conditioning}
limits: {worst: [0, 1e-3]}
"""
ROBOT = """\
<robot name="arm">
  {links}
  <joint name="turn" type="revolute">
    <parent link="l0"/><child link="l1"/><axis xyz="0 1 0"/><limit effort="5" velocity="1" lower="-1" upper="1"/>
  </joint>
</robot>
"""
LINK = """\
<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  {visuals}</link>"""
VISUAL = '<visual><geometry><mesh filename="part_{i}_{k}.stl"/></geometry></visual>'

QUICK = {f"help-{command}": [f"{command} --help"] for command in COMMANDS} | {
    "help": ["--help", "-h"],
    "list": ["list"],
    "experiments": ["experiment"],
    "wrong-calls": [
        "lst",
        "diagnose",
        "diagnose five-baar",
        "diagnose none.yaml",
        "diagnose five-bar --at left=up",
        "diagnose five-bar --with closre=line",
        "linearize five-bar --delay 0.1",
        "linearize five-bar --held --stable",
        "study five-bar --duraton 3",
        "study five-bar --duration -1",
        "run none.yaml",
        "run masses.yaml --workers many",
        "export five-bar",
        "convert five-bar arm.foo",
        "experiment nothing",
    ],
}
SLOW = {
    "diagnose": [
        "diagnose five-bar --at left=2,right=60deg",
        "diagnose n-four-bar --at bar0=0,coupler1=0,bar1=0,coupler2=0,bar2=0",
        "diagnose five-bar --at lefd=1",
        "diagnose five-bar --at left=2,right=2,elbow_left=3",
    ],
    "remarks": ["diagnose arm.urdf", "diagnose arm.urdf --notes", "convert arm.urdf arm.yaml"],
    "linearize": [
        "linearize five-bar --at left=2.1,right=1 --coordinates left,right --outputs left,tip_force --save model.mat",
        "linearize five-bar --coordinates left,elbow_left --inputs lft",
        "linearize two-arms --sampled 0.01",
    ],
    "study": ["study five-bar --duration 0.2 --no-animation --no-report", "study five-bar"],
    "run": ["run masses.yaml", "run masses.yaml", "run masses.yaml --resume --workers 2"],
    "export": [
        "export five-bar --c",
        "export five-bar --c",
        "export pendulum --fmu --no-binary",
        "convert five-bar bar.urdf",
        "view pendulum",
    ],
}


def furnish(folder):
    """Put the files there with which sessions begin."""
    (folder / "masses.yaml").write_text(STUDY)
    links = (LINK.format(i=i, visuals="".join(VISUAL.format(i=i, k=k) for k in range(6))) for i in range(2))
    (folder / "arm.urdf").write_text(ROBOT.format(links="\n  ".join(links)))


def on_terminal(words, columns, folder):
    """What a process writes to a terminal with so many columns, and its exit code."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (50, columns))
    unset = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERMINAL_WIDTH")
    env = {k: v for k, v in os.environ.items() if k not in unset} | {"TERM": "xterm-256color", "MPLBACKEND": "Agg"}
    process = subprocess.Popen(words, stdin=its, stdout=its, stderr=its, cwd=folder, env=env)
    os.close(its)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # on Linux, when the other side is closed
        pass
    os.close(ours)
    return written.decode(), process.wait()


def screen(written):
    r"""Lines that stay on a screen: bars of progress move up, erase what they drew, and are gone at the end.

    Examples
    --------
    >>> screen("ab\r\nbar 10 %\r\x1b[2Kbar 20 %\r\x1b[2K\x1b[1mcd\x1b[0m\r\n")
    ['ab', 'cd']
    """
    lines, row, column = [""], 0, 0
    for text, number, code, control in re.findall(r"([^\x1b\r\n]+)|\x1b\[\??([\d;]*)([A-Za-z])|([\r\n])", written):
        if text:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
        elif control == "\r":
            column = 0
        elif control == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif code == "A":
            row = max(row - int(number or 1), 0)
        elif code == "K":
            lines[row] = "" if number == "2" else lines[row][:column]
        elif code not in "mhl":  # styles, and whether the cursor is shown
            raise AssertionError(f"a screen that knows the control sequence {number}{code}")
    return [line.rstrip() for line in lines[: len(lines) - (not lines[-1])]]


def session(commands, columns, folder):
    """Text of a session: what was typed, what stays on the screen, exit codes that are not zero."""
    furnish(folder)
    told = []
    for command in commands:
        words = [sys.executable, "-m", "cmbcontrol", *shlex.split(command)]
        written, code = on_terminal(words, columns, folder)
        told += [f"$ cmbcontrol {command}", *screen(written), *([f"[exit code {code}]"] if code else []), ""]
    return "\n".join(told)


def masked(text):
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return text


def compared(name, commands, columns, folder):
    kept = (FOLDER / f"{name}-{columns}.txt").read_text(encoding="utf-8")
    assert masked(session(commands, columns, folder)) == kept


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", QUICK)
def test_what_is_told_at_once(name, columns, tmp_path):
    compared(name, QUICK[name], columns, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", SLOW)
def test_what_commands_print(name, columns, tmp_path):
    compared(name, SLOW[name], columns, tmp_path)


@pytest.mark.smoke
def test_no_line_is_wider_than_its_terminal():
    """So that the terminal breaks no word."""
    files = sorted(FOLDER.iterdir())
    assert {file.stem for file in files} == {f"{name}-{columns}" for name in QUICK | SLOW for columns in WIDTHS}
    for file in files:
        columns = int(file.stem.rpartition("-")[2])
        typed = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("$ ")]
        assert max(map(len, typed)) <= columns, file.name


def test_the_guide_shows_sessions_as_they_are():
    """Its blocks that begin with a prompt are parts of those on 80 columns."""
    guide = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    kept = "\n".join(file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*-80.txt")))
    blocks = re.findall(r"```text\n(\$ cmbcontrol .*?)```", guide, re.S)
    assert len(blocks) >= 4
    for block in blocks:
        assert masked(block) in kept, block


def test_masks_take_no_more_than_they_say():
    text = (
        "  left  1.28999 rad, open by 1.6e-16 m, 1e-08, 2.5e-09\n  time  0.38 s, 0.2 s of it\n  12 steps, 3 evaluations"
    )
    assert masked(text) == (
        "  left  1.28999 rad, open by #.#e-## m, 1e-08, #.#e-##\n  time  # s\n  # steps, # evaluations"
    )


def test_bars_leave_nothing_on_the_screen(tmp_path):
    """A bar of a terminal counts, tells the time left, and is gone."""
    code = (
        "from cmbcontrol.cli.common import Bars\n"
        "print('before')\n"
        "with Bars() as bars, bars.step('runs') as tell:\n"
        "    tell.expect(40)\n"
        "    tell(0.3)\n"
        "    bars._bars.refresh()\n"
        "print('after')\n"
    )
    written, ended = on_terminal([sys.executable, "-c", code], 80, tmp_path)
    assert ended == 0 and "12 of 40" in written and screen(written) == ["before", "after"]


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, commands in (QUICK | SLOW).items():
        for columns in WIDTHS:
            with TemporaryDirectory() as place:
                text = masked(session(commands, columns, Path(place)))
            (FOLDER / f"{name}-{columns}.txt").write_text(text, encoding="utf-8")
