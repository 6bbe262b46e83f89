// The part of an area that nothing covers.

/** The rectangle between boxes in which a shape of an aspect (width / height) is drawn largest; all of it if none is left. */
export function freePlace([width, height], boxes, aspect) {
  const inside = boxes
    .map(({ left, top, right, bottom }) => ({ left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, width), bottom: Math.min(bottom, height) }))
    .filter((box) => box.right > box.left && box.bottom > box.top);
  const xs = [0, width, ...inside.flatMap((box) => [box.left, box.right])];
  const ys = [0, height, ...inside.flatMap((box) => [box.top, box.bottom])];
  let best = { left: 0, top: 0, width, height };
  let largest = 0;
  for (const left of xs) for (const right of xs) for (const top of ys) for (const bottom of ys) {
    if (right <= left || bottom <= top) continue;
    if (inside.some((box) => box.left < right && box.right > left && box.top < bottom && box.bottom > top)) continue;
    const size = Math.min((right - left) / aspect, bottom - top); // height of the shape
    if (size > largest * (1 + 1e-9)) [largest, best] = [size, { left, top, width: right - left, height: bottom - top }];
  }
  return best;
}
