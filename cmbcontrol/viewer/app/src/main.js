// The viewer: reads the data of the page, and ties machine, arrows, plots and time together.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Vector3 } from "three";
import { Arrows } from "./arrows.js";
import { short } from "./format.js";
import { Machine } from "./machine.js";
import { button, element, FAILURE } from "./page.js";
import { unpack } from "./payload.js";
import { Player } from "./player.js";
import { Plots } from "./plots.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";
import { QUANTITIES, quantities, Units } from "./units.js";

// what hands can do on the machine and the plots; keys are told by their own table
const HANDS = [
  ["drag on the machine", "turn it; with the right button, shift it"],
  ["wheel on the machine", "zoom to the pointer"],
  ["pointer on a part or an arrow", "its name; the force with its components"],
  ["double click on a part", "trace that point"],
  ["click or drag in a plot", "move the time"],
  ["wheel in a plot", "zoom in time; a double click shows all"],
  ["click on a name below a plot", "show or hide its curve"],
  ["click on a mark of the slider", "go to that event"],
];
const VIEWS = { front: "Front", side: "Side", top: "Top", space: "3D" };

class Viewer {
  constructor(data) {
    this.data = data;
    this.player = new Player();
    this.units = new Units();
    this._page();
    try {
      this.stage = new Stage(this.canvas);
      this.stage.covers = () => this._covers();
      this.stage.more = () => (this.arrows ? this.arrows.reached() : []);
    } catch (error) {
      this.view.append(element("p", { class: "message", text: "This browser has no WebGL: the machine cannot be drawn. The plots work." }));
    }
    this.timeline = new Timeline(this.bar, this.player);
    this.plots = new Plots(this.side, this.player, this.units);
    this.take(Math.min(data.first || 0, data.cases.length - 1));
    this.player.listen((player) => this._show(player.time));
    this.stage?.onDraw(() => this._overlay());
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this._theme(scheme.matches));
    this._theme(scheme.matches);
    document.addEventListener("keydown", (event) => this._key(event));
    addEventListener("beforeprint", () => this._toPrint());
    addEventListener("afterprint", () => this._theme(scheme.matches));
    this.canvas.addEventListener("pointermove", (event) => this._hover(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("dblclick", (event) => this._pin(event));
    const at = new URLSearchParams(location.hash.slice(1)).get("t");
    if (at !== null && Number.isFinite(Number(at))) this.player.seek(Number(at));
  }

  // -- the page

  _page() {
    const { data } = this;
    this.title = element("h1", { text: data.title });
    this.note = element("span", { class: "note" });
    this.failure = element("p", { class: "failure", role: "alert", hidden: true });
    this.cases = element("select", { "aria-label": "What is shown", class: "cases", onchange: () => this.take(Number(this.cases.value)) });
    data.cases.forEach((one, i) => this.cases.append(element("option", { value: i, text: one.name })));
    this.cases.hidden = data.cases.length < 2;
    this.readout = element("div", { class: "readout" });
    const tools = element(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "View" },
      ...Object.entries(VIEWS).map(([from, label], i) =>
        element("button", { type: "button", text: label, title: `Look from there (${i + 1})`, onclick: () => this.stage?.look(from) }),
      ),
      button("fit", "Fit the whole motion into the view (F)", () => this.stage?.fit()),
      (this.optionsButton = button("options", "Arrows and other options (O)", () => this._panel(this.options), { "aria-expanded": "false" })),
      (this.infoButton = button("info", "About this motion (I)", () => this._panel(this.info), { "aria-expanded": "false" })),
      button("help", "Keys and mouse (?)", () => this._help()),
      button("picture", "Save a picture of the machine (PNG)", () => this._picture()),
      (this.plotsButton = button("plots", "Show or hide the plots (P)", () => this._plots(), { "aria-pressed": "true" })),
    );
    this.canvas = element("canvas", { "aria-label": "The machine in three dimensions: drag to turn it, wheel to zoom, right button to shift", role: "img" });
    this.printed = element("canvas", { class: "printed" });
    this.overlay = element("div", { class: "scales", role: "group", "aria-label": "Scales" });
    this.tip = element("div", { class: "tip", hidden: true });
    this.options = element("div", { class: "card", hidden: true, tabindex: 0, role: "group", "aria-label": "Options" });
    this.info = element("div", { class: "card", hidden: true, tabindex: 0, role: "group", "aria-label": "About this motion" });
    // tools and scales have places of their own, where they never lie over the machine; cards do, and are fitted around
    this.scene = element("div", { class: "scene" }, this.canvas, this.printed, this.tip, this.options, this.info);
    this.view = element("div", { class: "view" }, tools, this.scene, this.overlay);
    this.side = element("aside", { class: "side", "aria-label": "Plots" });
    this.handle = element("div", { class: "handle", role: "separator", "aria-orientation": "vertical", "aria-label": "Width of the plots", "aria-valuenow": 38, "aria-valuemin": 15, "aria-valuemax": 75, tabindex: 0 });
    this._resizable();
    this.main = element("main", {}, this.view, this.handle, this.side);
    this.bar = element("footer", { class: "bar" });
    const head = element("header", { class: "head" }, this.title, this.cases, this.note, this.readout, this.failure);
    this.helped = element("dialog", { class: "help", "aria-label": "Keys and mouse" });
    document.body.replaceChildren(head, this.main, this.bar, this.helped);
  }

