// Elements of the page, made in one line each.

export const FAILURE = "#C00000"; // the colour of nothing else

export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-")) made.setAttribute(name, String(value));
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const ICONS = {
  play: "M7 4.5v15l13-7.5z",
  pause: "M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z",
  start: "M5 5h2.5v14H5zM19 5v14L8.5 12z",
  loop: "M17 4l4 4-4 4V9H7v4H5V9a2 2 0 0 1 2-2h10zM7 20l-4-4 4-4v3h10v-4h2v4a2 2 0 0 1-2 2H7z",
  fit: "M4 9V4h5v2H6v3zM15 4h5v5h-2V6h-3zM20 15v5h-5v-2h3v-3zM9 20H4v-5h2v3h3z",
  options: "M4 6h9v2H4zM17 6h3v2h-3zM14 4h2v6h-2zM4 16h3v2H4zM11 16h9v2h-9zM8 14h2v6H8z",
  plots: "M4 4h2v14h14v2H4zM8 15l4-6 3 3 4-6 1.6 1-5.3 8-3-3-2.6 4z",
  picture: "M9 4h6l1.5 2.5H20a1 1 0 0 1 1 1V19a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V7.5a1 1 0 0 1 1-1h3.5zM12 9a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm0 2a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  help: "M12 2.5a9.5 9.5 0 1 0 0 19 9.5 9.5 0 0 0 0-19zm0 2a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15zM11 16h2v2h-2zM12 6a4 4 0 0 0-4 4h2a2 2 0 1 1 3.2 1.6C12 12.500 11 13 11 15h2c0-1 .6-1.400 1.600-2.200A4 4 0 0 0 12 6z",
  info: "M11 10h2v7h-2zM11 7h2v2h-2zM12 2.5a9.5 9.5 0 1 0 0 19 9.5 9.5 0 0 0 0-19zm0 2a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A short piece of a curve, for a legend. */
export function stroke(color, dash) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  svg.style.setProperty("--color", color);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", "M0 2h30");
  if (dash.length) line.setAttribute("stroke-dasharray", dash.join(" "));
  svg.append(line);
  return svg;
}

export function button(name, label, onclick, extra = {}) {
  return element("button", { type: "button", class: "icon", title: label, "aria-label": label, onclick, ...extra }, icon(name));
}
