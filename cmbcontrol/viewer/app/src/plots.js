// Curves over time, a panel for each group of signals. A click or a drag moves the time; the wheel zooms.

import uPlot from "uplot";
import { short, ticks } from "./format.js";
import { element, stroke } from "./page.js";
import { Signals } from "./signals.js";
import { between, place } from "./track.js";

const LEAST_HEIGHT = 96; // px of a panel's curves
const LIGHTER = 0.3; // of the way to white
const MANY = 12; // signals of a group, of which the legend has only those that are shown
const LETTER = 6.8; // px: no digit of the axes is wider

export class Plots {
  constructor(place, player, units) {
    this.place = place;
    this.units = units;
    this.player = player;
    this.panels = [];
    this.list = element("div", { class: "panels" });
    this.more = element("button", { type: "button", class: "more", text: "Add a plot", onclick: () => this.add() });
    this.find = element("button", { type: "button", class: "more", text: "Signals", title: "List of all signals, with a filter (S)", onclick: () => this.signals.toggle() });
    place.append(this.list, element("div", { class: "below" }, this.more, this.find));
    this.signals = new Signals(place, this);
    new ResizeObserver(() => this.resize()).observe(this.list);
    player.listen(() => this.show());
  }

  take(data, events, clock) {
    for (const panel of this.panels) panel.close();
    this.panels = [];
    this.data = data;
    this.events = events;
    this.clock = clock;
    this.range = null;
    this.place.parentElement.classList.toggle("without-plots", !data.groups.length);
    for (const group of data.shown) this.add(group);
    this.list.scrollTop = 0; // of those, the first is seen where there is no room for all
    this.signals.show();
  }

  title({ label, unit }) {
    return unit ? `${label} (${this.units.of(unit).unit})` : label;
  }

  /** Other units have been chosen. */
  relabel() {
    for (const panel of this.panels) panel.name();
    this.theme();
    this.signals.show();
  }

  /** Another panel, of a group, with one of its signals or those that are shown at first. */
  add(group, only) {
    if (group === undefined) {
      const used = new Set(this.panels.map((panel) => panel.index));
      group = this.data.groups.findIndex((_, i) => !used.has(i));
      if (group < 0) group = 0;
    }
    const panel = new Panel(this, group, only);
    this.panels.push(panel);
    this.list.append(panel.root);
    this.resize();
    panel.root.scrollIntoView({ block: "nearest" });
  }

  remove(panel) {
    panel.close();
    this.panels = this.panels.filter((p) => p !== panel);
    this.resize();
    this.signals.show();
  }

  /** The part of the time that all panels show; null for all of it. */
  zoom(range) {
    this.range = range;
    for (const panel of this.panels) panel.rescale();
  }

  resize() {
    const { width, height } = this.list.getBoundingClientRect();
    if (!width || !this.panels.length) return;
    this._size = `${width} ${height} ${this.panels.length}`;
    for (const panel of this.panels) panel.fit(width, height / this.panels.length);
  }

  theme() {
    for (const panel of this.panels) panel.make();
    this.resize();
  }

  show() {
    for (const panel of this.panels) panel.show(this.player.time);
  }
}

class Panel {
  constructor(plots, index, only) {
    this.plots = plots;
    this.root = element("section", { class: "panel" });
    this.choice = element("select", { "aria-label": "Signals of this plot" });
    plots.data.groups.forEach((_, i) => this.choice.append(element("option", { value: i })));
    this.name();
    this.choice.addEventListener("change", () => this.take(Number(this.choice.value)));
    const close = element("button", {
      type: "button",
      class: "close",
      text: "\u00d7",
      title: "Remove this plot",
      "aria-label": "Remove this plot",
      onclick: () => plots.remove(this),
    });
    this.head = element("header", {}, this.choice, close);
    this.curves = element("div", { class: "curves" });
    this.legend = element("div", { class: "legend" });
    this.root.append(this.head, this.curves, this.legend);
    this.take(index, only);
  }

  name() {
    this.plots.data.groups.forEach((group, i) => (this.choice.options[i].textContent = this.plots.title(group)));
  }

  take(index, only) {
    this.index = index;
    this.choice.value = index;
    this.group = this.plots.data.groups[index];
    const chosen = this.group.signals[only]?.name;
    this.on = this.group.signals.map((signal, k) => (only === undefined ? signal.shown : k === only || signal.of === chosen));
    this._legend();
    this.make();
    this.plots.resize();
    this.plots.signals.show();
  }

