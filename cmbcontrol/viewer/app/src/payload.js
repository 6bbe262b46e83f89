// The data of a page: a header in JSON, and the arrays that it names, behind each other in little-endian bytes.

const KINDS = { f4: Float32Array, f8: Float64Array, i2: Int16Array, u2: Uint16Array, u4: Uint32Array };

/** The data of a base64 text, inflated; arrays become {data, shape}. */
export async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const header = new TextDecoder().decode(new Uint8Array(bytes, 4, length));
  const start = 4 + length;
  return JSON.parse(header, (_, value) => (value && value.array ? array(bytes, start, value.array) : value));
}

function array(bytes, start, { at, type, shape, scale, shift }) {
  const count = shape.reduce((a, b) => a * b, 1);
  const raw = new KINDS[type](bytes, start + at, count);
  if (scale === undefined) return { data: raw, shape };
  // whole numbers whose rows are differences to the rows before, modulo 2^16: these compress well
  const row = count / (shape[0] || 1);
  for (let i = row; i < count; i++) raw[i] += raw[i - row];
  const data = new Float32Array(count);
  for (let i = 0; i < count; i++) data[i] = shift + scale * raw[i];
  return { data, shape };
}
