// Makes ../bundle from src: `npm ci && npm run build`. The result is committed, so users need no Node.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, "package.json"));
const { build } = require("esbuild");
const bundle = join(here, "..", "bundle");

// The fingerprint of the sources goes into the bundle: a test compares the two.
const hash = createHash("sha256");
for (const name of ["package.json", ...readdirSync(join(here, "src")).sort().map((file) => `src/${file}`)]) {
  hash.update(name + "\n" + readFileSync(join(here, name), "utf8").replaceAll("\r\n", "\n"));
}
const fingerprint = hash.digest("hex");

const result = await build({
  entryPoints: [join(here, "src", "main.js")],
  bundle: true,
  minify: true,
  write: false,
  outdir: bundle,
  format: "iife",
  target: ["chrome103", "firefox113", "safari16.4"], // the first ones with DecompressionStream and nesting of CSS aside
  legalComments: "none", // their texts are in LICENSES.txt
  charset: "ascii",
});

mkdirSync(bundle, { recursive: true });
for (const file of result.outputFiles) {
  const [name, open, close] = file.path.endsWith(".css") ? ["viewer.css", "/*", "*/"] : ["viewer.js", "/*", "*/"];
  if (/<\/(script|style)/i.test(file.text)) throw new Error(`${name} would end its own element in a page`);
  const head = `${open} sources ${fingerprint}; licences of what is inside: LICENSES.txt ${close}\n`;
  writeFileSync(join(bundle, name), head + file.text);
  console.log(`${name}: ${Math.round((head.length + file.text.length) / 1024)} KiB`);
}

const texts = ["three", "uplot"].map((name) => {
  const folder = dirname(require.resolve(name === "three" ? "three" : "uplot/package.json"));
  const root = name === "three" ? join(folder, "..") : folder;
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(root, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(
  join(bundle, "LICENSES.txt"),
  "The files viewer.js and viewer.css contain parts of these libraries.\n\n" + texts.join("\n" + "-".repeat(80) + "\n\n")
);
