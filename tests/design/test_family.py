"""One machine at several configurations with several payloads."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.design import model_family, with_payload
from tests.fixtures import ARMS, PAYLOAD_POSES


def test_payload_is_a_welded_body(plant):
    """The twin: a body of its own, fixed by a joint."""
    inertia = np.diag([0.1, 0.2, 0.25])
    loaded = with_payload(plant, "left_upper", 3.0, (1.2, 0.3, 0.0), inertia)
    box = cmb.Body("box", 3.0, (0.2, 0.1, 0.0), inertia)
    weld = cmb.Fixed("weld", "left_upper", "box", frame=cmb.Frame((1.0, 0.2, 0.0)))
    twin = cmb.Mechanism(
        "twin",
        [*plant.bodies, box],
        [*plant.joints, weld],
        plant.loops,
        actuators=plant.actuators,
        gravity=plant.gravity,
    )
    q, v = plant.assemble(left=2.1, right=1.0), np.array([0.3, -0.2, 0.4, 0.1])
    for name in ("M", "h"):
        assert np.allclose(getattr(loaded.terms(q, v), name), getattr(twin.terms(q, v), name), atol=1e-12)
    assert np.array_equal(with_payload(plant, "left_upper", 0.0).terms(q, v).M, plant.terms(q, v).M)
    with pytest.raises(ValueError, match="did you mean 'left_upper'"):
        with_payload(plant, "left_uper", 1.0)


def test_models_by_label(models, machines):
    assert len(models) == 27 and models["4 kg, (2.7, 0.4)"].point.plant is machines["4 kg"]
    single = model_family(machines["2 kg"], PAYLOAD_POSES["(1.9, 0.4)"], coordinates=ARMS)
    (label,) = single
    assert label == "five-bar with 2 kg, configuration 1"
    assert np.allclose(single[label].A, models["2 kg, (1.9, 0.4)"].A)
    by_q = model_family(machines["2 kg"], machines["2 kg"].assemble(**PAYLOAD_POSES["(1.9, 0.4)"]), coordinates=ARMS)
    assert np.allclose(by_q[label].A, single[label].A)


def test_the_point_of_a_payload_is_called_so():
    with pytest.raises(ValueError, match=r"^point must have shape \(3,\).*in a plane"):
        with_payload(cmb.plants.five_bar(), "left_upper", 2.0, (1.5, 0.0))
