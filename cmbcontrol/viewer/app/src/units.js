// The units in which all of the page shows its numbers; what is computed stays in SI units.

// of each quantity: names, and how many there are in one SI unit, which is the first
export const QUANTITIES = {
  length: { m: 1, mm: 1e3 },
  angle: { rad: 1, mrad: 1e3, deg: 180 / Math.PI },
  force: { N: 1, kN: 1e-3, MN: 1e-6 },
  moment: { "N m": 1, "kN m": 1e-3, "MN m": 1e-6, "N mm": 1e3 },
  energy: { J: 1, kJ: 1e-3, MJ: 1e-6 },
  power: { W: 1, kW: 1e-3, MW: 1e-6 },
};
const OF = Object.fromEntries(Object.entries(QUANTITIES).map(([quantity, names]) => [Object.keys(names)[0], quantity]));
const PARTS = /N m|[A-Za-z]+|\//g;

export class Units {
  constructor() {
    this.byHand = new Set();
    this.chosen = {};
    this.suit({});
  }

  /** Units of about the given sizes, in SI units, as numbers need them; what was chosen by hand stays. */
  suit(sizes) {
    for (const [si, quantity] of Object.entries(OF)) {
      if (this.byHand.has(quantity)) continue;
      const off = (name) => Math.abs(Math.log10((sizes[si] || 1) * QUANTITIES[quantity][name]));
      this.chosen[quantity] = Object.keys(QUANTITIES[quantity]).reduce((best, name) => (off(name) < off(best) ? name : best));
    }
  }

  choose(quantity, name) {
    this.byHand.add(quantity);
    this.chosen[quantity] = name;
  }

  /** How a unit, such as m/s, is shown: {factor, unit}. */
  of(unit) {
    let factor = 1;
    let below = false;
    const shown = unit.replace(PARTS, (part, at) => {
      below ||= part === "/";
      const quantity = OF[part];
      if (!quantity) return part;
      const power = Number(/^\^?(\d)/.exec(unit.slice(at + part.length))?.[1] ?? 1);
      const name = this.chosen[quantity];
      factor *= QUANTITIES[quantity][name] ** (below ? -power : power);
      return name;
    });
    return { factor, unit: shown };
  }
}

/** The quantities with a choice that units are of. */
export function quantities(units) {
  const parts = new Set(units.flatMap((unit) => unit.match(PARTS) || []));
  return Object.keys(QUANTITIES).filter((quantity) => parts.has(Object.keys(QUANTITIES[quantity])[0]));
}
