/** What the client sends and receives, in the words of the service. */

export type TicketState = "pending" | "told" | "expired" | "cancelled";
export type ProblemStatus = "active" | "paused" | "archived";

/** What is known of a round: values by name, as numbers, text, booleans, lists and objects. */
export type Context = Readonly<Record<string, unknown>>;

/** How decisions are asked for. */
export interface AskOptions {
  /** The same key gets the same decisions again. */
  key?: string;
  /** The arms that may be drawn; by default all. */
  arms?: readonly string[];
  /** Features of arms by name, for `linear-shared`; only these arms may be drawn. */
  actions?: Readonly<Record<string, Context | null>>;
  /** Whether tickets have the probabilities of all arms. */
  allProbabilities?: boolean;
}

/**
 * A decision: a bandit's has an arm and its probability, one over experts has all weights. The
 * probabilities are those of all arms that could be drawn, if they were asked for; the context is
 * shown to admins who read a ticket.
 */
export interface Ticket {
  readonly id: string;
  readonly round: number;
  readonly arm?: string;
  readonly probability?: number;
  readonly weights?: Readonly<Record<string, number>>;
  readonly probabilities?: Readonly<Record<string, number>>;
  readonly context?: Context;
}

/** The answer to a report; `counted` is false if the same report was counted before. */
export interface Feedback {
  readonly ticket: string;
  readonly counted: boolean;
  readonly state: TicketState;
}

/** When tickets of a problem expire, and the loss that an expired play counts with. */
export interface Terms {
  /** Rounds after which a ticket expires. */
  expireAfter?: number | null;
  /** Seconds after which a ticket expires. */
  expireSeconds?: number | null;
  /** The loss of a play that never reports, in the problem's units. */
  defaultLoss?: number | null;
}

/** The share of decisions that a control draws: one arm, or by weights, or else uniformly. */
export interface Holdout {
  share: number;
  arm?: string | null;
  weights?: Readonly<Record<string, number>> | null;
}

/** The outcomes that a ticket may have, and the rule that makes one reward of them. */
export interface OutcomeRule {
  names: readonly string[];
  rule: "first" | "last" | "sum" | "max" | "weighted";
  /** Of each name, if the rule is weighted. */
  weights?: Readonly<Record<string, number>> | null;
  /** Seconds after the first outcome of a ticket, when the learner is told. */
  reviseWithin: number;
}

/** A problem to be created. */
export interface NewProblem extends Terms {
  kind?: "bandit" | "experts";
  learner?: string;
  options?: Record<string, unknown>;
  lossRange?: readonly [number, number];
  /** Instead of lossRange: what lies out of it is clipped for the learner. */
  softRange?: readonly [number, number];
  holdout?: Holdout;
  outcomes?: OutcomeRule;
  /** For learners with contexts: how many numbers, or names, or kinds by name. */
  features?: number | readonly string[] | Readonly<Record<string, string | readonly unknown[]>>;
  /** For learners with contexts: text is hashed into 2^hashBits coordinates. */
  hashBits?: number;
  /** The least probability of every arm that may be drawn. */
  minimumShare?: number;
}

/** A problem: its specification, status, round, open tickets, and the weights of its arms. */
export interface Problem {
  readonly name: string;
  readonly status: ProblemStatus;
  readonly kind: "bandit" | "experts";
  readonly arms: readonly string[];
  readonly learner: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly lossRange: readonly [number, number];
  readonly expireAfter: number | null;
  readonly expireSeconds: number | null;
  readonly defaultLoss: number | null;
  readonly softRange: readonly [number, number] | null;
  readonly holdout: Readonly<Holdout> | null;
  readonly outcomes: Readonly<OutcomeRule> | null;
  readonly created: number;
  readonly round: number;
  readonly pending: number;
  readonly weights: Readonly<Record<string, number>>;
}

/** What a play has lost or earned, in the problem's units. Give one of loss and reward. */
export interface Outcome {
  loss?: number;
  reward?: number;
  /** How many losses of the arm were missing, for a partially concealed learner. */
  missing?: number;
  /** The arm, for experts, who are told the loss of every arm. */
  arm?: string;
  /** Which of several outcomes of the ticket this is. */
  outcome?: string;
  /** The highest revision of an outcome stands; 0 if none is given. */
  revision?: number;
}

/** The outcome of a ticket, for a batch of reports. */
export interface Report extends Outcome {
  ticket: Ticket | string;
}

/** What was told of an arm after its ticket had expired; `unitLoss` is the loss in [0, 1]. */
export interface LateReport {
  readonly arm: string;
  readonly loss: number | null;
  readonly reward: number | null;
  readonly unitLoss: number | null;
  readonly at: number;
}

/** What became of an arm of a ticket; an expired one has the loss that it counts with. */
export interface TicketOutcome extends LateReport {
  readonly kind: "told" | "expired" | "cancelled";
}

/** One of several outcomes of a ticket; it stands unless a higher revision replaces it. */
export interface NamedReport {
  readonly outcome: string;
  readonly revision: number;
  readonly reward: number;
  readonly at: number;
  readonly stands: boolean;
}

/** A ticket: its decision, its state, its outcomes, and what was told too late. */
export interface TicketDetails {
  readonly ticket: Ticket;
  readonly problem: string;
  readonly at: number;
  readonly state: TicketState;
  readonly outcomes: readonly TicketOutcome[];
  readonly named: readonly NamedReport[];
  readonly late: readonly LateReport[];
}

/** JSON that was parsed: its fields are read by name below, and nowhere else. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

/** A range of time up to now, by the time of decisions. */
export type TimeRange = "hour" | "day" | "week" | "all";

export function readTicket(view: Json): Ticket {
  const ticket = { id: view.ticket, round: view.round };
  if (view.arm == null) return { ...ticket, weights: view.weights };
  const { arm, probability, probabilities, context } = view;
  const more = {
    ...(probabilities != null && { probabilities }),
    ...(context != null && { context }),
  };
  return { ...ticket, arm, probability, ...more };
}

export function readFeedback(view: Json): Feedback {
  return { ticket: view.ticket, counted: view.counted, state: view.state };
}

export function readProblem(view: Json): Problem {
  return {
    name: view.name,
    status: view.status,
    kind: view.kind,
    arms: view.arms,
    learner: view.learner,
    options: view.options,
    lossRange: view.loss_range,
    expireAfter: view.expire_after,
    expireSeconds: view.expire_seconds,
    defaultLoss: view.default_loss,
    softRange: view.soft_range ?? null,
    holdout: view.holdout ?? null,
    outcomes: view.outcomes ? readRule(view.outcomes) : null,
    created: view.created,
    round: view.round,
    pending: view.pending,
    weights: view.weights,
  };
}

function readRule({ names, rule, weights, revise_within: reviseWithin }: Json): OutcomeRule {
  return { names, rule, weights, reviseWithin };
}

export function readDetails(view: Json): TicketDetails {
  return {
    ticket: readTicket(view),
    problem: view.problem,
    at: view.at,
    state: view.state,
    outcomes: view.outcomes.map((each: Json) => ({ kind: each.kind, ...readLate(each) })),
    named: view.named ?? [],
    late: view.late.map(readLate),
  };
}

function readLate(view: Json): LateReport {
  const { arm, loss, reward, unit_loss: unitLoss, at } = view;
  return { arm, loss, reward, unitLoss, at };
}
