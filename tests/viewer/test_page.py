"""Pages in a browser, from the disk and without a network: poses, plots, marks, hands, memory."""

import html
import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cmbcontrol as cmb
from cmbcontrol import linearize, plants, simulate, trim, view
from cmbcontrol.errors import FileError
from cmbcontrol.viewer import View
from cmbcontrol.viewer.cases import case_of_machine

from .runs import TASKS, failed, singular, touch_down, tracked

FINE = 1e-4  # of the machine, or 1: how far a body may be drawn from where it is


TICKS = """
import { ticks } from %s;
let seed = 7, wrong = [];
const random = () => (seed = (seed * 48271) %% 2147483647) / 2147483647;
for (let k = 0; k < 10000; k++) {
  const step = [1, 2, 2.5, 5][Math.floor(4 * random())] * 10 ** Math.floor(24 * random() - 12);
  const first = Math.round(40 * random() - 20), count = 2 + Math.floor(8 * random());
  const at = Array.from({ length: count }, (_, i) => (first + i) * step);
  const labels = ticks(at), read = labels.map((text) => Number(text.replaceAll("\u2212", "-")));
  if (read.some((x, i) => Math.abs(x - at[i]) > 1e-9 * Math.max(Math.abs(at[i]), step))) wrong.push([at, labels]);
}
console.log(JSON.stringify(wrong.slice(0, 5)));
"""


