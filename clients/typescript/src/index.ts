/**
 * Client of the belated decision service.
 *
 * - `Client`: a method for each route of the service.
 * - `Ticket`, `Feedback`, `Problem`, ...: what the service answers.
 * - `ServiceError` and its kinds: what it refuses.
 */
export { Client, type ClientOptions } from "./client.js";
export {
  BelatedError,
  ClosedTicketError,
  ConflictError,
  InvalidValueError,
  NotAllowedError,
  ProblemConflictError,
  ServiceError,
  ServiceUnavailable,
  UnknownProblemError,
  UnknownTicketError,
} from "./errors.js";
export type {
  AskOptions,
  Context,
  Feedback,
  Holdout,
  LateReport,
  NamedReport,
  NewProblem,
  Outcome,
  OutcomeRule,
  Problem,
  ProblemStatus,
  Report,
  Terms,
  Ticket,
  TicketDetails,
  TicketOutcome,
  TicketState,
  TimeRange,
} from "./models.js";
export type { Patience } from "./sending.js";
