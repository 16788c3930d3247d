"use strict";
(() => {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = getComputedStyle(root).getPropertyValue("--paper").trim() !== "#ffffff";
    root.dataset.theme = dark ? "light" : "dark";
  });
  const rows = [...document.querySelectorAll("#verdicts tbody tr")];
  const buttons = [...document.querySelectorAll("#filter button")];
  const filter = (verdict) => {
    for (const row of rows) row.hidden = verdict !== "all" && row.dataset.verdict !== verdict;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.show === verdict));
  };
  for (const each of document.querySelectorAll("[data-show]")) each.addEventListener("click", () => filter(each.dataset.show));
  const follow = () => {
    const row = location.hash.startsWith("#claim-") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row) return;
    filter("all");
    row.querySelector("details").open = true;
    row.scrollIntoView();
  };
  filter("all");
  follow();
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details")) each.open = true; });
  const drawings = JSON.parse(document.getElementById("data").textContent) || [];
  if (!drawings.length) return;
  const svg = document.getElementById("drawing");
  const width = 720, margin = 46;
  const make = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    svg.appendChild(element);
    return element;
  };
  const gathered = (points, place) => {
    const found = new Map();
    for (const point of points) {
      const [x, y] = place(point), key = x.toFixed(1) + " " + y.toFixed(1);
      const before = found.get(key);
      found.set(key, before ? { x, y, count: before.count + 1 } : { x, y, count: 1 });
    }
    return [...found.values()];
  };
  const show = (index) => {
    const each = drawings[index];
    const near = [...each.honest, each.mean, each.output];
    const everything = [...near, ...each.byzantine];
    const size = (points, axis) => Math.max(...points.map((point) => Math.abs(point[axis])));
    const far = [0, 1].some((axis) => size(everything, axis) > 20 * (Math.max(size(near, 0), size(near, 1)) || 1));
    const reach = (axis) => (far ? size(near, axis) * 2 : size(everything, axis));
    const flat = everything.every((point) => Math.abs(point[1]) < 1e-12);
    const height = flat ? 150 : 320;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const room = (extent, axis) => (reach(axis) ? (extent / 2 - margin) / reach(axis) : Infinity);
    const fits = Math.min(room(width, 0), flat ? Infinity : room(height, 1));
    const scale = Number.isFinite(fits) ? fits : 1;
    const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value));
    const place = ([x, y]) => [width / 2 + clamp(x * scale, width / 2 - 16), height / 2 - clamp(y * scale, height / 2 - 16)];
    svg.replaceChildren();
    make("line", { x1: 16, x2: width - 16, y1: height / 2, y2: height / 2, stroke: "currentColor", "stroke-opacity": 0.25 });
    const [mx, my] = place(each.mean), [ox, oy] = place(each.output);
    const angle = Math.atan2(oy - my, ox - mx), lift = flat ? -34 : 0;
    make("line", { x1: mx, y1: my + lift, x2: ox, y2: oy + lift, class: "error" });
    if (Math.hypot(ox - mx, oy - my) > 2) {
      const tip = (turn) => [ox - 10 * Math.cos(angle + turn), oy + lift - 10 * Math.sin(angle + turn)].join(",");
      make("polygon", { points: [`${ox},${oy + lift}`, tip(0.4), tip(-0.4)].join(" "), class: "error" });
    }
    const label = (point, up) => {
      if (point.count > 1) make("text", { x: point.x, y: point.y + up, "text-anchor": "middle", "font-size": 13, fill: "currentColor" }, String(point.count));
    };
    for (const point of gathered(each.honest, place)) {
      make("circle", { cx: point.x, cy: point.y, r: 6, "fill-opacity": 0.85, class: "honest" });
      label(point, 24);
    }
    for (const point of gathered(each.byzantine, place)) {
      const { x, y } = point;
      make("polygon", { points: `${x},${y - 9} ${x - 8},${y + 6} ${x + 8},${y + 6}`, "fill-opacity": 0.85, class: "byzantine" });
      label(point, -14);
    }
    make("path", { d: `M${mx - 8},${my}h16M${mx},${my - 8}v16`, class: "mean" });
    make("rect", { x: ox - 6, y: oy - 6, width: 12, height: 12, class: "output" });
    document.getElementById("place").textContent = String(index + 1);
    document.getElementById("title").textContent = each.title + ":";
    document.getElementById("facts").textContent = `${each.rule}, n = ${each.n}, f = ${each.f}, d = ${each.d}, ratio ${each.ratio}` +
      (each.projected ? ", first two principal components" : "") + (far ? ", far vectors drawn at the edge" : "") + ".";
    document.getElementById("file").setAttribute("href", each.file);
    document.getElementById("replay").textContent = "kappaguard replay " + each.file;
  };
  const slider = document.getElementById("slider");
  slider.addEventListener("input", () => show(Number(slider.value)));
  show(0);
})();