FREE = """
import { freePlace } from %s;
let seed = 11, wrong = [];
const random = () => (seed = (seed * 48271) %% 2147483647) / 2147483647;
for (let k = 0; k < 300; k++) {
  const [w, h] = [100 + 900 * random(), 100 + 900 * random()], aspect = 0.2 + 4 * random();
  const boxes = Array.from({ length: Math.floor(4 * random()) }, () => {
    const left = w * random() - 50, top = h * random() - 50;
    return { left, top, right: left + 0.7 * w * random(), bottom: top + 0.7 * h * random() };
  });
  const free = freePlace([w, h], boxes, aspect), size = Math.min(free.width / aspect, free.height);
  const e = 1e-9 * (w + h); // rounding of sums
  const clear = (x, y, a, b) => x >= 0 && y >= 0 && x + a <= w + e && y + b <= h + e &&
    boxes.every((o) => o.left >= x + a - e || o.right <= x + e || o.top >= y + b - e || o.bottom <= y + e);
  if (!clear(free.left, free.top, free.width, free.height)) wrong.push("covered");
  for (let n = 0; n < 300; n++) { // no shape put anywhere by chance is larger
    const larger = size * 1.01, x = random() * w, y = random() * h;
    if (clear(x, y, larger * aspect, larger)) wrong.push("larger");
  }
}
console.log(JSON.stringify(wrong.slice(0, 5)));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize(("program", "file"), [(TICKS, "format.js"), (FREE, "free.js")])
def test_labels_of_axes_and_places_that_nothing_covers(program, file):
    """Labels are read as what they stand at; a free place is free, and the largest one."""
    script = program % json.dumps(Path(str(files("cmbcontrol.viewer") / "app" / "src" / file)).as_uri())
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def at_rest():
    plant = plants.pendulum()
    return view(plant, q=plant.assemble(angle=0.3))


def check_pose(page, run, body, t):
    """A body is drawn where Python computes it, between the samples too."""
    T, Q = run.time, run.q.values
    j = int(np.clip(np.searchsorted(T, t) - 1, 0, len(T) - 2))
    q = run.plant.integrate(Q[j], (t - T[j]) / (T[j + 1] - T[j]) * run.plant.difference(Q[j], Q[j + 1]))
    frame, shown = run.plant.pose(q, body), page.pose(body)
    assert np.abs(np.array(shown["position"]) - frame.p).max() < FINE * max(run.plant.size, 1.0)
    turned = Rotation.from_quat(shown["quaternion"]).as_matrix()
    assert np.abs(turned - frame.R).max() < 2e-3


@pytest.mark.slow
def test_slider_moves_machine_and_cursors(opened, tmp_path):
    run = tracked("five-bar", 2.0)
    page = opened(view(run, tmp_path / "run.html"))
    assert page("viewer.plots.panels.length") == 3
    for t in (0.5, 1.334, 2.0):
        page.slide(t)
        assert page("viewer.player.time") == pytest.approx(t)
        check_pose(page, run, "left_upper", t)
        check_pose(page, run, "right_lower", t)
        assert page.cursors() == pytest.approx([t] * 3, abs=0.004)  # half a pixel of 400
    shown = page("viewer.plots.panels[0].values[0].textContent")
    assert float(shown) == pytest.approx(float(run.q.sel(position="left").values[-1]), rel=1e-3)
    assert page.errors == []


@pytest.mark.slow
def test_a_click_on_a_plot_moves_the_time(opened, tmp_path):
    page = opened(view(tracked("five-bar", 2.0), tmp_path / "run.html"))
    box = page.page.locator(".u-over").nth(1).bounding_box()
    page.page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 10)
    assert page("viewer.player.time") == pytest.approx(0.5, abs=0.006)
    assert float(page("document.querySelector('input.slider').value")) == pytest.approx(0.5, abs=0.006)
    page.page.keyboard.press("End")
    assert page("viewer.player.time") == 2.0
    page.page.keyboard.press("ArrowLeft")
    assert page("viewer.player.time") == pytest.approx(1.99)
    page.page.keyboard.press("Space")
    assert page("viewer.player.playing")
    page.page.keyboard.press(" ")
    assert not page("viewer.player.playing")
    page.page.select_option("select[aria-label=Speed]", "0.5")
    assert page("viewer.player.speed") == 0.5


@pytest.mark.slow
def test_events_are_marked_and_named(opened, tmp_path):
    run = singular()
    page = opened(view(run, tmp_path / "run.html"))
    marks = page("[...document.querySelectorAll('.mark')].map((m) => m.dataset.tip)")
    assert len(marks) == len(run.events()) and all("singular passage, conditioning" in text for text in marks)
    page.page.locator(".mark").first.click()
    assert page("viewer.player.time") == pytest.approx(run.events()[0]["time"], abs=1e-9)
    x = page("document.querySelector('.mark').getBoundingClientRect().left + 6")
    track = page(
        "(() => { const b = document.querySelector('.slider').getBoundingClientRect(); return [b.left, b.width]; })()"
    )
    share = run.events()[0]["time"] / run.time[-1]
    assert x == pytest.approx(track[0] + 8 + share * (track[1] - 16), abs=1.0)


@pytest.mark.slow
def test_a_failure_comes_first(opened, tmp_path):
    """What the exception says, above the machine, in the colour of the mark at its time."""
    run = failed()
    page = opened(view(run, tmp_path / "run.html"))
    told = page.page.get_by_role("alert")
    assert told.inner_text().startswith("Failed at 0.300 s") or told.inner_text().startswith("Failed at 300")
    assert "must be finite, but left = nan" in told.inner_text()
    assert told.bounding_box()["y"] < page.page.locator("main").bounding_box()["y"]
    mark = page.page.locator(".mark.failed")
    assert "must be finite, but left = nan" in mark.get_attribute("data-tip")
    color = "getComputedStyle(document.querySelector('.mark.failed'), '::before').backgroundColor"
    assert page(color) == page("getComputedStyle(document.querySelector('.failure')).color")
    others = page("viewer.case.events.map((e) => e.color)")
    assert "#C00000" not in others
    told.get_by_role("button").click()
    assert page("viewer.player.time") == pytest.approx(run.time[-1], abs=1e-9)
    assert page.errors == []


@pytest.mark.slow
def test_contacts_push(opened, tmp_path):
    """An arrow where the foot stands, and none in the air."""
    run = touch_down()
    page = opened(view(run, tmp_path / "run.html"))
    contact = "viewer.arrows.items.find((i) => i.name === 'foot, force')"
    page.slide(0.05)
    assert page(f"{contact}.object.visible") is False
    hit = next(e["time"] for e in run.events() if e["kind"] == "impact foot")
    t = run.time[np.searchsorted(run.time, hit) + 10]
    page.slide(t)
    force = run.reactions(axes="world").force.sel(joint="foot", time=t).values
    assert page(f"{contact}.object.visible") is True
    assert page(f"{contact}.value") == pytest.approx(force, rel=0.02, abs=0.02 * np.linalg.norm(force))
    tips = page("[...document.querySelectorAll('.mark')].map((m) => m.dataset.tip).join()")
    assert "impact foot" in tips and "J lost" in tips


@pytest.mark.slow
def test_pages_of_other_things(opened, tmp_path):
    plant = plants.five_bar()
    page = opened(view(plant, tmp_path / "machine.html", q=plant.assemble(left=2.1, right=1.0)))
    assert page("document.querySelector('footer').hidden") and page("viewer.plots.panels.length") == 0
    assert page.errors == []
    lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    page = opened(lin.view(tmp_path / "modes.html"))
    assert page("viewer.player.playing") and page("document.querySelectorAll('.cases option').length") == 4
    page.page.select_option(".cases", "2")
    assert page("viewer.case.name").startswith("mode 2") and page.errors == []


SEEN = """(() => {
  viewer.stage.fit();
  viewer.stage.render();
  const points = [...viewer.stage.points, ...viewer.arrows.reached()].map((p) => viewer.onScreen(p.toArray()));
  const [xs, ys] = [0, 1].map((k) => points.map((p) => p[k]));
  const box = viewer.canvas.getBoundingClientRect();
  return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys),
          width: box.width, height: box.height, covers: viewer._covers()};
})()"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 760), (400, 800)])
@pytest.mark.parametrize("name", ["five-bar", "stewart", "excavator"])
def test_what_fits_is_seen_beside_what_covers_the_scene(opened, tmp_path, name, size):
    """All that machine and arrows reach is on the canvas, with and without a card over it, and large."""
    page = opened(view(tracked(name, 2.0), tmp_path / "run.html"), size)
    for key in ("", "o", "i"):
        if key:
            page.page.keyboard.press(key)
        seen = page(SEEN)
        assert len(seen["covers"]) == (key != "")
        assert seen["left"] >= 0.0 and seen["right"] <= seen["width"], seen
        assert seen["top"] >= 0.0 and seen["bottom"] <= seen["height"], seen
        for card in seen["covers"]:
            beside = seen["right"] <= card["left"] or seen["left"] >= card["right"]
            assert beside or seen["bottom"] <= card["top"] or seen["top"] >= card["bottom"], seen
        if not key:
            share = (
                (seen["right"] - seen["left"]) / seen["width"],
                (seen["bottom"] - seen["top"]) / seen["height"],
            )
            assert max(share) > 0.6  # 0.86 without perspective
    assert page.errors == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five-bar", "excavator", "stewart", "two-arms"])
