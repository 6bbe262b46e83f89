"""What is said of a machine that was converted."""

from pathlib import Path

import pytest

from cmbcontrol import plants
from cmbcontrol.errors import InputError, ModelError
from cmbcontrol.formats.conversion import Conversion, Remarks, of_file


def test_remarks_are_grouped_and_said_once():
    remarks = Remarks()
    for name in "abcdef":
        remarks.left_out(f"geom {name!r}", "contacts are not kept")
        remarks.left_out(f"geom {name!r}", "contacts are not kept")
    remarks.changed("joint 'x'", "it has two axes, and is two joints now")
    remarks.assumed("gravity", "9.81 m/s2 along -z")
    made = Conversion(plants.pendulum(), Path("arm.xml"), "MJCF", tuple(remarks.said))
    assert str(made).splitlines() == [
        "arm.xml (MJCF), machine 'pendulum': 6 left out",
        "  left out: geom 'a', geom 'b', geom 'c', geom 'd' and 2 more: contacts are not kept",
        "  changed: joint 'x': it has two axes, and is two joints now",
        "  assumed: gravity: 9.81 m/s2 along -z",
    ]
    assert [remark.part for remark in made.of_kind("assumed")] == ["gravity"]
    with pytest.raises(InputError, match="'lost'"):
        made.of_kind("lost")


def test_errors_tell_the_file_once():
    with (
        pytest.raises(ModelError, match=r"^arm.xml, line 7: mass") as told,
        of_file(Path("arm.xml"), 3),
        of_file(Path("arm.xml"), 7),
    ):
        raise ModelError("mass")
    assert "line 3" not in str(told.value)
