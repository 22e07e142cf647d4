/** The client of the decision service: a method for each of its routes. */

import { errorOf, InvalidValueError, type ServiceError } from "./errors.js";
import {
  type AskOptions,
  type Context,
  type Feedback,
  type Json,
  type NewProblem,
  type Outcome,
  type OutcomeRule,
  type Problem,
  type ProblemStatus,
  readDetails,
  readFeedback,
  readProblem,
  readTicket,
  type Report,
  type Terms,
  type Ticket,
  type TicketDetails,
  type TimeRange,
} from "./models.js";
import { type Call, completed, type Patience, send, type Sender } from "./sending.js";

export interface ClientOptions {
  /** An API key, made by `belated keys create`. */
  key?: string;
  /** How long one attempt may take, in milliseconds; 10,000 unless given. */
  timeoutMs?: number;
  /** How long all attempts at a request may take, and the waits between them. */
  patience?: Patience;
  /** Another `fetch` than the global one. */
  fetch?: typeof fetch;
}

const FOLDING = 3_600_000; // milliseconds that reading or folding a whole journal may take

/**
 * Asks a decision service for decisions and tells it their outcomes.
 *
 * A request is sent again if the service cannot be reached, cannot commit, or does not answer in
 * time, until the deadline of `patience`. Repeated requests carry the same Idempotency-Key, and a
 * ticket is told once, so nothing is decided or counted twice.
 */
export class Client {
  readonly #sender: Sender;

