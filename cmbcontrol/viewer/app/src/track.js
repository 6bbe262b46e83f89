// Rows of numbers at rising times, and what they are between them.

/** Index i with times[i] <= t < times[i + 1], and the fraction in between. */
export function place(times, t) {
  let low = 0;
  let high = times.length - 1;
  if (high <= 0 || t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high - 1, 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return [low, (t - times[low]) / (times[high] - times[low])];
}

/** Number `k` of a row that lies at a place; rows have `width` numbers. */
export function between(data, width, k, [i, s]) {
  const a = data[i * width + k];
  return s === 0 ? a : a + s * (data[(i + 1) * width + k] - a);
}
