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

/** Decimals that a number has, of those that can be seen: 1 of 0.5, 2 of 0.25, 0 of 20. */
function decimals(x) {
  const first = Math.max(0, -Math.floor(Math.log10(x) + 1e-9));
  for (let digits = first; digits < first + 3; digits++) {
    const whole = x * 10 ** digits;
    if (Math.abs(whole - Math.round(whole)) < 1e-6 * whole) return digits;
  }
  return first + 3;
}

/** Labels of an axis, with as many digits as its step has: they are read as what they stand at. */
export function ticks(splits) {
  const step = splits.length > 1 ? Math.abs(splits[1] - splits[0]) : Math.abs(splits[0]) || 1;
  const size = Math.max(...splits.map(Math.abs), 0);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) {
    const digits = (x) => decimals(step / 10 ** Math.floor(Math.log10(Math.abs(x)) + 1e-9));
    return splits.map((x) => (Math.abs(x) < 1e-6 * step ? "0" : x.toExponential(digits(x)).replace("e+", "e").replaceAll("-", "\u2212")));
  }
  const digits = decimals(step);
  return splits.map((x) => x.toFixed(digits).replace("-", "\u2212").replace(/^\u2212(0\.?0*)$/, "$1"));
}