  constructor(url: string, options: ClientOptions = {}) {
    if (!/^https?:\/\//.test(url)) {
      throw new RangeError(`url is '${url}'; it must begin with http:// or https://`);
    }
    this.#sender = {
      url: url.replace(/\/+$/, ""),
      headers: options.key === undefined ? {} : { Authorization: `Bearer ${options.key}` },
      timeoutMs: options.timeoutMs ?? 10_000,
      patience: completed(options.patience),
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    };
  }

  /** One decision. The same `key` gets the same decision again; without one, each call is new. */
  ask(problem: string, options: AskOptions & { context?: Context } = {}): Promise<Ticket> {
    const { context, arms, actions } = options;
    const known = { context, arms, actions };
    return this.#send({
      method: "POST",
      path: `${pathOf(problem)}/ask${allOf(options)}`,
      read: readTicket,
      body: Object.values(known).every((each) => each === undefined) ? undefined : known,
      headers: keyed(options.key),
    });
  }

  /** Several decisions at once: so many, or one for each context. */
  askBatch(
    problem: string,
    what: number | readonly (Context | null)[],
    options: AskOptions = {},
  ): Promise<Ticket[]> {
    const meant = typeof what === "number" ? { count: what } : { contexts: what };
    return this.#send({
      method: "POST",
      path: `${pathOf(problem)}/ask:batch${allOf(options)}`,
      read: (body) => body.decisions.map(readTicket),
      body: { ...meant, arms: options.arms, actions: options.actions },
      headers: keyed(options.key),
    });
  }

  /** Report the outcome of a ticket; `counted` may be false if an earlier attempt has counted. */
  async tell(ticket: Ticket | string, outcome: Outcome): Promise<Feedback> {
    const id = idOf(ticket);
    const body = bodyOf(outcome);
    return this.#send({ method: "POST", path: `${pathTo(id)}/tell`, read: readFeedback, body, ticket: id });
  }

  /** Report several outcomes: for each its feedback, or the error that `tell` would throw. */
  async tellBatch(reports: readonly Report[]): Promise<(Feedback | ServiceError)[]> {
    const bodies = reports.map(({ ticket, ...outcome }) => ({ ticket: idOf(ticket), ...bodyOf(outcome) }));
    return this.#send({
      method: "POST",
      path: "/v1/tell:batch",
      read: (body) => body.results.map(readResult),
      body: { reports: bodies },
    });
  }

  /** Close a ticket whose decision was not used; nothing is learned from it. */
  cancel(ticket: Ticket | string): Promise<Feedback> {
    const id = idOf(ticket);
    const path = `${pathTo(id)}/cancel`;
    return this.#send({ method: "POST", path, read: readFeedback, ticket: id, cancelling: true });
  }

  /** A ticket: its decision, its state, its outcomes, and what was told too late. */
  ticket(ticket: Ticket | string): Promise<TicketDetails> {
    const id = idOf(ticket);
    return this.#send({ method: "GET", path: pathTo(id), read: readDetails, ticket: id });
  }

  /** Create a problem; the request is not repeated if it may have reached the service. */
  createProblem(name: string, arms: readonly string[], terms: NewProblem = {}): Promise<Problem> {
    const { kind, learner, options, lossRange, softRange, holdout } = terms;
    const { features, hashBits, minimumShare } = terms;
    const ranges = { loss_range: lossRange, soft_range: softRange };
    const contextual = { features, hash_bits: hashBits, minimum_share: minimumShare };
    const rest = { holdout, outcomes: ruleOf(terms.outcomes), ...contextual, ...termsOf(terms) };
    const body = { name, arms, kind, learner, options, ...ranges, ...rest };
    return this.#send({ method: "POST", path: "/v1/problems", read: readProblem, body, repeatable: false });
  }

  /** All problems that the key allows to see; archived ones only if wanted. */
  problems(options: { archived?: boolean } = {}): Promise<Problem[]> {
    const path = options.archived ? "/v1/problems?archived=true" : "/v1/problems";
    return this.#send({ method: "GET", path, read: (body) => body.problems.map(readProblem) });
  }

  /** A problem: its specification, status, round, open tickets and weights. */
  problem(name: string): Promise<Problem> {
    return this.#send({ method: "GET", path: pathOf(name), read: readProblem });
  }

  /** Add arms to a problem and remove others; the arms that it has then. */
  changeArms(
    name: string,
    change: { add?: readonly string[]; remove?: readonly string[] },
  ): Promise<string[]> {
    const body = { add: change.add ?? [], remove: change.remove ?? [] };
    return this.#send({ method: "POST", path: `${pathOf(name)}/arms`, read: (view) => view.arms, body });
  }

  /** Change when tickets expire, and with which loss; null takes a term away. */
  changeTerms(name: string, terms: Terms): Promise<Problem> {
    return this.#send({ method: "PATCH", path: pathOf(name), read: readProblem, body: termsOf(terms) });
  }

  /** Hand out no decisions of a problem for now; its status. */
  pause(name: string): Promise<ProblemStatus> {
    return this.#send({ method: "POST", path: `${pathOf(name)}/pause`, read: (view) => view.status });
  }

  /** Hand out decisions of a problem again; its status. */
  resume(name: string): Promise<ProblemStatus> {
    return this.#send({ method: "POST", path: `${pathOf(name)}/resume`, read: (view) => view.status });
  }

  /** Hand out no decisions of a problem ever again; its status. */
  archive(name: string): Promise<ProblemStatus> {
    return this.#send({ method: "POST", path: `${pathOf(name)}/archive`, read: (view) => view.status });
  }

  /** Delete a problem that is archived, with all its rows, for good. */
  deleteProblem(name: string): Promise<string> {
    return this.#send({ method: "DELETE", path: pathOf(name), read: (view) => view.status });
  }

  /**
   * Blank the idempotency key of one decision, or of all older than so many seconds, and if that is
   * wanted their contexts; how many decisions had any.
   */
  forget(
    name: string,
    what: { ticket?: Ticket | string; olderThan?: number; contexts?: boolean },
  ): Promise<number> {
    const ticket = what.ticket === undefined ? undefined : idOf(what.ticket);
    return this.#send({
      method: "POST",
      path: `${pathOf(name)}/forget`,
      read: (view) => view.forgotten,
      body: { ticket, older_than: what.olderThan, contexts: what.contexts },
      leastMs: FOLDING,
    });
  }

  /**
   * A problem with all its statistics: losses and delays by arm, weights over time, events.
   * Its `range` and `weights_over_time` are of the decisions of a range of time.
   */
  stats(name: string, range: TimeRange = "all"): Promise<Json> {
    return this.#send({ method: "GET", path: `${pathOf(name)}/stats?range=${range}`, read: asItIs });
  }

  /** Why the weights moved: the largest changes of a range of time, and what happened meanwhile. */
  moves(name: string, range: TimeRange = "all"): Promise<Json> {
    return this.#send({ method: "GET", path: `${pathOf(name)}/moves?range=${range}`, read: asItIs });
  }

  /** What a learner with contexts believes of each feature; its `arms` are null for others. */
  beliefs(name: string): Promise<Json> {
    return this.#send({ method: "GET", path: `${pathOf(name)}/beliefs`, read: asItIs });
  }

  /** The journal of a problem: the arms it was created with, `columns` and `rows`. */
  log(name: string): Promise<Json> {
    return this.#send({ method: "GET", path: `${pathOf(name)}/log`, read: asItIs, leastMs: FOLDING });
  }

  /**
   * What the learner has earned more than the control of the holdout, valid at every look.
   * `within` is the seconds after which silence is final, if tickets do not expire: a week. `by`
   * is a field of the context, for the uplift of each segment.
   */
  uplift(name: string, options: { within?: number; by?: string } = {}): Promise<Json> {
    const query = new URLSearchParams();
    if (options.within !== undefined) query.set("within", String(options.within));
    if (options.by !== undefined) query.set("by", options.by);
    const path = `${pathOf(name)}/uplift${query.size ? `?${query}` : ""}`;
    return this.#send({ method: "GET", path, read: asItIs, leastMs: FOLDING });
  }

  /** Fold the whole journal again, and compare it with the states in use. */
  verify(): Promise<Json> {
    return this.#send({ method: "POST", path: "/v1/verify", read: asItIs, leastMs: FOLDING });
  }

  /** Whether the service lives, its version and its database. */
  health(): Promise<Json> {
    return this.#send({ method: "GET", path: "/healthz", read: asItIs });
  }

  /** Whether the service carries out requests; ServiceUnavailable if it does not. */
  readiness(): Promise<Json> {
    return this.#send({ method: "GET", path: "/readyz", read: asItIs });
  }

  /** The numbers for Prometheus, as text. */
  metrics(): Promise<string> {
    return this.#send({ method: "GET", path: "/metrics", read: asItIs, isText: true });
  }

  /** Make an API key, shown this once; not repeated if the request may have been received. */
  createKey(label: string, scopes: readonly string[]): Promise<Json> {
    const body = { label, scopes };
    return this.#send({ method: "POST", path: "/v1/keys", read: asItIs, body, repeatable: false });
  }

  /** All API keys without their secrets, including revoked ones. */
  keys(): Promise<Json[]> {
    return this.#send({ method: "GET", path: "/v1/keys", read: (view) => view.keys });
  }

  /** Revoke the API key with this id, and blank its label if that is to be forgotten. */
  revokeKey(id: string, options: { forget?: boolean } = {}): Promise<Json> {
    const path = `/v1/keys/${encodeURIComponent(id)}${options.forget ? "?forget=true" : ""}`;
    return this.#send({ method: "DELETE", path, read: asItIs });
  }

  #send<T>(call: Call<T>): Promise<T> {
    return send(this.#sender, call);
  }
}

