"""The linear model as an object: names, selection, python-control, files."""

import dataclasses
import json

import numpy as np
import pytest

from cmbcontrol import Actuator, Body, LinearModel, Mechanism, Revolute, linearize, load_linear, plants, trim
from cmbcontrol.design import with_payload
from tests.fixtures import largest, matched


def test_names_units_and_selection(arm):
    plant, point = arm
    model = linearize(plant, point, coordinates=("right", "left"), inputs=("right",), outputs=("left_rate", "tip_y"))
    assert model.states == ("right", "left", "right_rate", "left_rate")
    assert model.state_units == ("rad", "rad", "rad/s", "rad/s")
    assert (model.inputs, model.input_units) == (("right_effort",), ("N m",))
    assert (model.outputs, model.output_units) == (("left_rate", "tip_y"), ("rad/s", "N"))
    assert (model.B.shape, model.C.shape, model.D.shape) == ((4, 1), (2, 4), (2, 1))
    assert model.K.shape == (4, 2)
    assert largest(plant.jacobian(point.q) @ model.K) < 1e-12
    assert linearize(plant, point, coordinates=("right", "left")).outputs == ("right", "left")
    assert linearize(plant, point, outputs="tip_force").outputs == ("tip_x", "tip_y")
    matrix = linearize(plant, point, coordinates=[[1, 0, 1, 0], [1, 0, -1, 0]], outputs=("y1", "y2_rate", "left"))
    assert matrix.states == ("y1", "y2", "y1_rate", "y2_rate")
    assert matrix.C[2, :2] == pytest.approx([0.5, 0.5])
    table = str(model)
    assert "right [rad]" in table
    assert "tip_y [N]" in table
    assert str(point).count("\n") == 8


def test_python_control(hanging):
    ct = pytest.importorskip("control")
    import matplotlib

    matplotlib.use("Agg")
    plant, point = hanging
    model = linearize(plant, point, coordinates=("left", "right"), outputs=("left", "right", "loop_force"))
    sys = model.to_ss()
    assert isinstance(sys, ct.StateSpace)
    assert sys.name == "five-bar"
    assert sys.state_labels == ["left", "right", "left_rate", "right_rate"]
    assert sys.input_labels == ["left_effort", "right_effort"]
    assert sys.output_labels == ["left", "right", "tip_x", "tip_y"]
    assert matched(sys.poles(), model.poles()) < 1e-12
    assert np.linalg.matrix_rank(ct.ctrb(sys.A, sys.B)) == 4
    frequency, ratio, _ = ct.damp(sys, doprint=False)
    for mode in model.damping():
        k = np.argmin(np.abs(frequency - mode.frequency))
        assert (frequency[k], ratio[k]) == pytest.approx((mode.frequency, mode.damping), rel=1e-9)
    gain, _, closed = ct.lqr(sys, np.eye(4), np.eye(2))
    assert gain.shape == (2, 4)
    assert closed.real.max() < 0.0
    response = model.frequency_response([0.1, 1.0, 10.0])
    exact = model.C @ np.linalg.solve(1j * np.eye(4) - model.A, model.B) + model.D
    assert largest(response.frdata[:, :, 1] - exact) < 1e-12
    assert ct.bode_plot(sys[0, 0]).figure is not None
    matplotlib.pyplot.close("all")
    assert linearize(plant, point, inputs=()).to_ss().ninputs == 0


@pytest.mark.parametrize("suffix", [".json", ".mat"])
def test_save_and_load(hanging, suffix, tmp_path):
    plant, point = hanging
    for keys in ({"outputs": ("left", "left_rate", "tip_force")}, {"inputs": ("left",), "outputs": ("left",)}):
        model = linearize(plant, point, **keys)
        loaded = load_linear(model.save(tmp_path / f"model{suffix}"), plant)
        for field in dataclasses.fields(LinearModel):
            a, b = getattr(model, field.name), getattr(loaded, field.name)
            if isinstance(a, np.ndarray):
                assert a.shape == b.shape
                assert np.array_equal(a, b)
            elif field.name != "point":
                assert a == b
        assert np.array_equal(loaded.point.q, point.q)
        assert np.array_equal(loaded.point.lam, point.lam)
        assert loaded.point.residuals == point.residuals
        again = linearize(plant, loaded.point, **keys)
        assert np.array_equal(again.A, model.A)
    assert "operating point" in str(load_linear(tmp_path / f"model{suffix}").point)


