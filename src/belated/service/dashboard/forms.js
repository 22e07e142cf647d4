// Forms: fields with a label, a hint and the place for the service's sentence about them.

import { html } from "./elements.js";

let made = 0; // ids are unique on the page

/** A field of a form: `read` gives what is sent for it, or undefined if it is not given. */
export class Field {
  constructor(name, label, control, { hint = "", read = null, beside = [], words = name } = {}) {
    const id = `field-${++made}`;
    this.name = name;
    this.words = words; // by which the service's sentences name it
    this.control = control;
    this.read = read ?? (() => control.value.trim() || undefined);
    this.error = html("p", { id: `${id}-error`, class: "error", role: "alert" });
    this.hint = html("small", { id: `${id}-hint` }, hint);
    control.id = id;
    control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
    this.element = html(
      "div",
      { class: "field" },
      html("label", { for: id }, label),
      html("div", { class: "row" }, control, ...beside),
      this.hint,
      this.error,
    );
  }

  /** Say what is wrong with it; nothing: it is well. */
  say(words) {
    this.error.textContent = words;
    if (words === "") this.control.removeAttribute("aria-invalid");
    else this.control.setAttribute("aria-invalid", "true");
  }
}

/** An input for a text or a number; the service judges what was typed. */
export function input(attributes = {}) {
  return html("input", { autocomplete: "off", spellcheck: "false", ...attributes });
}

/** A choice among [value, words]. */
export function choice(options, attributes = {}) {
  return html(
    "select",
    attributes,
    ...options.map(([value, words]) => html("option", { value }, words)),
  );
}

/** A number that was typed; as text if it is none, so that the service says what is wrong. */
export function numberIn(text) {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

/** Where a sentence names a field. */
function placeOf(field, sentence) {
  const found = sentence.search(new RegExp(`(^|[^a-z_])(${field.words})([^a-z_]|$)`));
  return found < 0 ? Infinity : found;
}

/** The field that a sentence of the service is about: "what it is; what it must be". */
function meant(fields, sentence) {
  const [fact, ...rules] = sentence.split("; ");
  const named = words => fields.filter(field => placeOf(field, words) < Infinity);
  const facts = named(fact),
    ruled = named(rules.join("; "));
  if (facts.length === 1 || ruled.length === 0) return facts[0] ?? null;
  return ruled[0];
}

/** A form that sends its fields, and shows beside a field what the service says of it. */
export class Form {
  constructor(fields, submit, send, cancel = null) {
    this.fields = fields;
    this.send = send;
    this.isSending = false;
    this.error = html("p", { class: "error", role: "alert" });
    this.button = html("button", { type: "submit", class: "main" }, submit);
    const buttons = [this.button];
    if (cancel !== null) {
      const leave = html("button", { type: "button" }, "Cancel");
      leave.addEventListener("click", cancel);
      buttons.push(leave);
    }
    const rest = fields.filter(field => field.isRare);
    this.more = html("details", {}, html("summary", {}, "More"), ...rest.map(f => f.element));
    this.element = html(
      "form",
      { novalidate: "" },
      ...fields.filter(field => !field.isRare).map(field => field.element),
      ...(rest.length ? [this.more] : []),
      this.error,
      html("div", { class: "row buttons" }, ...buttons),
    );
    this.element.addEventListener("submit", event => {
      event.preventDefault();
      this.submit();
    });
  }

  async submit() {
    if (this.isSending) return;
    for (const field of this.fields) field.say("");
    this.error.textContent = "";
    this.isSending = true; // the button stays as it is, for it may have the focus
    try {
      await this.send(this.values());
    } catch (error) {
      this.say(error.message);
    } finally {
      this.isSending = false;
    }
  }

  /** What is sent: the fields that are given. */
  values() {
    const given = this.fields.map(field => [field.name, field.read()]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }

  /** Show a sentence beside its field, which gets the focus. */
  say(sentence) {
    const field = meant(this.fields, sentence);
    if (field === null) {
      this.error.textContent = sentence;
      return;
    }
    if (field.isRare) this.more.open = true;
    field.say(sentence);
    field.control.focus();
  }
}

/** Ask before what cannot be undone; whether it was confirmed. */
export function confirmed(question, consequence, yes) {
  const title = html("h3", { id: "confirm-title" }, question);
  const go = html("button", { type: "button", class: "grave" }, yes);
  const stay = html("button", { type: "button", autofocus: "" }, "Cancel");
  const dialog = html(
    "dialog",
    { "aria-labelledby": "confirm-title", "aria-describedby": "confirm-words" },
    title,
    html("p", { id: "confirm-words" }, consequence),
    html("div", { class: "row" }, stay, go),
  );
  return new Promise(resolve => {
    let answer = false;
    go.addEventListener("click", () => {
      answer = true;
      dialog.close();
    });
    stay.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
