"""Robots from a URDF file and a YAML file beside it that names the loops, as pairs of frames (type 6d or 3d)."""

import xml.etree.ElementTree as ET
from pathlib import Path

import yaml

from cmbcontrol.model.elements import GROUND, Body, Fixed, Frame, Point, Prismatic, Revolute, Spherical, Universal, Weld
from cmbcontrol.model.mechanism import Mechanism

# beside the repository, or beside the folder of work trees that it is in
FOLDERS = (folder / "shared" / "models" for folder in Path(__file__).resolve().parents[2:])
FOLDER = next((folder for folder in FOLDERS if folder.is_dir()), Path("no-models"))
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def names():
    """Robots that are there."""
    return sorted(path.parent.name for path in FOLDER.glob("*/robot.urdf"))


def origin(element):
    """Frame of an <origin>."""
    at = element.find("origin")
    if at is None:
        return Frame()
    xyz = [float(x) for x in at.get("xyz", "0 0 0").split()]
    roll, pitch, yaw = (float(x) for x in at.get("rpy", "0 0 0").split())
    return Frame(xyz, (Frame.turned(AXES["Z"], yaw) @ Frame.turned(AXES["Y"], pitch) @ Frame.turned(AXES["X"], roll)).R)


def robot(name):
    """The robot, with its root fixed to the ground. Masses are ours: closing the loops does not ask for them."""
    tree = ET.parse(FOLDER / name / "robot.urdf").getroot()
    given = yaml.safe_load((FOLDER / name / "robot.yaml").read_text())
    kinds = dict(zip(given.get("joint_name", []), given.get("joint_type", []), strict=True))
    links = [link.get("name") for link in tree.findall("link")]
    joints, frames = [], {link: link for link in links}
    for j in tree.findall("joint"):
        label, parent, child = j.get("name"), j.find("parent").get("link"), j.find("child").get("link")
        keys = {"frame": origin(j)}
        axis = j.find("axis")
        turned = {} if axis is None else {"axis": [float(x) for x in axis.get("xyz").split()]}
        kind = kinds.get(label, j.get("type"))
        if kind == "SPHERICAL":
            joints.append(Spherical(label, parent, child, **keys))
        elif kind.startswith("UJOINT"):
            first, second = (AXES[k] for k in kind[-2:])
            joints.append(Universal(label, parent, child, axis=first, second_axis=second, **keys))
        elif kind == "fixed":
            joints.append(Fixed(label, parent, child, **keys))
        else:
            joints.append(
                {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic}[kind](
                    label, parent, child, **turned, **keys
                )
            )
        frames[label] = child
    (root,) = set(links) - {j.child for j in joints}
    joints.append(Fixed("base", GROUND, root))
    loops = []
    for (a, b), kind in zip(given["closed_loop"], given["type"], strict=True):
        loops.append((Weld if kind == "6d" else Point)(f"{a}_{b}", frames[a], frames[b]))
    return Mechanism(name, [Body(link, 1.0, inertia=(0.01, 0.01, 0.01)) for link in links], joints, loops)
