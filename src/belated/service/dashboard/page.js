// The dashboard: asks the service every few seconds, and shows the problem that the address names.

import { fill, html } from "./elements.js";
import { Panels } from "./panels.js";
import { clock, number } from "./formatting.js";

const EVERY = 3000,
  PATIENCE = 5,
  KEY = "belated-key"; // ms between two looks; times as long as one took
const NONE = "There are no problems yet. “belated problems create” makes one.";
const at = id => document.getElementById(id);
const isGuarded = document.body.dataset.guarded === "yes";
const now = { panels: null, name: null, paused: false, timer: 0, seen: null, turn: 0 };

class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** What the service answers; the key goes into the header and nowhere else. */
async function get(path) {
  const key = sessionStorage.getItem(KEY),
    headers = key ? { Authorization: `Bearer ${key}` } : {};
  const answer = await fetch(path, { headers, credentials: "omit", cache: "no-store" });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new Refused(answer.status, body.detail ?? `The service answered ${answer.status}`);
  return body;
}

/** The problem that the address names. */
function wanted() {
  return location.hash.startsWith("#/") ? decodeURIComponent(location.hash.slice(2)) : null;
}

function say(words, isTrouble = false) {
  fill(at("status"), words, made => made);
  at("status").classList.toggle("trouble", isTrouble);
}

function message(words) {
  fill(at("message"), words, made => made);
  at("message").hidden = words === "";
}

/** Ask for a key, as there is none that works. */
function askForKey(why) {
  sessionStorage.removeItem(KEY);
  for (const id of ["problems", "problem", "forget", "pause"]) at(id).hidden = true;
  message("");
  fill(at("key-error"), why, made => made);
  at("key").hidden = false;
  at("key-input").focus();
  say("Waiting for a key");
}

/** What the list says of a problem, in a few words. */
function standing({ status, pending }) {
  const waiting = `${number(pending)} waiting`;
  return status === "active" ? waiting : `${status}, ${waiting}`;
}

function list(problems, broken, chosen) {
  const all = [
    ...problems.map(each => [each.name, standing(each)]),
    ...broken.map(({ name }) => [name, "cannot be served"]),
  ];
  at("problems").hidden = all.length === 0;
  const shown = all.map(([name, words]) => [name, words, name === chosen]);
  const held = document.activeElement?.closest?.("#problems a")?.getAttribute("href");
  fill(at("problems").querySelector("ul"), shown, () =>
    shown.map(([name, words, isChosen]) => {
      const link = html(
        "a",
        { href: `#/${encodeURIComponent(name)}` },
        html("span", {}, name),
        html("small", {}, words),
      );
      if (isChosen) link.setAttribute("aria-current", "page");
      return html("li", {}, link);
    }),
  );
  if (held && !document.activeElement?.closest?.("#problems a")) {
    [...document.querySelectorAll("#problems a")]
      .find(link => link.getAttribute("href") === held)
      ?.focus();
  }
}

/** One look at the service. */
async function look(turn) {
  const { problems, broken } = await get("/v1/problems");
  const name = wanted() ?? problems[0]?.name ?? broken[0]?.name ?? null;
  const fault = broken.find(each => each.name === name);
  const path = `/v1/problems/${encodeURIComponent(name)}/stats`;
  const stats = name === null || fault ? null : await get(path);
  if (turn !== now.turn) return;
  at("key").hidden = true;
  at("pause").hidden = false;
  at("forget").hidden = !isGuarded;
  list(problems, broken, name);
  at("problem").hidden = stats === null;
  if (fault) message(`${name} cannot be served: ${fault.reason}. All others go on.`);
  else message(stats === null ? NONE : "");
  if (stats !== null) {
    if (now.name !== name) now.panels = new Panels(at("problem"));
    now.panels.show(stats);
    document.title = `${name} · belated`;
  }
  now.name = name;
  now.seen = Date.now() / 1000;
  say("Live");
}

function trouble(error) {
  if (error instanceof Refused && error.status === 401) return askForKey(error.message);
  if (error instanceof Refused && (error.status === 404 || error.status === 403)) {
    at("problem").hidden = true;
    now.name = null;
    message(error.message);
    return say("Live");
  }
  const since = now.seen === null ? "" : ` since ${clock(now.seen, 1)}`;
  say(
    error instanceof Refused ? error.message : `No answer from the service${since}; trying again`,
    true,
  );
}

/** Look now, then again: slowly where a look takes long, not at all where nobody looks. */
async function watch() {
  clearTimeout(now.timer);
  const turn = ++now.turn;
  if (isGuarded && sessionStorage.getItem(KEY) === null) return askForKey("");
  const started = performance.now();
  await look(turn).catch(error => turn === now.turn && trouble(error));
  if (turn !== now.turn || !at("key").hidden || now.paused || document.hidden) return;
  now.timer = setTimeout(watch, Math.max(EVERY, PATIENCE * (performance.now() - started)));
}

at("pause").addEventListener("click", () => {
  now.paused = !now.paused;
  at("pause").setAttribute("aria-pressed", String(now.paused));
  if (!now.paused) return void watch();
  clearTimeout(now.timer);
  say(`Paused at ${clock(Date.now() / 1000, 1)}`);
});
at("forget").addEventListener("click", () => {
  now.turn++;
  clearTimeout(now.timer);
  askForKey("");
});
at("key").addEventListener("submit", event => {
  event.preventDefault();
  sessionStorage.setItem(KEY, at("key-input").value.trim());
  at("key-input").value = "";
  watch();
});
addEventListener("hashchange", () => wanted() !== null && watch());
document.addEventListener("visibilitychange", () => document.hidden || now.paused || watch());
new ResizeObserver(
  () => now.panels && now.name !== null && now.panels.show(now.panels.stats),
).observe(at("content"));
watch();
