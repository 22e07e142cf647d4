// The dashboard: asks the service every few seconds, and shows the problem that the address names.

import { fill, html } from "./elements.js";
import { Panels } from "./panels.js";
import { clock, number } from "./formatting.js";
import { newProblem } from "./new_problem.js";
import { call, hasKey, keepKey, mayChange, mayCreate, pathOf, Refused } from "./service.js";

const EVERY = 3000,
  PATIENCE = 5; // ms between two looks; times as long as one took
const RANGE = "belated-range"; // what this tab remembers of the choice of a range
const EXPLAINED_EVERY = 20; // looks after which it is asked again what takes longer to find out
const NEW = "+new"; // in the address, where the form of a new problem is; no problem has this name
const NONE = "There are no problems yet. “belated problems create” makes one.";
const NOT_ALLOWED = "This key does not allow to create problems.";
const at = id => document.getElementById(id);
const isGuarded = document.body.dataset.guarded === "yes";
const now = { panels: null, name: null, paused: false, timer: 0, seen: null, turn: 0, looks: 0 };

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
  keepKey(null);
  for (const id of ["problems", "problem", "new", "forget", "pause"]) at(id).hidden = true;
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

function list(problems, broken, chosen, isCreator) {
  const all = [
    ...problems.map(each => [each.name, standing(each)]),
    ...broken.map(({ name }) => [name, "cannot be served"]),
  ];
  at("problems").hidden = all.length === 0 && !isCreator;
  at("to-new").hidden = !isCreator;
  if (chosen === NEW) at("to-new").setAttribute("aria-current", "page");
  else at("to-new").removeAttribute("aria-current");
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

/** Show the form of a new problem, which stays as it is until it is left. */
function showNew(isShown) {
  if (isShown && at("new").firstChild === null) {
    const opened = newProblem(name => {
      location.hash = `#/${encodeURIComponent(name)}`;
    });
    at("new").replaceChildren(opened);
    at("new").hidden = false;
    opened.querySelector("input").focus();
  }
  if (!isShown) at("new").replaceChildren();
  at("new").hidden = !isShown;
}

function range() {
  return sessionStorage.getItem(RANGE) ?? "all";
}

function chooseRange(value) {
  sessionStorage.setItem(RANGE, value);
  now.looks = 0;
  watch();
}

/** What takes longer to find out, and is therefore asked for less often. */
async function explained(asked, stats) {
  const [{ moves }, beliefs, uplift] = await Promise.all([
    asked(`moves?range=${range()}`),
    asked("beliefs"),
    stats.holdout === null ? null : asked("uplift").catch(() => null),
  ]);
  return { moves, beliefs, uplift };
}

/** One look at the service. */
async function look(turn) {
  const { problems, broken, scopes } = await call("GET", "/v1/problems");
  const isNew = wanted() === NEW,
    isCreator = mayCreate(scopes);
  const name = isNew ? null : (wanted() ?? problems[0]?.name ?? broken[0]?.name ?? null);
  const fault = broken.find(each => each.name === name);
  const asked = what => call("GET", `${pathOf(name)}/${what}`);
  const stats = name === null || fault ? null : await asked(`stats?range=${range()}`);
  if (now.name !== name) now.looks = 0;
  const isExplained = stats !== null && now.looks % EXPLAINED_EVERY === 0;
  const reasons = isExplained ? await explained(asked, stats) : null;
  if (turn !== now.turn) return;
  at("key").hidden = true;
  at("pause").hidden = false;
  at("forget").hidden = !isGuarded;
  list(problems, broken, isNew ? NEW : name, isCreator);
  showNew(isNew && isCreator);
  at("problem").hidden = stats === null;
  if (fault) message(`${name} cannot be served: ${fault.reason}. All others go on.`);
  else if (isNew) message(isCreator ? "" : NOT_ALLOWED);
  else message(stats === null ? NONE : "");
  if (stats !== null) {
    const given = { changed: watch, chosen: range(), choose: chooseRange };
    if (now.name !== name) now.panels = new Panels(at("problem"), stats.name, given);
    now.panels.show(stats, mayChange(scopes, name));
    if (reasons !== null) now.panels.explain(reasons);
    now.looks++;
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
    showNew(false);
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
  if (isGuarded && !hasKey()) return askForKey("");
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
  keepKey(at("key-input").value.trim());
  at("key-input").value = "";
  watch();
});
addEventListener("hashchange", () => wanted() !== null && watch());
document.addEventListener("visibilitychange", () => document.hidden || now.paused || watch());
new ResizeObserver(
  () => now.panels && now.name !== null && now.panels.again(),
).observe(at("content"));
watch();