def test_the_largest_of_a_kind_has_a_share_of_the_scene(opened, tmp_path, name):
    """Forces against forces, moments against moments; the legend says what an arrow of its length is."""
    page = opened(view(tracked(name, 2.0), tmp_path / "run.html"))
    for group in page("viewer.arrows.groups.map((g) => g.label)"):
        page(f"(() => {{ for (const g of viewer.arrows.groups) viewer._shows(g, g.label === {group!r}); }})()")
        unit = page(f"viewer.arrows.groups.find((g) => g.label === {group!r}).unit")
        drawn = page(
            "(() => { const a = viewer.arrows; return a.items.filter((i) => a.groups[i.group].on).map((i) => {"
            " let most = 0; for (let k = 0; k < i.values.data.length; k += 3)"
            " most = Math.max(most, Math.hypot(...i.values.data.slice(k, k + 3)));"
            " return most * a.scale[i.unit]; }); })()"
        )
        whole = page("viewer.arrows.size") if unit == "N" else 2.0 * np.pi
        assert max(drawn) / whole > 0.3  # peaks are longer, and cut where they are drawn
        told = page("viewer.arrows.legend('N', 90 * viewer.stage.metresPerPixel)")
        assert told["size"] == pytest.approx(told["value"] * page("viewer.arrows.scale.N"))
        page("viewer.stage.render()")
        shown = page(f"viewer.units.of({unit!r}).unit")
        assert shown == {"excavator": "kN"}.get(name, "N") if unit == "N" else shown.endswith("N m")
        assert f" {shown}" in page("document.querySelector('.scales').textContent")
    assert page.errors == []


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [((420, 800), "dark"), ((640, 400), "light")])
def test_small_and_dark(opened, tmp_path, size, scheme):
    page = opened(view(tracked("five-bar", 0.5), tmp_path / "run.html"), size, scheme)
    assert page("document.documentElement.dataset.theme") == scheme
    assert page("document.documentElement.scrollWidth") <= size[0]
    assert page("document.querySelector('.view canvas').getBoundingClientRect().height") > 100
    assert page.errors == []


