/** The errors of the client. Each has the sentence of the service as its message. */

/** Any error of this client. */
export class BelatedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The service refused or did not answer; `status` is the HTTP status of its answer, if any. */
export class ServiceError extends BelatedError {
  constructor(
    message: string,
    readonly status?: number,
    readonly requestId?: string,
  ) {
    super(message);
  }
}

/** The service could not be reached or could not commit, until the deadline. */
export class ServiceUnavailable extends ServiceError {}

/** The key is missing, not valid, or does not allow the request. */
export class NotAllowedError extends ServiceError {}

/** There is no problem of this name. */
export class UnknownProblemError extends ServiceError {}

/** The problem exists already, hands out no decisions now, or cannot be changed so. */
export class ProblemConflictError extends ServiceError {}

/** A value is of the wrong kind or outside of its range; the message names the value and the rule. */
export class InvalidValueError extends ServiceError {}

/** There is no ticket of this id. */
export class UnknownTicketError extends ServiceError {}

/** Another loss was told before, and the first report stands. */
export class ConflictError extends ServiceError {}

/** The ticket is cancelled or has expired, or it is told and cannot be cancelled. */
export class ClosedTicketError extends ServiceError {}

/** The statuses of a request that is fine and may be sent again. */
export const UNAVAILABLE: readonly number[] = [429, 502, 503, 504];

/** The body of a refusal (problem+json); `ticket` is filled in by the client. */
export interface Refusal {
  detail?: string;
  type?: string;
  state?: string;
  ticket?: string;
}

/** The error that an answer with this status and body stands for. */
export function errorOf(
  status: number,
  refusal: Refusal,
  requestId: string | undefined,
  cancelling = false,
): ServiceError {
  const kind = kindOf(status, refusal, cancelling);
  return new kind(refusal.detail || `the service answered ${status}`, status, requestId);
}

function kindOf(status: number, refusal: Refusal, cancelling: boolean): typeof ServiceError {
  if (status === 422) return InvalidValueError;
  if (status === 404 && refusal.ticket !== undefined) return UnknownTicketError;
  const closed = refusal.state === "cancelled" || refusal.state === "expired";
  if (status === 410 || closed || (refusal.state !== undefined && cancelling)) {
    return ClosedTicketError;
  }
  if (refusal.state !== undefined) return ConflictError;
  if (UNAVAILABLE.includes(status)) return ServiceUnavailable;
  if (status === 401 || status === 403) return NotAllowedError;
  if (refusal.type === "urn:belated:unknown") return UnknownProblemError;
  return status === 409 ? ProblemConflictError : ServiceError;
}