function readResult(view: Json): Feedback | ServiceError {
  return "status" in view ? errorOf(view.status, view, undefined) : readFeedback(view);
}

function asItIs(body: Json): Json {
  return body;
}

function idOf(ticket: Ticket | string): string {
  return typeof ticket === "string" ? ticket : ticket.id;
}

/** The body of a report. JSON would make null of a number that is not finite. */
function bodyOf(outcome: Outcome): Record<string, unknown> {
  for (const name of ["loss", "reward"] as const) {
    const value = outcome[name];
    if (value !== undefined && !Number.isFinite(value)) {
      throw new InvalidValueError(`${name} is ${value}; it must be finite`);
    }
  }
  const { loss, reward, missing, arm, outcome: name, revision } = outcome;
  return { loss, reward, missing, arm, outcome: name, revision };
}

function ruleOf(rule: OutcomeRule | undefined): Record<string, unknown> | undefined {
  if (rule === undefined) return undefined;
  const { names, rule: which, weights, reviseWithin } = rule;
  return { names, rule: which, weights, revise_within: reviseWithin };
}

/** The part of an address that asks for the probabilities of all arms. */
function allOf(options: AskOptions): string {
  return options.allProbabilities ? "?all=true" : "";
}

function termsOf(terms: Terms): Record<string, number | null | undefined> {
  return {
    expire_after: terms.expireAfter,
    expire_seconds: terms.expireSeconds,
    default_loss: terms.defaultLoss,
  };
}

/** The header by which repeated requests get the same decision. */
function keyed(key: string | undefined): Record<string, string> {
  return { "Idempotency-Key": key ?? newKey() };
}

/** A new key with 80 random bits; keys rise with time, which keeps the store's index fast. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return Date.now().toString(16).padStart(12, "0") + random;
}

function pathOf(problem: string): string {
  return `/v1/problems/${encodeURIComponent(problem)}`;
}

function pathTo(ticket: string): string {
  return `/v1/tickets/${encodeURIComponent(ticket)}`;
}
