"""Joints that are moved by hand: loops stay closed."""

import sys

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.errors import AssemblyError, MissingExtraError
from cmbcontrol.viewer import live
from cmbcontrol.viewer.live import Hands


def test_loops_stay_closed():
    plant = plants.five_bar()
    hands = Hands(plant, plant.assemble(left=2.1, right=1.0))
    assert hands.names == plant.position_names
    hands.move("left", 2.3)
    assert hands.value("left") == pytest.approx(2.3) and hands.value("right") == pytest.approx(1.0)
    assert plant.closure_error(hands.q) < 1e-12
    elbow = hands.value("elbow_left") + 0.1  # a passive joint: motors follow
    hands.move("elbow_left", elbow)
    assert hands.value("elbow_left") == pytest.approx(elbow) and plant.closure_error(hands.q) < 1e-12


def test_where_loops_do_not_close_all_stays():
    hands = Hands(plants.stewart(), plants.catalogue["stewart"].start()[1])
    before = hands.q.copy()
    name = "leg1"
    with pytest.raises(AssemblyError):
        hands.move(name, 8.0)
    assert np.array_equal(hands.q, before)
    with pytest.raises(ValueError, match="nosuch"):
        hands.move("nosuch", 1.0)
    with pytest.raises(ValueError, match="finite"):
        hands.move(name, np.nan)


def test_ranges():
    hands = Hands(plants.five_bar(), plants.five_bar().assemble(left=2.1, right=1.0))
    for name in hands.names:
        low, high = hands.range(name)
        assert low < hands.value(name) < high
    stewart = plants.stewart()
    hands = Hands(stewart, plants.catalogue["stewart"].start()[1])
    i = stewart.position_names.index("leg1")
    assert np.isfinite(stewart.limits[i]).all() and hands.range("leg1") == tuple(stewart.limits[i])
    assert not any(name.startswith("ball1_q") for name in hands.names)  # four numbers of one turn: no slider


def test_limits_are_told():
    plant = plants.stewart()
    hands = Hands(plant, plants.catalogue["stewart"].start()[1])
    assert hands.at_limits() == []
    low, _ = hands.range("leg1")
    hands.q = hands.q.copy()
    hands.q[plant.position_names.index("leg1")] = low
    assert hands.at_limits() == [f"leg1 at its lower limit, {low:.4g} m"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the server's libraries
def test_a_page_follows(opened_live):
    page, shown = opened_live
    plant = shown.hands.plant
    assert shown.move("leg1", 0.3)
    assert shown._sliders["leg1"].value == pytest.approx(0.3)
    assert shown._sliders["mount1_1"].value == pytest.approx(shown.hands.value("mount1_1"), abs=1e-3)
    frame = plant.pose(shown.hands.q, "platform")
    assert np.allclose(shown._frames[1 + [b.name for b in plant.bodies].index("platform")].position, frame.p)
    handle = page.locator("[role=slider]").first  # that of the first motor
    handle.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1000)
    assert shown.hands.value("leg1") > 0.305 and plant.closure_error(shown.hands.q) < 1e-12
    before = shown.hands.q.copy()
    assert not shown.move("leg1", 8.0)
    assert np.array_equal(shown.hands.q, before)
    page.wait_for_selector("text=The loops do not close at leg1 = 8 m.")


@pytest.fixture
def opened_live(browser, capsys):
    pytest.importorskip("viser")
    plant, q, _ = plants.catalogue["stewart"].start()
    with live(plant, q, port=8741) as shown:
        assert capsys.readouterr().out == ""  # the library prints nothing
        context = browser.new_context()
        page = context.new_page()
        page.goto(shown.url)
        page.wait_for_selector("text=leg1 (m)", timeout=60000)
        yield page, shown
        context.close()


def test_without_viser(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtraError, match=r"cmbcontrol\[live\]"):
        live(plants.five_bar())


def test_wrong_calls():
    for options in ({"port": 0}, {"port": 70000}, {"host": 3}):
        with pytest.raises((ValueError, TypeError)):
            live(plants.five_bar(), **options)