@pytest.mark.slow
def test_inside_a_notebook(opened, tmp_path):
    """The frame needs no file beside, and the name of a machine is text and no HTML."""
    plant = plants.five_bar()
    view = View('a "<b>" & </script>', [case_of_machine(plant, plant.assemble(left=2.1, right=1.0))])
    outer = tmp_path / "notebook.html"
    outer.write_text(f"<!doctype html><html data-ready=1><body>{view._repr_html_()}</body></html>", encoding="utf-8")
    page = opened(outer)
    inner = page.page.frame_locator("iframe")
    inner.locator("html[data-ready]").wait_for(timeout=60000)
    assert inner.locator("h1").inner_text() == 'a "<b>" & </script>'
    assert page.errors == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TASKS, "leg", "singular"])
def test_machines_of_the_catalogue(opened, tmp_path, name):
    run = {"leg": touch_down, "singular": singular}.get(name, lambda: tracked(name, 2.0))()
    page = opened(view(run, tmp_path / "run.html"))
    for t in run.time[[len(run.time) // 3, -1]]:
        page.slide(t)
        for body in (run.plant.bodies[0].name, run.plant.bodies[-1].name):
            check_pose(page, run, body, t)
        assert page.cursors() == pytest.approx([t] * 3, abs=0.004 * run.time[-1])
    assert page.errors == []


@pytest.mark.slow
def test_memory_is_bounded(opened, tmp_path):
    """100 plays, and 20 changes of what is shown, leave the heap as large as it was."""
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    pages = (
        opened(view(tracked("five-bar", 2.0), tmp_path / "run.html")),
        opened(lin.view(tmp_path / "m.html")),
    )
    plays = (
        "for (let k = 0; k < 100; k++) { v.play(); for (let i = 1; i <= 40; i++) v.seek(v.end * i / 40); v.pause(); }"
    )
    cases = "for (let k = 0; k < 20; k++) viewer.take(k % 4);"
    for page, work in zip(pages, (f"const v = viewer.player; {plays}", cases), strict=True):
        session = page.page.context.new_cdp_session(page.page)
        used = []
        for _ in range(3):
            page(f"(() => {{ {work} }})()")
            page.page.wait_for_timeout(300)
            session.send("HeapProfiler.collectGarbage")
            used.append(session.send("Runtime.getHeapUsage")["usedSize"])
        assert used[2] < used[0] + 1e6
        assert page.errors == []


# -- reading: labels, units, lists, names


# What is written on the canvases of the plots, with its box, until they are cleared.
WRITTEN = """
const fill = CanvasRenderingContext2D.prototype.fillText, clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...box) { this.canvas.written = []; clear.apply(this, box); };
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
  const size = this.measureText(text), at = this.getTransform().transformPoint({ x, y });
  (this.canvas.written ||= []).push({ text: String(text), left: at.x - size.actualBoundingBoxLeft,
    right: at.x + size.actualBoundingBoxRight, top: at.y - size.actualBoundingBoxAscent,
    bottom: at.y + size.actualBoundingBoxDescent });
  fill.call(this, text, x, y, ...more);
};
"""
# Random times, values, names and units on the page, and what is written over something else or cut off.
LABELS = """async ([count, seed]) => {
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const pick = (list) => list[Math.floor(random() * list.length)];
  const first = viewer.data.cases[0], wrong = [];
  let boxes = 0;
  viewer.stage.renderer.render = () => {}; // pixels of the machine are not asked here, and take most of the time
  for (let n = 0; n < count; n++) {
    const slow = 10 ** (12 * random() - 8), begin = random() < 0.3 ? slow * 50 * random() : 0;
    const timed = (times) => ({ ...times, data: times.data.map((t) => begin + slow * t) });
    const groups = first.plots.groups.map((group) => {
      const scale = 10 ** (24 * random() - 12), shift = random() < 0.5 ? scale * (20 * random() - 10) : 0;
      const values = ({ data }) => ({ data: data.map((x) => (group.log ? Math.abs(x) * scale : shift + scale * x)) });
      const renamed = group.signals.map((signal) => ({ ...signal, of: undefined, values: values(signal.values),
        name: signal.name + pick(["", "_x", "_of_the_upper_left_arm", "_2", "_cylinder_rod_end"]) }));
      return { ...group, unit: pick(["", "m", "rad/s", "N m", "J"]), scale: Math.abs(scale), signals: renamed };
    });
    viewer.data.cases[0] = { ...first, motion: { ...first.motion, times: timed(first.motion.times) }, speed: slow,
      plots: { ...first.plots, times: timed(first.plots.times), groups } };
    viewer.take(0);
    viewer.player.seek(viewer.player.begin + random() * (viewer.player.end - viewer.player.begin));
    viewer.stage.render();
    await new Promise((done) => setTimeout(done, 0));
    const sets = viewer.plots.panels.map((panel) => {
      const { canvas } = panel.plot.ctx, written = (canvas.written || []).filter((one) => one.text);
      for (const one of written) {
        if (one.left < -0.5 || one.top < -0.5 || one.right > canvas.width + 0.5 || one.bottom > canvas.height + 0.5)
          wrong.push(["cut", one, canvas.width, n]);
      }
      return written;
    });
    const texts = (query) => [...document.querySelectorAll(query)].filter((x) => x.textContent && x.offsetParent)
      .map((x) => ({ text: x.textContent, ...x.getBoundingClientRect().toJSON() }));
    const outside = texts("h1, .note, .readout span, .scale > span, .tools button, .time, .below button");
    for (const one of outside)
      if (one.left < -0.5 || one.right > innerWidth + 0.5 || one.bottom > innerHeight + 0.5)
        wrong.push(["cut", one, n]);
    sets.push(outside.filter((x) => !outside.some((y) => y !== x && x.text.includes(y.text) && x.text !== y.text)));
    const names = ".entry .name, .entry .value, .entry.link, .panel select";
    for (const one of texts(names)) if (one.right > innerWidth + 0.5) wrong.push(["cut", one, n]);
    sets.push(texts(names));
    for (const set of sets) {
      boxes += set.length;
      set.forEach((a, i) => set.slice(i + 1).forEach((b) => {
        if (a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5)
          wrong.push(["over", a, b, n]);
      }));
    }
  }
  return [boxes, wrong.length, wrong.slice(0, 4)];
}"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five-bar", "stewart"])
@pytest.mark.parametrize("size", [(1280, 760), (768, 1024), (390, 844)])
def test_no_label_lies_over_another(opened, tmp_path, size, name):
    """500 random runs of two machines, at three sizes: boxes of what is written, on canvases and beside them."""
    page = opened(view(tracked(name, 0.5), tmp_path / "run.html"), size)
    page.page.add_init_script(WRITTEN)
    page.open(tmp_path / "run.html")
    boxes, count, wrong = page.page.evaluate(LABELS, [250, 17])
    assert boxes > 250 * 20 and count == 0, wrong
    assert page.errors == []


def test_labels_of_a_few_runs(opened, tmp_path):
    plant = plants.pendulum()
    file = simulate(plant, q0=plant.assemble(angle=0.2), t_end=0.5).view(tmp_path / "run.html")
    page = opened(file, (390, 844))
    page.page.add_init_script(WRITTEN)
    page.open(file)
    boxes, count, wrong = page.page.evaluate(LABELS, [5, 3])
    assert boxes > 5 * 15 and count == 0, wrong


UNITS = """
import { Units, quantities } from %s;
const units = new Units(), told = [];
Object.assign(units.chosen, { length: "mm", angle: "deg", force: "kN", moment: "N mm" });
for (const unit of ["m", "rad/s", "N", "N m", "N m/rad", "m/s2", "m/s^2", "1/s", "N/m", "m2", "", "kg", "s"]) {
  const { factor, unit: shown } = units.of(unit);
  told.push([unit, factor, shown]);
}
const suited = new Units(), names = [];
suited.choose("energy", "J");
for (const sizes of [{ N: 1e3, m: 1e-3, J: 1e6, rad: 1 }, { N: 1e9, m: 1e-6, "N m": 1e-3, rad: 1e-3 }, {}]) {
  suited.suit(sizes);
  names.push(Object.values(suited.chosen).sort());
}
console.log(JSON.stringify([told, quantities(["rad/s", "N m", "", "kg"]), names]));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_units_of_what_is_composed():
    script = UNITS % json.dumps(Path(str(files("cmbcontrol.viewer") / "app" / "src" / "units.js")).as_uri())
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    told, found, suited = json.loads(done.stdout)
    degree = 180.0 / np.pi
    expected = {
        "m": (1e3, "mm"), "rad/s": (degree, "deg/s"), "N": (1e-3, "kN"), "N m": (1e3, "N mm"),
        "N m/rad": (1e3 / degree, "N mm/deg"), "m/s2": (1e3, "mm/s2"), "m/s^2": (1e3, "mm/s^2"), "1/s": (1.0, "1/s"),
        "N/m": (1e-6, "kN/mm"), "m2": (1e6, "mm2"), "": (1.0, ""), "kg": (1.0, "kg"), "s": (1.0, "s"),
    }  # fmt: skip
    assert {unit: (factor, shown) for unit, factor, shown in told} == {
        unit: (pytest.approx(factor, rel=1e-12), shown) for unit, (factor, shown) in expected.items()
    }
    assert found == ["angle", "moment"]
    assert suited == [  # the nearest that there is; what was chosen by hand stays
        ["J", "N m", "W", "kN", "mm", "rad"], ["J", "MN", "N mm", "W", "mm", "mrad"], ["J", "N", "N m", "W", "m", "rad"]
    ]  # fmt: skip


@pytest.mark.slow
def test_all_of_the_page_is_in_the_units_chosen(opened, tmp_path):
    run = tracked("five-bar", 1.0)
    page = opened(view(run, tmp_path / "run.html"))
    page.slide(1.0)
    page.page.keyboard.press("o")
    for quantity, name in (("angle", "deg"), ("moment", "N mm"), ("length", "mm"), ("force", "kN")):
        page.page.locator(".card label.wide", has_text=quantity).locator("select").select_option(name)
    page("viewer.stage.render()")
    titles = page("viewer.plots.panels.map((p) => p.choice.selectedOptions[0].textContent)")
    assert [title.rsplit("(", 1)[1] for title in titles] == ["deg)", "N mm)", "kN)"]
    left = np.rad2deg(float(run.q.sel(position="left").values[-1]))
    assert float(page("viewer.plots.panels[0].values[0].textContent")) == pytest.approx(left, rel=1e-3)
    assert page("viewer.plots.panels[0].plot.data[1].at(-1)") == pytest.approx(left, rel=1e-5)
    scales = page("document.querySelector('.scales').textContent")
    assert " kN" in scales and " N mm" in scales and " mm" in scales
    legend = page("viewer.arrows.legend('N m', 1.9 * Math.PI, 1e3)")  # its arc is that of so many N mm
    assert legend["size"] == pytest.approx(legend["value"] * 1e-3 * page("viewer.arrows.scale['N m']"))
    assert page("document.querySelector('.readout').textContent").count(" mm") == 1
    plant = plants.five_bar()
    page = opened(view(plant, tmp_path / "machine.html", q=plant.assemble(left=2.1, right=1.0)))
    page("viewer.choose('angle', 'deg')")
    assert "left120.321 deg" in page("viewer.info.textContent")
    assert page.errors == []


def chain(n):
    """A chain of many links, which falls."""
    bodies = [cmb.Body.rod(f"link_{i}", 1.0, 0.2) for i in range(n)]
    joints = [
        cmb.Revolute(f"joint_{i}", f"link_{i - 1}" if i else "ground", f"link_{i}", axis=(0, 1, 0),
                     frame=cmb.Frame((0.2 if i else 0.0, 0.0, 0.0)))
        for i in range(n)
    ]  # fmt: skip
    plant = cmb.Mechanism("chain", bodies, joints)
    return simulate(plant, q0=[0.2] + [0.02] * (n - 1), t_end=0.05, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_signals_of_many_joints(opened, tmp_path):
    """A list with a filter and groups; the legend has only what is shown."""
    page = opened(view(chain(40), tmp_path / "run.html"))
    entries = "viewer.plots.panels[0].legend.textContent"
    assert page(f"{entries}.includes('joint_0')") and not page(f"{entries}.includes('joint_37')")
    assert page(f"{entries}.includes('32 more')")
    page.page.keyboard.press("s")
    page.page.keyboard.type("angle joint_37")
    shown = page.page.locator(".signals label:visible")
    assert shown.count() == 1 and "1 of " in page.page.locator(".signals .hint").inner_text()
    shown.locator("input").check()
    k = page("viewer.plots.panels[0].group.signals.findIndex((s) => s.name === 'joint_37')")
    assert page(f"viewer.plots.panels[0].plot.series[{k} + 1].show") is True
    assert page(f"{entries}.includes('joint_37')") and page(f"{entries}.includes('31 more')")
    assert "9 of 40 shown" in page.page.locator(".signals summary:visible").inner_text()
    page.page.get_by_label("Filter signals").fill("")  # a signal of a group without a plot gets one
    count = page("viewer.plots.panels.length")
    free = page("viewer.plots.data.groups.findIndex((_, g) => !viewer.plots.panels.some((p) => p.index === g))")
    page.page.locator(".signals details").nth(free).locator("input").first.check()
    assert page("viewer.plots.panels.length") == count + 1
    assert page("viewer.plots.panels.at(-1).on.filter((x) => x).length") == 1
    page.page.get_by_label("Close the list of signals").click()
    assert not page.page.locator(".signals").is_visible() and page.errors == []


@pytest.mark.slow
def test_help_lists_the_keys(opened, tmp_path):
    page = opened(view(tracked("five-bar", 0.5), tmp_path / "run.html"), (390, 844))
    page.page.keyboard.press("?")
    told = page.page.locator("dialog.help")
    assert told.is_visible() and "wheel in a plot" in told.inner_text() and "list of signals" in told.inner_text()
    page.page.keyboard.press("Escape")
    assert not told.is_visible()
    for key, opens in (("o", ".card[aria-label=Options]"), ("i", ".card[aria-label='About this motion']")):
        page.page.keyboard.press(key)
        assert page.page.locator(opens).is_visible()
    assert page.errors == []


@pytest.fixture(scope="module")
def axe():
    """Text of axe-core, from a package of `dev`."""
    pytest.importorskip("axe_playwright_python")
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 760), (390, 844)])
def test_contrast_and_names(opened, axe, tmp_path, size, scheme):
    """No finding of axe-core, whatever is open: all of its rules."""
    pages = {
        "run": view(tracked("five-bar", 0.5), tmp_path / "run.html"),
        "failed": view(failed(), tmp_path / "failed.html"),
        "machine": at_rest().save(tmp_path / "machine.html"),
        "many": view(chain(40), tmp_path / "many.html"),
    }
    for name, file in pages.items():
        page = opened(file, size, scheme)
        page(axe + ";0")
        for key in ("", "o", "i", "s", "?") if name != "machine" else ("", "i", "?"):
            if key:
                page.page.keyboard.press(key)
            found = page("axe.run().then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)]))")
            assert found == [], (name, key, found)
            if key == "s":
                page.page.get_by_label("Close the list of signals").click()
            if key == "?":
                page.page.keyboard.press("Escape")


