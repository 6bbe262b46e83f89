// The list of all signals in their groups, with a filter: for machines with many joints.

import { element } from "./page.js";

export class Signals {
  constructor(place, plots) {
    this.plots = plots;
    this.filter = element("input", { type: "search", placeholder: "Filter signals", "aria-label": "Filter signals" });
    this.filter.addEventListener("input", () => this._sift());
    const close = element("button", { type: "button", class: "close", text: "\u00d7", "aria-label": "Close the list of signals", onclick: () => this.toggle() });
    this.groups = element("div", { class: "groups" });
    this.count = element("p", { class: "hint", role: "status" });
    this.root = element("div", { class: "signals", hidden: true, role: "group", "aria-label": "Signals" }, element("header", {}, this.filter, close), this.count, this.groups);
    place.append(this.root);
  }

  /** Open or close; with the signals of one group where its name is given. */
  toggle(filter) {
    this.root.hidden = filter === undefined && !this.root.hidden;
    if (this.root.hidden) return;
    if (filter !== undefined) this.filter.value = filter;
    this.show();
    this.filter.focus();
  }

  show() {
    if (this.root.hidden) return;
    const { plots } = this;
    this.items = [];
    this.groups.replaceChildren(
      ...plots.data.groups.map((group, g) => {
        const panel = plots.panels.find((one) => one.index === g);
        const labels = group.signals.flatMap((signal, k) => {
          if (signal.of) return []; // a reference goes with what follows it
          const box = element("input", { type: "checkbox" });
          box.checked = Boolean(panel?.on[k]);
          box.addEventListener("change", () => this._switch(g, k));
          const label = element("label", {}, box, element("span", { text: signal.name }));
          this.items.push({ label, text: `${signal.name} ${plots.title(group)}`.toLowerCase() });
          return [label];
        });
        const on = panel ? group.signals.filter((signal, k) => !signal.of && panel.on[k]).length : 0;
        const head = element("summary", { text: `${plots.title(group)}: ${on} of ${labels.length} shown` });
        return element("details", { open: true }, head, ...labels);
      }),
    );
    this._sift();
  }

  _switch(g, k) {
    const panel = this.plots.panels.find((one) => one.index === g);
    if (panel) panel.toggle(k);
    else this.plots.add(g, k);
    const focus = this.items.findIndex(({ label }) => label.contains(document.activeElement));
    this.show();
    this.items[focus]?.label.querySelector("input").focus();
  }

  /** Hide what does not have all the words of the filter. */
  _sift() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { label, text } of this.items) {
      label.hidden = !words.every((word) => text.includes(word));
      found += !label.hidden;
    }
    for (const group of this.groups.children) group.hidden = ![...group.querySelectorAll("label")].some((label) => !label.hidden);
    this.count.textContent = words.length ? `${found} of ${this.items.length} signals` : `${this.items.length} signals`;
  }
}
