"""Files of meshes: what STL and OBJ say, and clear errors for everything else."""

import re
import struct

import numpy as np
import pytest

from cmbcontrol import Frame, shapes
from cmbcontrol.errors import FileError, InputError, InputTypeError
from cmbcontrol.model.elements.mesh_files import file_within, obj_text, read_mesh

from .test_shapes import require_closed, volume

CUBE = shapes.Box((1.0, 2.0, 3.0)).triangles()


def binary_stl(surface, head=b"made for a test"):
    corners = surface.vertices[surface.faces].astype("<f4")
    records = b"".join(struct.pack("<12fH", *np.zeros(3), *triangle.ravel(), 0) for triangle in corners)
    return head.ljust(80, b"\0") + struct.pack("<I", len(corners)) + records


def text_stl(surface):
    lines = ["solid cube"]
    for triangle in surface.vertices[surface.faces]:
        lines += [" facet normal 0 0 0", "  outer loop"]
        lines += [f"   vertex {x:.9e} {y:.9e} {z:.9e}" for x, y, z in triangle]
        lines += ["  endloop", " endfacet"]
    return "\n".join([*lines, "endsolid cube", ""]).encode()


FILES = {
    "binary.stl": binary_stl(CUBE),
    "solid.STL": binary_stl(CUBE, b"solid that is binary"),
    "text.stl": text_stl(CUBE),
    "cube.obj": obj_text(CUBE.vertices, CUBE.faces).encode(),
    "quads.obj": (
        "# a cube\nmtllib none.mtl\no cube\n"
        + "".join(f"v {x} {y} {z} 1.0\n" for x, y, z in CUBE.vertices)
        + "vn 0 0 1\nvt 0 0\ns off\nf 4//1 3//1 2//1 1//1\nf 5/1/1 6/1/1 7/1/1 8/1/1\n"
        + "f 1 2 6 5\nf 2 3 7 6\nf -6 -5 -1 -2  # from the end\nf 4 1 5 8\nl 1 2\n"
    ).encode("latin-1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_formats(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name])
    mesh = shapes.Mesh.from_file(tmp_path / name, scale=0.001, color="#00ff00")
    require_closed(mesh)
    assert len(mesh.vertices) == 8 and len(mesh.faces) == 12 and mesh.color == "#00ff00"
    assert volume(mesh) == pytest.approx(6e-9, rel=1e-6)
    moved = shapes.Mesh.from_file(tmp_path / name, frame=Frame((0, 0, 10.0)))
    assert moved.vertices[:, 2].min() == pytest.approx(8.5)


def test_obj_gives_all_digits_back(tmp_path):
    ball = shapes.Ball((0.1, 0.2, 1 / 3), 0.7).triangles()
    (tmp_path / "ball.obj").write_text(obj_text(ball.vertices, ball.faces))
    vertices, faces = read_mesh(tmp_path / "ball.obj")
    assert vertices.tobytes() == ball.vertices.tobytes() and np.array_equal(faces, ball.faces)


def test_fine_meshes_are_reduced_unless_all_is_wanted(tmp_path):
    n = 60
    x, y = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), np.sin(0.3 * x.ravel())])
    i = (x[:-1, :-1] * n + y[:-1, :-1]).ravel()
    faces = np.vstack([np.column_stack([i, i + n, i + n + 1]), np.column_stack([i, i + n + 1, i + 1])])
    (tmp_path / "field.obj").write_text(obj_text(vertices, faces))
    assert len(shapes.Mesh.from_file(tmp_path / "field.obj").faces) <= 2000
    assert len(shapes.Mesh.from_file(tmp_path / "field.obj", most=300).faces) <= 300
    assert len(shapes.Mesh.from_file(tmp_path / "field.obj", most=None).faces) == len(faces)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.dae", b"<COLLADA/>", "read from .stl and .obj files; convert"),
        ("a.stl", b"", "no STL file"),
        ("a.stl", b"nothing", "no STL file"),
        ("a.stl", FILES["binary.stl"][:-1], "no STL file.*50 for each triangle"),
        ("a.stl", FILES["solid.STL"][:-1], "is it complete"),
        ("a.stl", b"h".ljust(80, b"\0") + struct.pack("<I", 2**32 - 1) + b"\0" * 50, "no STL file"),
        ("a.stl", b"h".ljust(80, b"\0") + struct.pack("<I", 0), "no triangle"),
        ("a.stl", FILES["text.stl"].replace(b"vertex", b"vertex x", 1), "line 4: a vertex has three numbers"),
        ("a.stl", FILES["text.stl"][: FILES["text.stl"].rindex(b"   vertex")], "vertices, and three make a triangle"),
        ("a.stl", binary_stl(shapes.Triangles(CUBE.vertices * np.inf, CUBE.faces, False)), "finite"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "line 4: there is no vertex '4' among the 3"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "line 4: there is no vertex '-4"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "line 4: there is no vertex '0"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "line 4: a face has three or more"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf " + b"9" * 5000 + b" 1 2\n", "line 4: there is no vertex '9999"),
        ("a.obj", b"v 0 nan 0\n", "line 1: a vertex has three numbers"),
        ("a.obj", b"v 0 1e300 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "below 1e"),
        ("a.obj", b"v 0 0\n", "line 1: a vertex has three numbers"),
        ("a.obj", b"v 0 0 0\n", "no triangle"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2\n", "no triangle"),
        ("a.obj", b"v 0 0 0\0\n", "no text"),
    ],
)
def test_what_is_none(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=f"(?s){re.escape(name)}.*{words}"):
        shapes.Mesh.from_file(tmp_path / name)


def test_files_that_are_not_there_or_too_large(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        shapes.Mesh.from_file(tmp_path / "none.stl")
    with pytest.raises(FileError, match="cannot be read"):
        (tmp_path / "folder.stl").mkdir()
        shapes.Mesh.from_file(tmp_path / "folder.stl")
    with (tmp_path / "large.stl").open("wb") as file:
        file.truncate(10**11)  # takes no room
    with pytest.raises(FileError, match="more than 50000000: reduce the mesh"):
        shapes.Mesh.from_file(tmp_path / "large.stl")


@pytest.mark.parametrize("seed", range(40))
def test_mutated_files_are_read_or_refused(seed, tmp_path):
    rng = np.random.default_rng(seed)
    for name, content in FILES.items():
        data = bytearray(content)
        for _ in range(int(rng.integers(1, 6))):
            at = int(rng.integers(len(data)))
            kind = rng.integers(4)
            if kind == 0:
                data[at] = int(rng.integers(256))
            elif kind == 1:
                del data[at : at + int(rng.integers(1, 60))]
            elif kind == 2:
                data[at:at] = data[at : at + 40]
            else:
                data[at:at] = bytes(rng.choice([b"-", b"e9", b"\n", b"9", b"v ", b"f ", b"\xff"]))
            data = data or bytearray(b" ")
        (tmp_path / name).write_bytes(bytes(data))
        try:
            mesh = shapes.Mesh.from_file(tmp_path / name)
        except FileError as error:
            assert name in str(error) and len(str(error)) < 500 + len(str(tmp_path))
        else:
            assert np.isfinite(mesh.vertices).all() and len(mesh.faces) < 60


def test_paths_stay_within_the_folder(tmp_path):
    inside = tmp_path / "robot"
    (inside / "meshes").mkdir(parents=True)
    assert file_within(inside, "meshes/../meshes/a.stl", "path").name == "a.stl"
    (tmp_path / "secret.stl").write_bytes(FILES["binary.stl"])
    (inside / "link.stl").symlink_to(tmp_path / "secret.stl")
    for name in ("../secret.stl", str(tmp_path / "secret.stl"), "link.stl", "meshes/../../secret.stl"):
        with pytest.raises(InputError, match="leads out of the folder"):
            file_within(inside, name, "path")
    for name in (None, 3, "", "a\0b", "a" * 2000):
        with pytest.raises(InputTypeError, match="name of a file"):
            file_within(inside, name, "path")
    with pytest.raises(InputError, match="no folder"):
        file_within(None, "a.stl", "path")