def test_paper_is_white_and_shows_the_machine(opened, tmp_path):
    """What printers get: the picture of the moment, the plots below it, none of the tools, and the screen as before."""
    page = opened(view(tracked("five-bar", 0.5), tmp_path / "run.html"), (1280, 760), "dark")
    page.page.emulate_media(media="print", color_scheme="dark")
    page("dispatchEvent(new Event('beforeprint'))")
    shades = page(
        "(() => { const c = viewer.printed, x = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "const at = (i) => x[4 * Math.floor(i * c.width * c.height / 5000)];"
        "return [...new Set(Array.from({length: 5000}, (_, i) => at(i)))]; })()"
    )
    assert len(shades) > 5 and np.median(shades) > 80  # bodies on a bright ground
    boxes = page("[viewer.printed, viewer.side].map((e) => e.getBoundingClientRect().toJSON())")
    assert boxes[0]["width"] > 1000 and boxes[1]["top"] >= boxes[0]["bottom"] - 1.0
    seen = page("['.tools', '.bar', '.close', '.more'].map((s) => getComputedStyle(document.querySelector(s)).display)")
    assert seen == ["none"] * 4
    page("dispatchEvent(new Event('afterprint'))")
    page.page.emulate_media(media="screen", color_scheme="dark")
    assert page("document.documentElement.dataset.theme") == "dark" and page.errors == []


