// Numbers for people.

/** Four digits, as short as they can be. */
export function short(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "n/a";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace("e+", "e").replace("-", "\u2212").replace("e-", "e\u2212");
  return String(Number(x.toPrecision(digits))).replace("-", "\u2212");
}

const STEPS = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "\u00b5s"],
  [1e-9, "ns"],
];

/** How times between 0 and `span` are written: [text of t, unit]. */
export function clock(span) {
  const [factor, unit] = (span > 0 && (STEPS.find(([f]) => span >= 0.999 * f) || STEPS[STEPS.length - 1])) || STEPS[0];
  const decimals = span / factor >= 100 ? 2 : 3;
  return { factor, unit, text: (t) => `${(t / factor).toFixed(decimals).replace("-", "\u2212")} ${unit}` };
}