def test_files_of_other_kinds(hanging, tmp_path):
    model = linearize(*hanging)
    with pytest.raises(ValueError, match=r"\.mat or \.json"):
        model.save(tmp_path / "model.txt")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match="holds no linear model"):
        load_linear(tmp_path / "other.json")


@pytest.mark.parametrize("suffix", [".json", ".mat", ".npz"])
def test_files_keep_all(hanging_model, suffix, tmp_path):
    rng = np.random.default_rng(0)
    v = rng.standard_normal(hanging_model.point.v.size)
    model = dataclasses.replace(
        hanging_model,
        drift=rng.standard_normal(4),
        N=rng.standard_normal(hanging_model.K.shape),
        point=dataclasses.replace(hanging_model.point, v=v),
    )
    for kept in (model, dataclasses.replace(model, inputs=(), input_units=(), B=model.B[:, :0], D=model.D[:, :0])):
        loaded = load_linear(kept.save(tmp_path / f"model{suffix}"), hanging_model.point.plant)
        for field in dataclasses.fields(LinearModel):
            if field.name != "point":
                np.testing.assert_array_equal(getattr(kept, field.name), getattr(loaded, field.name))
        for key in ("q", "v", "u", "lam", "residuals"):
            np.testing.assert_array_equal(getattr(kept.point, key), getattr(loaded.point, key))
        assert len(loaded.modes()) == len(kept.modes())


def test_files_of_the_first_version(hanging_model, tmp_path):
    """Those that were written before models had a drift."""
    path = hanging_model.save(tmp_path / "model.json")
    data = json.loads(path.read_text())
    del data["drift"], data["N"]
    path.write_text(json.dumps(data | {"format": "cmbcontrol linear model 1"}))
    loaded = load_linear(path)
    np.testing.assert_array_equal(loaded.A, hanging_model.A)
    assert not loaded.drift.any() and not loaded.N.any() and loaded.N.shape == hanging_model.K.shape


def test_other_suffixes_are_refused(hanging_model, tmp_path):
    with pytest.raises(ValueError, match=r"\.npz, \.mat or \.json file, got 'model\.txt'"):
        hanging_model.save(tmp_path / "model.txt")
    np.savez(tmp_path / "other.npz", x=1.0)
    with pytest.raises(ValueError, match="holds no linear model"):
        load_linear(tmp_path / "other.npz")


@pytest.mark.parametrize("suffix", [".mat", ".npz", ".json"])
def test_another_plant_is_refused(suffix, tmp_path):
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    path = linearize(plant, point).save(tmp_path / f"model{suffix}")
    assert load_linear(path, plant).point.plant is plant
    loaded = with_payload(plant, "left_upper", 2.0, (1.5, 0.0, 0.0))
    for other, why in (
        (loaded, "forces of .* are not balanced"),
        (plants.loader(), "has the coordinates boom"),
        (plants.five_bar(closure="point"), "2 motors and 3 loop rows"),
    ):
        with pytest.raises(ValueError, match=f"was made for 'five-bar', not for {other.name!r}: .*{why}"):
            load_linear(path, other)


def test_masses_show_where_nothing_weighs(tmp_path):
    def robot(mass):
        rod = Body.planar("rod", mass, 0.5, 0.1)
        return Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod")], actuators=[Actuator("pivot")])

    light = robot(1.0)
    path = linearize(light, trim(light, [0.3])).save(tmp_path / "model.npz")
    assert load_linear(path, robot(1.0)).name == "robot"
    with pytest.raises(ValueError, match="other masses"):
        load_linear(path, robot(2.0))