# -- without a browser ------------------------------------------------------------------------------------


def test_a_page_needs_nothing_else():
    page = at_rest().html
    head = page[: page.index('<script type="text/plain"')]
    assert "http" not in head.split("<style>")[0]
    for word in ("<script src", "@import", "url(", '<link rel="stylesheet'):
        assert word not in page
    assert "MIT License" in page and "three.js authors" in page and "Leon Sorokin" in page


def test_the_bundle_is_made_of_the_sources():
    """Its fingerprint is that of `build.mjs`; `npm ci && npm run build` in cmbcontrol/viewer/app makes it anew."""
    import hashlib

    place = files("cmbcontrol.viewer")
    app, made = place / "app", hashlib.sha256()
    names = ["package.json", *(f"src/{x.name}" for x in sorted((app / "src").iterdir(), key=lambda x: x.name))]
    for name in names:
        text = app.joinpath(*name.split("/")).read_text(encoding="utf-8")
        made.update(f"{name}\n{text}".encode())
    for name in ("viewer.js", "viewer.css"):
        assert made.hexdigest() in (place / "bundle" / name).read_text(encoding="utf-8")[:200]


def test_the_frame_holds_the_page():
    view = at_rest()
    frame = view.frame(400)
    content = frame[frame.index('srcdoc="') + 8 : frame.rindex('"')]
    assert html.unescape(content) == view.html and "height:400px" in frame
    with pytest.raises(ValueError, match="height must be a whole number >= 1"):
        view.frame(0)


