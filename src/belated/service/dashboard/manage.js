// What a key that allows it may change of a problem: its status and its terms.

import { html } from "./elements.js";
import { confirmed, Form } from "./forms.js";
import { call, pathOf } from "./service.js";
import { termFields } from "./terms.js";

const TERMS = ["expire_seconds", "expire_after", "default_loss"];
const FOR_GOOD =
  "It makes no more decisions, and this cannot be undone. Outcomes of earlier decisions still count, and all data is kept.";
const EXPIRE_FOR_GOOD =
  "From now on tickets expire. The time can be changed later, but expiry cannot be removed again.";

function expires({ expire_seconds: seconds, expire_after: rounds }) {
  return Number.isFinite(seconds) || Number.isFinite(rounds);
}

/** The buttons and the form of terms, for one problem. */
export class Manage {
  constructor(name, changed) {
    this.name = name;
    this.changed = changed; // called after each change, to look again
    this.turn = this.button("Pause this problem", () => this.setStatus(this.next));
    this.edit = this.button("Change terms", () => this.openTerms());
    this.end = this.button("Archive this problem", () => this.archive());
    this.edit.setAttribute("aria-expanded", "false");
    this.error = html("p", { class: "error", role: "alert" });
    this.done = html("p", { class: "done", role: "status" });
    this.place = html("div", { class: "form" });
    this.element = html(
      "div",
      { class: "manage" },
      html("div", { class: "row" }, this.turn, this.edit, this.end),
      this.error,
      this.done,
      this.place,
    );
  }

  button(words, does) {
    const made = html("button", { type: "button" }, words);
    made.addEventListener("click", does);
    return made;
  }

  /** Show what may be done now. */
  show(stats, isAllowed) {
    this.stats = stats;
    this.element.hidden = !isAllowed || stats.status === "archived";
    this.next = stats.status === "paused" ? "resume" : "pause";
    const words = this.next === "resume" ? "Resume this problem" : "Pause this problem";
    if (this.turn.textContent !== words) this.turn.textContent = words;
  }

  async attempt(work, said) {
    this.error.textContent = this.done.textContent = "";
    try {
      await work();
      this.done.textContent = said;
    } catch (error) {
      this.error.textContent = error.message;
    }
    await this.changed();
  }

  setStatus(verb) {
    const said = { pause: "Paused: it makes no decisions.", resume: "Resumed." };
    return this.attempt(() => call("POST", `${pathOf(this.name)}/${verb}`), said[verb] ?? "");
  }

  async archive() {
    if (await confirmed(`Archive ${this.name} for good?`, FOR_GOOD, "Archive for good"))
      await this.setStatus("archive");
  }

  openTerms() {
    if (this.place.firstChild) return this.closeTerms();
    const form = new Form(
      termFields(this.stats),
      "Save the terms",
      given => this.saveTerms(given),
      () => this.closeTerms(),
    );
    this.place.replaceChildren(form.element);
    this.edit.setAttribute("aria-expanded", "true");
    this.done.textContent = "";
    form.fields[0].control.focus();
  }

  closeTerms() {
    this.place.replaceChildren();
    this.edit.setAttribute("aria-expanded", "false");
    this.edit.focus();
  }

  /** Send those terms that were changed; an error of the service goes to its field. */
  async saveTerms(given) {
    const wanted = Object.fromEntries(TERMS.map(term => [term, given[term] ?? null]));
    const changed = TERMS.filter(term => wanted[term] !== (this.stats[term] ?? null));
    if (!expires(this.stats) && expires(wanted)) {
      const question = `Let tickets of ${this.name} expire?`;
      if (!(await confirmed(question, EXPIRE_FOR_GOOD, "Let them expire"))) return;
    }
    if (changed.length > 0) {
      const terms = Object.fromEntries(changed.map(term => [term, wanted[term]]));
      await call("PATCH", pathOf(this.name), terms);
    }
    this.closeTerms();
    this.done.textContent = changed.length > 0 ? "The terms are saved." : "Nothing was changed.";
    await this.changed();
  }
}
