// The picture of the knowledge: places come from the server, here they are only drawn. It is drawn
// when something changes, and never moves by itself.
"use strict";

(() => {
  let canvas, graph, view, colours, found = -1, asked = false;
  const many = 2000; // lines that are drawn at once
  const kinds = ["pattern", "gotcha", "decision", "insight"];
  const said = (text) => { document.getElementById("graph-said").textContent = text; };

  async function load() {
    const was = view && canvas?.dataset.from;
    canvas = document.getElementById("graph");
    if (!canvas) return;
    const answer = await fetch(canvas.dataset.from);
    if (!answer.ok) return said(await answer.text());
    graph = await answer.json();
    const byID = new Map(graph.nodes.map((n, i) => [n.id, i]));
    for (const e of graph.edges) {
      e.from = byID.get(e.from);
      e.to = byID.get(e.to);
      e.stated = !["tags", "task", "files"].includes(e.type);
    }
    const weight = graph.nodes.map(() => 0);
    for (const e of graph.edges) { weight[e.from]++; weight[e.to]++; }
    graph.order = graph.nodes.map((_, i) => i).sort((a, b) => weight[b] - weight[a]);
    found = -1;
    canvas.onpointerdown = drag;
    canvas.onpointermove = hover;
    canvas.onclick = open;
    canvas.onkeydown = key;
    canvas.onwheel = wheel;
    size(was === canvas.dataset.from);
  }

  // size takes the room there is, and shows all, or again what was looked at.
  function size(again) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    colours = {};
    for (const e of document.querySelectorAll(".legend .kind")) colours[e.className.slice(5)] = getComputedStyle(e).color;
    colours.text = getComputedStyle(canvas).color;
    if (again) redraw();
    else show(graph.clusters);
  }

  // show moves the view so that some circles fill it.
  function show(circles) {
    if (circles.length === 0) return;
    const low = (f) => Math.min(...circles.map(f)), x = low((c) => c.x - c.r), y = low((c) => c.y - c.r);
    const w = -low((c) => -c.x - c.r) - x, h = -low((c) => -c.y - c.r) - y;
    const k = Math.min(canvas.width / w, canvas.height / h, 6);
    view = { k, x: canvas.width / 2 - (x + w / 2) * k, y: canvas.height / 2 - (y + h / 2) * k };
    redraw();
  }

  function zoom(by, x = canvas.width / 2, y = canvas.height / 2) {
    const k = Math.min(Math.max(view.k * by, 0.01), 20);
    view = { k, x: x - (x - view.x) * k / view.k, y: y - (y - view.y) * k / view.k };
    redraw();
  }

  function redraw() {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  }

  function draw() {
    asked = false;
    if (!view) return;
    const to = canvas.getContext("2d"), { k } = view, r = Math.min(Math.max(4 * k, 1.5), 12);
    const at = graph.nodes.map((n) => [n.x * k + view.x, n.y * k + view.y]);
    const inside = ([x, y]) => x > -r && y > -r && x < canvas.width + r && y < canvas.height + r;
    to.clearRect(0, 0, canvas.width, canvas.height);
    to.lineWidth = 1;
    const seen = graph.edges.filter((e) => inside(at[e.from]) || inside(at[e.to]));
    const near = (e) => e.stated || e.from === found || e.to === found || graph.nodes[e.from].in === graph.nodes[e.to].in;
    for (const stated of [false, true]) {
      if (!stated && seen.length > many) continue; // zoomed in there are fewer
      to.beginPath();
      for (const e of seen) if (e.stated === stated && near(e)) { to.moveTo(...at[e.from]); to.lineTo(...at[e.to]); }
      to.strokeStyle = stated ? colours.stated : colours.shared;
      to.globalAlpha = stated ? 1 : 0.35;
      to.stroke();
    }
    to.globalAlpha = 1;
    for (const kind of [...kinds, "other", "old"]) {
      to.beginPath();
      graph.nodes.forEach((n, i) => {
        if (kindOf(n) !== kind || !inside(at[i])) return;
        to.moveTo(at[i][0] + r, at[i][1]);
        to.arc(...at[i], r, 0, 7);
      });
      to.fillStyle = colours[kind];
      to.fill();
    }
    label(to, at, r);
  }

  // label writes the tags of clusters, and the titles of entries once there is room for them.
  function label(to, at, r) {
    const px = 12 * (window.devicePixelRatio || 1);
    to.font = `${px}px system-ui, sans-serif`;
    to.textAlign = "center";
    to.fillStyle = colours.text;
    to.strokeStyle = getComputedStyle(document.body).backgroundColor;
    to.lineWidth = 3;
    let taken = []; // where there is a label already
    const nodes = at.filter(([x, y]) => x > -r && y > -px && x < canvas.width + r && y < canvas.height + px);
    const covers = (x, y, w) => nodes.some((n) => Math.abs(n[0] - x) < w + r && n[1] + r > y - 0.8 * px && n[1] - r < y + 0.25 * px);
    const write = (text, x, y, over = false) => {
      const w = to.measureText(text).width / 2;
      if (x < 0 || x > canvas.width || y < -px || y > canvas.height + px) return;
      [x, y] = [Math.min(Math.max(x, w), canvas.width - w), Math.min(Math.max(y, px), canvas.height - 4)];
      if (taken.some((o) => Math.abs(o.x - x) < o.w + w && Math.abs(o.y - y) < px) || !over && covers(x, y, w)) return;
      taken.push({ x, y, w });
      to.strokeText(text, x, y);
      to.fillText(text, x, y);
      return true;
    };
    for (const c of graph.clusters) {
      if (c.r * view.k <= 1.5 * px || graph.clusters.length === 1) continue;
      for (const side of [-1, 1, -1.2]) if (write(`${c.tag.slice(0, 24) || "other"} ${c.count}`, c.x * view.k + view.x, (c.y + side * c.r) * view.k + view.y + px / 2)) break;
    }
    const room = view.k > 1 ? graph.nodes.length : graph.nodes.length > 60 ? 0 : 12; // the most connected ones, all from near
    for (const i of graph.order.slice(0, room)) {
      const text = (graph.nodes[i].summary || graph.nodes[i].id).slice(0, 28);
      write(text, at[i][0], at[i][1] + r + px) || write(text, at[i][0], at[i][1] - r - px / 3);
    }
    if (found < 0) return;
    to.beginPath();
    to.arc(...at[found], r + 4, 0, 7);
    to.lineWidth = 2;
    to.strokeStyle = colours.text;
    to.stroke();
    to.lineWidth = 3;
    to.strokeStyle = getComputedStyle(document.body).backgroundColor;
    taken = [];
    const title = graph.nodes[found].summary.slice(0, 60), [x, y] = at[found];
    write(title, x, y - r - 6) || write(title, x, y + r + px) || write(title, x, y - r - 6, true); // it is asked for
  }

  const kindOf = (n) => (n.superseded_by ? "old" : kinds.includes(n.type) ? n.type : "other");
  const place = (e) => [e.offsetX * canvas.width / canvas.clientWidth, e.offsetY * canvas.height / canvas.clientHeight];

  function nearest(e) {
    const [px, py] = place(e), x = (px - view.x) / view.k, y = (py - view.y) / view.k;
    let best = -1, least = 14 / view.k;
    graph.nodes.forEach((n, i) => { const d = Math.hypot(n.x - x, n.y - y); if (d < least) { least = d; best = i; } });
    return { best, circle: graph.clusters.find((c) => Math.hypot(c.x - x, c.y - y) < c.r) };
  }

  function choose(i) {
    if (i === found) return;
    found = i;
    const n = graph.nodes[i];
    if (n) said(`${n.summary} (${n.type || "no type"}${n.superseded_by ? ", superseded" : ""})`);
    canvas.classList.toggle("over", i >= 0);
    redraw();
  }

  let from = null, moved = false;
  function drag(e) { from = [e.clientX, e.clientY]; moved = false; canvas.setPointerCapture(e.pointerId); }
  function hover(e) {
    if (!e.buttons || !from) return choose(nearest(e).best);
    const scale = canvas.width / canvas.clientWidth, dx = e.clientX - from[0], dy = e.clientY - from[1];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    from = [e.clientX, e.clientY];
    view.x += dx * scale;
    view.y += dy * scale;
    redraw();
  }
  // open goes to the entry that was clicked; from afar first to its cluster.
  function open(e) {
    const { best, circle } = nearest(e);
    if (moved) return;
    if (circle && view.k < 0.5 && graph.clusters.length > 1) show([circle]);
    else if (best >= 0) beside(graph.nodes[best].name);
  }
  // beside shows an entry below the picture; its heading leads to its page.
  async function beside(name) {
    const path = "/record?name=" + encodeURIComponent(name), room = document.getElementById("entry"), answer = await fetch(path);
    const record = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("article.record");
    if (!record || !room) return void (location.href = path);
    const link = Object.assign(document.createElement("a"), { href: path, textContent: "Open " + name });
    room.replaceChildren(link, ...record.querySelectorAll(".marks, .head, .markdown, .values, .source"));
    room.scrollIntoView({ block: "nearest" });
  }
  function wheel(e) { // else it scrolls the page
    if (!e.ctrlKey && document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(e.deltaY < 0 ? 1.2 : 1 / 1.2, ...place(e));
  }
  function key(e) {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
    if (step) { view.x += step[0]; view.y += step[1]; redraw(); }
    else if (e.key === "+" || e.key === "=") zoom(1.5);
    else if (e.key === "-") zoom(1 / 1.5);
    else if (e.key === "0") show(graph.clusters);
    else if (e.key === "Enter" && found >= 0) location.href = "/record?name=" + encodeURIComponent(graph.nodes[found].name);
    else return;
    e.preventDefault();
  }

  document.addEventListener("click", (e) => {
    const by = graph && e.target.dataset?.zoom;
    if (by) by === "0" ? show(graph.clusters) : zoom(Number(by));
  });
  document.addEventListener("focusin", (e) => { // of the table: j and k, too
    const name = graph && e.target.dataset?.node;
    if (name) choose(graph.nodes.findIndex((n) => n.name === name));
  });
  window.addEventListener("resize", () => { if (graph && canvas) size(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (graph && canvas) size(); });
  document.addEventListener("htmx:after:swap", load);
  load();
})();