def test_files(tmp_path):
    view = at_rest()
    assert view.save(tmp_path / "a.html").read_text(encoding="utf-8") == view.html
    with pytest.raises(ValueError, match=r"a view is a page, .html or .htm, got 'a.png'"):
        view.save(tmp_path / "a.png")
    with pytest.raises(FileError, match="make the folder"):
        view.save(tmp_path / "missing" / "a.html")


@pytest.mark.slow
def test_size_of_a_long_run(tmp_path):
    """10 s of the Stewart platform, with a sample each millisecond."""
    run = tracked("stewart", 10.0, output_times=1e-3)
    assert view(run, tmp_path / "run.html").stat().st_size < 2e6


@pytest.mark.slow
def test_study_page(tmp_path, opened):
    from cmbcontrol import studies

    def case(start):
        plant = plants.pendulum()
        return {"plant": plant, "q0": plant.assemble(angle=start), "t_end": 0.2}

    found = studies.study(case, {"start": [0.1, 0.3, 0.2]}, measures={"end": lambda run: float(run.q.values[-1, 2])})
    page = opened(view(found, tmp_path / "worst.html", measure="end"))
    names = page("[...document.querySelectorAll('.cases option')].map((o) => o.textContent)")
    assert names[0].startswith("run 1, worst: end = ") and names[1].startswith("run 2, median: end = ")
    assert page.errors == []


def test_methods_are_the_functions(tmp_path):
    plant = plants.pendulum()
    run = simulate(plant, q0=plant.assemble(angle=0.2), t_end=0.1)
    assert run.view().html == view(run).html
    assert run.view(tmp_path / "run.html") == tmp_path / "run.html"
    lin = linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)))
    assert lin.view(which=0).html == view(lin, which=0).html