  /** Show or hide a signal, and the reference that it follows. */
  toggle(k) {
    const on = !this.on[k];
    this.group.signals.forEach((other, j) => {
      if (j !== k && (!other.of || other.of !== this.group.signals[k].name)) return;
      this.on[j] = on;
      this.plot.setSeries(j + 1, { show: on });
    });
    this._legend();
    this.plots.resize();
  }

  _legend() {
    this.values = [];
    const many = this.group.signals.filter((signal) => !signal.of).length > MANY;
    this.legend.replaceChildren(
      ...this.group.signals.flatMap((signal, k) => {
        if (signal.of || (many && !this.on[k])) return []; // a reference goes with what follows it
        const value = element("span", { class: "value" });
        this.values[k] = value;
        const swatch = stroke(signal.color, signal.dash);
        const entry = element("button", { type: "button", class: "entry", "aria-pressed": this.on[k], title: `Show or hide ${signal.name}` });
        entry.append(swatch, element("span", { class: "name", text: signal.name }), value);
        entry.addEventListener("click", () => {
          this.toggle(k);
          this.plots.signals.show();
        });
        return [entry];
      }),
    );
    if (!many) return;
    const hidden = this.group.signals.filter((signal, k) => !signal.of && !this.on[k]).length;
    const more = element("button", { type: "button", class: "entry link", text: `${hidden} more`, onclick: () => this.plots.signals.toggle(this.plots.title(this.group)) });
    this.legend.append(more);
  }

  make() {
    this.plot?.destroy();
    const { plots, group } = this;
    const times = plots.data.times.data;
    const style = getComputedStyle(document.body);
    const ink = style.getPropertyValue("--soft");
    const line = style.getPropertyValue("--line");
    const font = "11px system-ui, sans-serif";
    const { factor } = plots.clock;
    this.factor = plots.units.of(group.unit).factor;
    const axis = { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 }, gap: 4 };
    const size = this.size || [300, 120];
    this.plot = new uPlot(
      {
        width: size[0],
        height: size[1],
        pxAlign: 0,
        padding: [8, 36, 0, 0],
        legend: { show: false },
        cursor: { drag: { setScale: false, x: false, y: false }, points: { show: false }, y: false, x: false },
        scales: {
          x: { time: false, range: () => this._range() },
          y: group.log ? { distr: 3, range: decades } : { range: (_, low, high) => wide(low, high, group.scale * this.factor) },
        },
        axes: [
          { ...axis, size: 26, space: (_, i, low, high, width) => apart(low / factor, high / factor, width, plots.clock.unit), values: (_, splits) => timed(splits.map((t) => t / factor), plots.clock.unit) },
          { ...axis, size: beside, space: 16, values: (_, splits) => (group.log ? powers(splits) : ticks(splits)) },
        ],
        series: [
          {},
          ...group.signals.map((signal, k) => ({
            label: signal.name,
            stroke: readable(signal.color),
            width: 1.5,
            pxAlign: 0,
            dash: signal.dash,
            show: this.on[k],
            points: { show: times.length < 2 },
            spanGaps: false,
          })),
        ],
        hooks: { draw: [(u) => this._events(u)] },
      },
      [times, ...group.signals.map((signal) => gapped(signal.values.data, group.log, this.factor))],
      this.curves,
    );
    this.cursor = element("div", { class: "cursor" });
    this.plot.over.append(this.cursor);
    this._listen(this.plot.over);
    this.show(plots.player.time);
  }

  _range() {
    const { player, range } = this.plots;
    if (range) return range;
    const [begin, end] = [player.begin, player.end];
    return end > begin ? [begin, end] : [begin - 0.5, begin + 0.5];
  }

  _events(u) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    let last = -Infinity;
    for (const event of this.plots.events) {
      const x = Math.round(u.valToPos(event.time, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width || x - last < 2) continue;
      last = x;
      ctx.strokeStyle = event.color;
      ctx.globalAlpha = 0.7;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  _listen(over) {
    const { plots } = this;
    const seek = (event) => {
      plots.player.pause();
      plots.player.seek(this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      over.setPointerCapture(event.pointerId);
      seek(event);
    });
    over.addEventListener("pointermove", (event) => {
      if (over.hasPointerCapture(event.pointerId)) seek(event);
    });
    over.addEventListener("dblclick", () => plots.zoom(null));
    over.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
        event.preventDefault();
        const { begin, end } = plots.player;
        const [low, high] = this._range();
        const at = this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
        const factor = Math.exp(0.0015 * Math.max(-200, Math.min(200, event.deltaY)));
        const to = [Math.max(at + (low - at) * factor, begin), Math.min(at + (high - at) * factor, end)];
        if (to[1] - to[0] < 1e-5 * (end - begin)) return;
        plots.zoom(to[0] <= begin && to[1] >= end ? null : to);
      },
      { passive: false },
    );
  }

  rescale() {
    const [min, max] = this._range();
    this.plot.setScale("x", { min, max });
    this.show(this.plots.player.time);
  }

  fit(width, share) {
    const rest = this.head.offsetHeight + this.legend.offsetHeight + 6;
    this.size = [Math.max(Math.floor(width), 80), Math.max(LEAST_HEIGHT, Math.floor(share - rest))];
    this.plot.setSize({ width: this.size[0], height: this.size[1] });
    this.show(this.plots.player.time);
  }

  show(t) {
    if (!this.plot) return;
    const x = this.plot.valToPos(t, "x");
    this.cursor.style.transform = `translateX(${x}px)`;
    this.cursor.style.visibility = x < -1 || x > this.plot.over.clientWidth + 1 ? "hidden" : "visible";
    const where = place(this.plots.data.times.data, t);
    this.group.signals.forEach((signal, k) => {
      if (!this.values[k]) return;
      const value = between(signal.values.data, 1, 0, where);
      const text = short(Math.abs(value) < 1e-11 * this.group.scale ? 0 : value * this.factor);
      if (this.values[k].textContent !== text) this.values[k].textContent = text;
    });
  }

  close() {
    this.plot?.destroy();
    this.root.remove();
  }
}

