// What pages do beyond links and forms: keys, copying, and hearing of changes. Without it all
// pages can be read.
"use strict";

document.documentElement.classList.add("scripted");
const main = () => document.getElementById("main");
const search = document.getElementById("q");

// Keys: they do nothing while somebody types.
let at = -1, before = "";
function move(step) {
  const entries = [...main().querySelectorAll(".entry")];
  if (entries.length === 0) return;
  entries.forEach((e) => e.classList.remove("at"));
  at = Math.min(Math.max(at + step, 0), entries.length - 1);
  entries[at].classList.add("at");
  entries[at].scrollIntoView({ block: "nearest" });
  entries[at].querySelector("a")?.focus({ preventScroll: true });
  clearTimeout(choosing);
  if (wide.matches && entries[at].matches(".hits > :not([aria-current])")) choosing = setTimeout(() => entries[at].querySelector("a").click(), 120);
}
const wide = matchMedia("(min-width: 57rem)");
let choosing = 0; // the hit that the keys rest on is shown beside the others

// passage brings the lines that answered into view.
let shown = "";
function passage() {
  const beside = document.getElementById("beside"), at = beside?.querySelector(".passage"), name = beside?.querySelector(".provenance")?.textContent;
  if (!beside || name === shown) return;
  const isFirst = shown === "";
  shown = name;
  if (!wide.matches) return void (isFirst || (at || beside).scrollIntoView({ block: "center" }));
  beside.scrollTop = at ? at.getBoundingClientRect().top - beside.getBoundingClientRect().top + beside.scrollTop - beside.clientHeight / 4 : 0;
}
passage();
// What has changed comes in place of what was there: the mark stays where it was.
document.addEventListener("htmx:after:swap", () => {
  main().querySelectorAll(".entry")[at]?.classList.add("at");
  passage();
});
function go(letter) {
  const all = [...document.querySelectorAll('header nav a:not(.brand, [href="/search"])')]; // that one has a key
  all.find((a) => a.textContent.trim().toLowerCase().startsWith(letter))?.click();
}
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target.matches("input, textarea, select")) {
    if (e.key === "Escape") e.target.blur();
    return;
  }
  const was = before;
  before = e.key;
  if (was === "g" && e.key.length === 1) go(e.key);
  else if (e.key === "/") search.focus();
  else if (e.key === "j") move(1);
  else if (e.key === "k") move(-1);
  else if (e.key === "?") document.getElementById("keys").showModal();
  else return;
  e.preventDefault();
});

document.addEventListener("click", async (e) => {
  const copy = e.target.closest(".copy");
  if (e.target.id === "help") document.getElementById("keys").showModal();
  if (!copy) return;
  await navigator.clipboard.writeText(copy.dataset.copy);
  const label = copy.textContent;
  copy.textContent = "Copied";
  setTimeout(() => { copy.textContent = label; }, 1200);
});

// Changes: one page of the browser holds the stream, and tells the others. A page that is not
// looked at waits until it is.
const news = new BroadcastChannel("filebus");
const live = document.getElementById("live");
let stale = false;
function changed() {
  if (document.hidden) { stale = true; return; }
  stale = false;
  document.body.dispatchEvent(new CustomEvent("filebus:changed"));
}
// An answer for where the page was, when it has gone elsewhere meanwhile, is asked for again.
document.addEventListener("htmx:after:request", (e) => {
  const { sourceElement, request } = e.detail.ctx;
  const here = new URL(main().getAttribute("hx-get"), location);
  if (sourceElement !== main() || request.action === here.pathname + here.search) return;
  e.preventDefault();
  changed();
});
news.onmessage = (e) => (e.data === "changed" ? changed() : (live.textContent = e.data));
function tell(what) {
  news.postMessage(what);
  news.onmessage({ data: what });
}
document.addEventListener("visibilitychange", () => { if (!document.hidden && stale) changed(); });
let lost = false;
function listen() {
  const stream = new EventSource("/events");
  stream.onmessage = () => tell("changed");
  stream.onerror = () => {
    lost = true;
    tell("The server does not answer");
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 5000); // it was refused: perhaps for now
  };
  stream.onopen = () => { tell("Live"); if (lost) tell("changed"); lost = false; };
}
navigator.locks.request("filebus-events", () => new Promise(listen)).catch(() => {}); // the page is left
