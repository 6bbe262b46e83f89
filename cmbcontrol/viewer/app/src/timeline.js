// The bar below the machine: play, time slider with marks, speed.

import { clock } from "./format.js";
import { button, element, FAILURE, icon } from "./page.js";

const SPEEDS = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];

export class Timeline {
  constructor(place, player) {
    this.player = player;
    this.play = button("play", "Play (space)", () => player.toggle(), { class: "icon play" });
    const start = button("start", "To the start (Home)", () => player.seek(player.begin));
    this.loop = button("loop", "Play again and again", () => {
      player.loop = !player.loop;
      player.changed();
    });
    this.time = element("output", { class: "time", "aria-live": "off" });
    this.slider = element("input", { type: "range", step: "any", min: 0, max: 1, "aria-label": "Time", class: "slider" });
    this.slider.addEventListener("input", () => {
      const time = Number(this.slider.value); // before the others are told, who move the slider to the old time
      player.pause();
      player.seek(time);
    });
    this.marks = element("div", { class: "marks" });
    const track = element("div", { class: "track" }, this.marks, this.slider);
    this.speed = element("select", { "aria-label": "Speed", title: "Speed: seconds of the run in a second" });
    this.speed.addEventListener("change", () => player.setSpeed(Number(this.speed.value)));
    this.place = place;
    place.append(start, this.play, this.time, track, this.loop, this.speed);
    player.listen(() => this.show());
  }

  take({ events, speed, failure }) {
    const { player } = this;
    const span = player.end - player.begin;
    this.clock = clock(span);
    this.slider.min = player.begin;
    this.slider.max = player.end;
    this.place.hidden = !(span > 0); // a machine at rest
    const speeds = [...new Set([...SPEEDS.filter((s) => s >= speed / 30 && s <= 30 * speed), speed])].sort((a, b) => a - b);
    this.speed.replaceChildren(...speeds.map((s) => element("option", { value: s, text: `${Number(s.toPrecision(3))}\u00d7` })));
    this.speed.value = speed;
    this._marks(events, span);
    if (failure) {
      const label = `${this.clock.text(failure.time)}: failed: ${failure.text}`;
      this.marks.append(this._mark(label, failure.time, span, FAILURE, "mark failed"));
    }
    this.show();
  }

  /** One mark for all events of an instant, or of instants that lie nearer than a mark is wide. */
  _marks(events, span) {
    const near = 0.004 * span;
    const groups = [];
    for (const event of events) {
      const last = groups[groups.length - 1];
      if (last && event.time - last[last.length - 1].time <= near) last.push(event);
      else groups.push([event]);
    }
    this.marks.replaceChildren(
      ...groups.map((group) => {
        const times = [...new Set(group.map((e) => this.clock.text(e.time)))];
        const kinds = new Map();
        for (const e of group) kinds.set(e.text, (kinds.get(e.text) || 0) + 1);
        const texts = [...kinds].map(([text, n]) => (n > 1 ? `${text} (${n} times)` : text));
        const at = times.length > 1 ? `${times[0]} to ${times[times.length - 1]}` : times[0];
        const label = `${at}: ${texts.join(", ")}`;
        return this._mark(label, group[0].time, span, group[0].color);
      }),
    );
  }

  _mark(label, time, span, color, kind = "mark") {
    const share = span > 0 ? (time - this.player.begin) / span : 0;
    const mark = element("button", { type: "button", class: kind, "aria-label": label, "data-tip": label });
    mark.style.setProperty("--at", share);
    mark.style.setProperty("--color", color);
    if (share > 0.7) mark.classList.add("late");
    if (share < 0.3) mark.classList.add("early");
    mark.addEventListener("click", () => {
      this.player.pause();
      this.player.seek(time);
    });
    return mark;
  }

  show() {
    const { player } = this;
    if (!this.clock) return;
    const text = this.clock.text(player.time);
    this.time.textContent = text;
    this.slider.value = player.time;
    this.slider.setAttribute("aria-valuetext", text);
    const share = player.end > player.begin ? (player.time - player.begin) / (player.end - player.begin) : 0;
    this.slider.style.setProperty("--done", share);
    if (this._playing !== player.playing) {
      this._playing = player.playing;
      const label = player.playing ? "Pause (space)" : "Play (space)";
      this.play.replaceChildren(icon(player.playing ? "pause" : "play"));
      this.play.title = label;
      this.play.setAttribute("aria-label", label);
    }
    this.loop.setAttribute("aria-pressed", player.loop);
    if (document.activeElement !== this.speed) this.speed.value = player.speed;
  }

  /** To the next speed, up or down. */
  faster(step) {
    const values = [...this.speed.options].map((o) => Number(o.value));
    const i = values.indexOf(this.player.speed);
    this.player.setSpeed(values[Math.min(Math.max(i + step, 0), values.length - 1)]);
  }
}