  _resizable() {
    const { handle } = this;
    const set = (share) => {
      const percent = Math.round(Math.min(Math.max(share, 0.15), 0.75) * 100);
      this.main.style.setProperty("--side", `${percent}%`);
      handle.setAttribute("aria-valuenow", percent);
    };
    handle.addEventListener("pointerdown", (event) => handle.setPointerCapture(event.pointerId));
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = this.main.getBoundingClientRect();
      const below = getComputedStyle(this.main).flexDirection === "column";
      set(below ? (box.bottom - event.clientY) / box.height : (box.right - event.clientX) / box.width);
    });
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: 0.03, ArrowUp: 0.03, ArrowRight: -0.03, ArrowDown: -0.03 }[event.key];
      if (!step) return;
      event.stopPropagation();
      set(this.side.getBoundingClientRect().width / this.main.getBoundingClientRect().width + step);
    });
  }

  _panel(card) {
    const open = card.hidden;
    for (const [one, by] of [[this.options, this.optionsButton], [this.info, this.infoButton]]) {
      one.hidden = one !== card || !open;
      by.setAttribute("aria-expanded", !one.hidden);
    }
    this.stage?.refit();
  }

  /** Boxes of what lies over the machine now, from the corner of its canvas. */
  _covers() {
    const canvas = this.canvas.getBoundingClientRect();
    return [this.options, this.info].filter((card) => !card.hidden).map((card) => {
      const { left, top, right, bottom } = card.getBoundingClientRect();
      return { left: left - canvas.left, top: top - canvas.top, right: right - canvas.left, bottom: bottom - canvas.top };
    });
  }

  _plots() {
    const shown = !this.main.classList.toggle("plots-off");
    this.plotsButton.setAttribute("aria-pressed", shown);
  }

  _theme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.stage?.theme(dark);
    this.plots.theme();
  }

  /** Copy what is drawn to a canvas that keeps it: printers find the other one empty. */
  _toPrint() {
    this._theme(false); // paper is white
    if (!this.stage) return;
    [this.printed.width, this.printed.height] = [this.canvas.width, this.canvas.height];
    this.stage.render();
    this.printed.getContext("2d").drawImage(this.canvas, 0, 0);
  }

  _picture() {
    if (!this.stage) return;
    const name = `${this.data.title} ${this.timeline.clock.text(this.player.time)}`.replace(/[^\w.-]+/g, "-");
    element("a", { href: this.stage.picture(), download: `${name}.png` }).click();
  }

  // -- what is shown

  take(index) {
    const one = this.data.cases[index];
    const times = one.motion.times;
    this.case = one;
    this.cases.value = index;
    this.units.suit(one.units);
    this.note.textContent = one.note;
    this.note.title = one.note;
    this.player.pause();
    const old = [this.machine, this.arrows];
    if (this.stage) {
      this.machine = new Machine(one.look, one.motion);
      this.arrows = new Arrows(one.arrows, this.machine);
      for (const trace of one.traces) this.machine.trace(trace);
      this.stage.take(this.machine, [this.arrows.root]);
    }
    for (const thing of old) thing?.dispose();
    this.player.range(times.data[0], times.data[times.data.length - 1], one.speed, true);
    this.timeline.take(one);
    this.plots.take(one.plots, one.failure ? [...one.events, { ...one.failure, color: FAILURE }] : one.events, this.timeline.clock);
    this._failed(one.failure);
    this._readouts();
    this._options();
    this._info();
    this._show(this.player.time);
    if (one.autoplay) this.player.play();
  }

  _readouts() {
    this.readouts = this.case.readouts.map(({ label, unit, values }) => {
      const value = element("b", {});
      const shown = this.units.of(unit);
      return { element: element("span", { title: label }, `${label} `, value, ` ${shown.unit}`), value, values, factor: shown.factor };
    });
    this.readout.replaceChildren(...this.readouts.map((r) => r.element));
  }

  /** All numbers of the page in another unit. */
  choose(quantity, name) {
    this.units.choose(quantity, name);
    this.plots.relabel();
    this._readouts();
    this._info();
    this._show(this.player.time);
  }

  /** The cause of a failure, above all else: a click shows the machine at that time. */
  _failed(failure) {
    this.failure.hidden = !failure;
    if (!failure) return this.failure.replaceChildren();
    const at = this.timeline.clock.text(failure.time);
    const go = element("button", { type: "button", class: "link", text: at, title: "Show the machine then", onclick: () => this.player.seek(failure.time) });
    this.failure.replaceChildren(element("b", { text: "Failed at " }), go, `: ${failure.text}`);
  }

  _options() {
    if (!this.stage) return;
    const check = (label, on, change, color) => {
      const box = element("input", { type: "checkbox" });
      box.checked = on;
      box.addEventListener("change", () => {
        change(box.checked);
        this._show(this.player.time);
      });
      const swatch = color ? [element("i", { class: "dot" })] : [];
      if (color) swatch[0].style.background = color;
      return element("label", {}, box, ...swatch, label);
    };
    const cards = [];
    if (this.arrows.groups.length) {
      cards.push(element("h2", { text: "Arrows" }));
      for (const group of this.arrows.groups) cards.push(check(group.label, group.on, (on) => this._shows(group, on), group.color));
      const size = element("input", { type: "range", min: -1.5, max: 1.5, step: 0.05, value: 0, "aria-label": "Length of the arrows" });
      size.addEventListener("input", () => {
        this.arrows.zoom = 10 ** Number(size.value);
        this._show(this.player.time);
      });
      cards.push(element("label", { class: "wide" }, "length", size));
    }
    const told = [...this.arrows.groups, ...this.case.plots.groups, ...this.case.readouts].map((one) => one.unit);
    const found = quantities([...told, ...this.case.facts.map((fact) => fact[2] || "")]);
    if (found.length) cards.push(element("h2", { text: "Units" }));
    for (const quantity of found) {
      const choice = element("select", { onchange: () => this.choose(quantity, choice.value) });
      for (const name of Object.keys(QUANTITIES[quantity])) choice.append(element("option", { value: name, text: name }));
      choice.value = this.units.chosen[quantity];
      cards.push(element("label", { class: "wide" }, element("span", { text: quantity }), choice));
    }
    cards.push(element("h2", { text: "View" }));
    cards.push(check("perspective", this.stage.camera === this.stage.deep, (on) => this.stage.perspective(on)));
    cards.push(check("ground grid", true, (on) => (this.stage.floor.visible = on)));
    cards.push(check("glass bodies", false, (on) => this.machine.glass(on)));
    if (this.machine.traces.length) {
      cards.push(check("traces", true, (on) => this.machine.traces.forEach((t) => (t.object.visible = on))));
    }
    cards.push(
      check("follow the machine", this.stage.follow, (on) => {
        this.stage.follow = on;
        this.stage.fit();
      }),
    );
    cards.push(element("p", { class: "hint", text: "Double-click a part to trace that point." }));
    this.options.replaceChildren(...cards);
  }

  /** Show a group of arrows or not: the scale is that of what is shown. */
  _shows(group, on) {
    group.on = on;
    this.arrows.rescale();
    this.stage.refit();
  }

  _info() {
    const rows = this.case.facts.map(([name, value, unit]) => {
      const shown = unit === undefined ? undefined : this.units.of(unit);
      const text = shown ? `${Number((value * shown.factor).toPrecision(6))} ${shown.unit}` : value;
      return element("tr", {}, element("th", { scope: "row", text: name }), element("td", { text }));
    });
    const events = this.case.events.slice(0, 200).map((e) => {
      const go = element("button", { type: "button", class: "link", text: this.timeline.clock.text(e.time), onclick: () => this.player.seek(e.time) });
      return element("tr", {}, element("th", { scope: "row" }, go), element("td", { text: e.text }));
    });
    this.info.replaceChildren(element("h2", { text: this.case.name || this.data.title }), element("table", {}, ...rows));
    if (events.length) this.info.append(element("h2", { text: "Events" }), element("table", {}, ...events));
    if (this.data.about) this.info.append(element("p", { class: "hint", text: this.data.about }));
  }

  _show(t) {
    if (this.stage) {
      this.machine.show(t);
      this.arrows.show(t);
      this.stage.moved();
    }
    const row = nearest(this.case.plots.times.data, t);
    for (const { value, values, factor } of this.readouts) value.textContent = short(values.data[row] * factor, 3);
  }

  /** The bar that says how long a metre is, and what the arrows mean. */
  _overlay() {
    const { stage } = this;
    const perPixel = stage.metresPerPixel;
    if (!Number.isFinite(perPixel) || !(perPixel > 0)) return;
    const most = 100 * perPixel;
    const power = 10 ** Math.floor(Math.log10(most));
    const round = [5, 2, 1].map((m) => m * power).find((x) => x <= most);
    const shown = [];
    const millimetres = this.units.chosen.length === "mm";
    const scaled = millimetres ? [round * 1e3, "mm"] : round >= 1e3 ? [round / 1e3, "km"] : round >= 1 ? [round, "m"] : round >= 1e-3 ? [round * 1e3, "mm"] : [round * 1e6, "\u00b5m"];
    shown.push({ text: `${short(scaled[0])} ${scaled[1]}`, width: round / perPixel, class: "ruler", color: "" });
    for (const [unit, groups] of this.arrows.kinds()) {
      const told = this.units.of(unit);
      const { value, size } = this.arrows.legend(unit, unit === "N" ? 90 * perPixel : 1.9 * Math.PI, told.factor);
      const drawn = unit === "N" ? { width: size / perPixel, class: "arrow" } : { angle: size, class: "arc" };
      shown.push({ text: `${short(value)} ${told.unit}`, ...drawn, color: "", groups });
    }
    const state = JSON.stringify(shown);
    if (state === this._scales) return;
    this._scales = state;
    this.overlay.replaceChildren(
      ...shown.map((one) => {
        const bar = element("i", { class: one.class });
        if (one.angle) bar.style.setProperty("--angle", `${one.angle}rad`);
        else bar.style.width = `${Math.max(one.width, 6)}px`;
        bar.style.color = one.color;
        const dots = (one.groups || []).map((group) => {
          const dot = element("i", { class: "dot" });
          dot.style.background = group.color;
          return element("span", { class: "kind" }, dot, element("span", { text: group.label }));
        });
        return element("div", { class: "scale" }, bar, element("span", { class: "amount", text: one.text }), ...dots);
      }),
    );
  }

  // -- hands

  _hit(event) {
    const arrows = this.arrows.visible.flatMap((item) => [item.shaft, item.head]);
    return this.stage.pick(event, arrows) || this.stage.pick(event, this.machine.pickable);
  }

  _hover(event) {
    if (!this.stage || event.buttons) return void (this.tip.hidden = true);
    const hit = this._hit(event);
    this.tip.hidden = !hit;
    if (!hit) return;
    const { arrow, name, kind, body } = hit.object.userData;
    const of = { joint: "joint ", loop: "joint that closes a loop: ", ground: "support " }[kind] || "";
    if (arrow) {
      const { factor, unit } = this.units.of(arrow.unit);
      const size = factor * Math.hypot(...arrow.value);
      const parts = arrow.value.map((x) => short(factor * x, 3)).join(", ");
      this.tip.textContent = `${arrow.name}: ${short(size)} ${unit} (${parts})${arrow.note ? "; " + arrow.note : ""}`;
    } else {
      const carrier = typeof body === "number" ? this.machine.look.bodies[body] : "";
      this.tip.textContent = kind === "body" || carrier === name || !carrier ? `${of}${name}` : `${of}${name} on ${carrier}`;
    }
    const box = this.scene.getBoundingClientRect();
    const x = event.clientX - box.left;
    this.tip.style.left = `${Math.min(x + 14, box.width - this.tip.offsetWidth - 8)}px`;
    this.tip.style.top = `${Math.max(event.clientY - box.top - 30, 4)}px`;
  }

  _pin(event) {
    const hit = this.stage?.pick(event, this.machine.solids);
    if (!hit || typeof hit.object.userData.body !== "number") return;
    const { body } = hit.object.userData;
    const point = this.machine.bodies[body].worldToLocal(hit.point.clone()).toArray();
    this.machine.trace({ body, point, color: this.data.colors[this.machine.traces.length % this.data.colors.length] });
    this._options();
    this._show(this.player.time);
  }

  /** Keys: those of the event, words for the help, what they do. */
  _keys(shift, onButton) {
    const { player } = this;
    const step = (player.end - player.begin) / (shift ? 20 : 200);
    const move = (to) => {
      player.pause();
      player.seek(to);
    };
    return [
      [[" "], "space", "play, pause", () => (onButton ? false : player.toggle())],
      [["ArrowLeft"], "\u2190", "a step back; with shift, a longer one", () => move(player.time - step)],
      [["ArrowRight"], "\u2192", "a step on; with shift, a longer one", () => move(player.time + step)],
      [["ArrowUp"], "\u2191", "faster", () => this.timeline.faster(1)],
      [["ArrowDown"], "\u2193", "slower", () => this.timeline.faster(-1)],
      [["Home"], "Home", "to the start", () => move(player.begin)],
      [["End"], "End", "to the end", () => move(player.end)],
      ...Object.entries(VIEWS).map(([from, label], i) => [[String(i + 1)], String(i + 1), `view: ${label}`, () => this.stage?.look(from)]),
      [["f"], "F", "fit machine and arrows into the view", () => this.stage?.fit()],
      [["o"], "O", "arrows, units and other options", () => this._panel(this.options)],
      [["i"], "I", "about this motion", () => this._panel(this.info)],
      [["s"], "S", "list of signals, with a filter", () => this.plots.signals.toggle()],
      [["p"], "P", "show or hide the plots", () => this._plots()],
      [["?"], "?", "this help", () => this._help()],
    ];
  }

  _help() {
    const row = ([what, does]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", { text: what })), element("td", { text: does }));
    const close = element("button", { type: "button", class: "close", text: "\u00d7", "aria-label": "Close this help", onclick: () => this.helped.close() });
    this.helped.replaceChildren(
      element("header", {}, element("h2", { text: "Keys" }), close),
      element("table", {}, ...this._keys().map(([, shown, does]) => row([shown, does]))),
      element("h2", { text: "Mouse, fingers" }),
      element("table", {}, ...HANDS.map(row)),
    );
    this.helped.showModal();
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.helped.open) return;
    const { target } = event;
    if (target.matches?.("select, input:not([type=range]):not([type=checkbox])")) return;
    if (target.closest?.(".card") && event.key.startsWith("Arrow")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = this._keys(event.shiftKey, target.matches?.("button, summary, input[type=checkbox]")).find(([keys]) => keys.includes(key))?.[3];
    if (action && action() !== false) event.preventDefault();
  }

  // -- for programs: the object `viewer` of the page

  /** Pose of a body as drawn: {position: [x, y, z], quaternion: [x, y, z, w]}. */
  pose(name) {
    const body = this.machine.bodies[this.machine.look.bodies.indexOf(name)];
    return { position: body.position.toArray(), quaternion: body.quaternion.toArray() };
  }

  /** Where a point of the world is on the page, px. */
  onScreen(point) {
    return this.stage.onScreen(new Vector3(...point));
  }
}

function nearest(times, t) {
  let low = 0;
  let high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return t - times[low] > times[high] - t ? high : low;
}

async function begin() {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This page needs Chrome 80, Firefox 113, Safari 16.4, or later.");
  }
  const data = await unpack(document.getElementById("data").textContent.trim());
  window.viewer = new Viewer(data);
  requestAnimationFrame(() => requestAnimationFrame(() => (document.documentElement.dataset.ready = performance.now().toFixed(0))));
}

begin().catch((error) => {
  document.body.replaceChildren(element("p", { class: "message", text: `The viewer cannot show this: ${error.message}` }));
  throw error;
});
