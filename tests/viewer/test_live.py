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


def test_a_body_follows_the_cursor_with_closed_loops():
    plant = plants.five_bar()
    hands = Hands(plant, plant.assemble(left=2.1, right=1.0))
    tip = plant.point(hands.q, "left_upper", (1.5, 0.0, 0.0))
    target = tip + np.array([0.1, -0.15, 0.0])
    assert hands.drag("left_upper", (1.5, 0, 0), target) < 1e-5
    assert np.allclose(plant.point(hands.q, "left_upper", (1.5, 0, 0)), target, atol=1e-5)
    assert plant.closure_error(hands.q) < 1e-12
    # out of reach: both arms, of 1 m and 1.5 m on pivots 1 m apart, are stretched where their circles meet
    highest = np.sqrt(2.5**2 - 0.5**2)
    for _ in range(5):  # events of a cursor that waits there
        left = hands.drag("left_upper", (1.5, 0, 0), (0.5, 4.0, 0.0))
    assert left == pytest.approx(4.0 - highest, abs=2e-3) and plant.closure_error(hands.q) < 1e-12
    with pytest.raises(ValueError, match="target"):
        hands.drag("left_upper", (0, 0, 0), (np.nan, 0, 0))
    with pytest.raises(ValueError, match="nobody"):
        hands.drag("nobody", (0, 0, 0), (0, 0, 0))


def test_limits_hold_while_a_body_is_dragged():
    """A platform that is pulled up comes to rest with its legs at their limits, one after the other."""
    plant = plants.stewart()
    hands = Hands(plant, plants.catalogue["stewart"].start()[1])
    start = plant.point(hands.q, "platform")
    near = start + np.array([0.02, 0.01, 0.03])
    assert hands.drag("platform", (0, 0, 0), near) < 1e-5
    left = [hands.drag("platform", (0, 0, 0), start + np.array([0, 0, 1.0])) for _ in range(4)]
    assert left[-1] < 0.75 and np.all(np.diff(left) < 1e-9) and plant.closure_error(hands.q) < 1e-12
    assert hands.at_limits()
    legs = hands.q[[plant.position_names.index(f"leg{k}") for k in range(1, 7)]]
    assert np.all(legs <= 0.5 + 2e-6) and np.all(legs > 0.498)


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_body_is_dragged_by_the_mouse(opened_live):
    page, shown = opened_live
    page.wait_for_timeout(3000)  # until the machine is drawn
    plant, before = shown.hands.plant, shown.hands.q.copy()
    box = page.locator("canvas").first.bounding_box()
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    for down in (0.0, -0.05, -0.1, -0.15, 0.05, 0.1):  # of the height: some body is there
        page.mouse.move(x, y + down * box["height"])
        page.mouse.down()
        page.mouse.move(x + 20, y + down * box["height"] - 20, steps=5)
        page.mouse.move(x + 30, y + down * box["height"] - 30, steps=5)
        page.wait_for_timeout(500)
        page.mouse.up()
    assert np.abs(shown.hands.q - before).max() > 1e-3
    assert plant.closure_error(shown.hands.q) < 1e-12


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