/** Distance of labels of the time, px, at which none meets the next. */
function apart(low, high, width, unit) {
  const step = ((high - low) * 56) / Math.max(width, 56);
  const whole = 10 ** Math.floor(Math.log10(step)) || 1;
  const at = Math.ceil(Math.max(Math.abs(low), Math.abs(high)) / whole) * whole;
  const letters = Math.max(...ticks([at - whole, at]).map((text) => text.length)) + (low < 0 ? 1 : 0);
  return Math.max(56, LETTER * (letters + 1.5 + unit.length / 2) + 10); // a step of 2.5 has one digit more
}

/** Width of the labels beside an axis. */
function beside(plot, values, axis, cycle) {
  if (cycle > 1) return plot.axes[axis]._size; // else it would not come to rest
  return Math.max(40, LETTER * Math.max(0, ...(values || []).map((text) => String(text ?? "").length)) + 14);
}

/** A colour of the figures on paper, lighter on a dark page. */
function readable(color) {
  if (document.documentElement.dataset.theme !== "dark") return color;
  const parts = [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16));
  return `rgb(${parts.map((x) => Math.round(x + LIGHTER * (255 - x))).join(" ")})`;
}

/** Values that cannot be drawn are gaps. */
function gapped(data, log, factor) {
  const out = new Array(data.length);
  for (let i = 0; i < data.length; i++) out[i] = Number.isFinite(data[i]) && (!log || data[i] > 0) ? data[i] * factor : null;
  return out;
}

/** Limits with some room; what varies by rounding only, of numbers of the size `scale`, is drawn as a constant. */
function wide(low, high, scale) {
  if (low === null || high === null || low === undefined) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const rounding = 1e-7 * size + 1e-11 * scale; // curves have 24 bits
  if (high - low > rounding) return [low - 0.06 * (high - low), high + 0.06 * (high - low)];
  const centre = size > rounding ? (low + high) / 2 : 0;
  const room = 0.1 * Math.abs(centre) || 0.1 * scale || 1;
  return [centre - room, centre + room];
}

function decades(_, low, high) {
  if (!(low > 0)) return [1e-16, 1];
  const [a, b] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  return [10 ** a, 10 ** (b > a ? b : a + 1)];
}

function powers(splits) {
  const decades = splits.filter((x) => x && Math.abs(Math.log10(x) - Math.round(Math.log10(x))) < 1e-9);
  const every = Math.ceil(decades.length / 4);
  let n = 0;
  return splits.map((x) => {
    if (!x || Math.abs(Math.log10(x) - Math.round(Math.log10(x))) > 1e-9) return null;
    return n++ % every ? null : short(x, 1).replace(".00", "");
  });
}

/** Labels of the time; the last one has the unit. */
function timed(splits, unit) {
  const labels = ticks(splits);
  if (labels.length) labels[labels.length - 1] += ` ${unit}`;
  return labels;
}
