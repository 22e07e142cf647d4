/** Sending one request, again and again if need be, until a deadline. */

import { errorOf, type Refusal, ServiceError, ServiceUnavailable, UNAVAILABLE } from "./errors.js";
import type { Json } from "./models.js";

/** How long a request may take in all, with all its attempts and the waits between them. */
export interface Patience {
  /** The deadline in milliseconds; 60,000 unless given. */
  deadlineMs?: number;
  /** The first wait between two attempts; 100 unless given. Each further wait is twice as long. */
  firstMs?: number;
  /** The longest wait; 5,000 unless given. The service may ask for a longer one (Retry-After). */
  mostMs?: number;
  /** Whether a service that cannot be connected to is waited for as well; true unless given. */
  reconnects?: boolean;
}

/** One request, and how its answer is read. */
export interface Call<T> {
  method: string;
  path: string;
  read: (body: Json) => T;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether sending it twice has the same effect as once; true unless given. */
  repeatable?: boolean;
  /** The least time in milliseconds that the service is given, whatever timeout and patience. */
  leastMs?: number;
  /** The ticket that it is about. */
  ticket?: string;
  cancelling?: boolean;
  /** Whether the answer is plain text, not JSON. */
  isText?: boolean;
}

/** Where requests go, and how. */
export interface Sender {
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  patience: Required<Patience>;
  fetch: typeof fetch;
}

interface Answer {
  status: number;
  text: string;
  requestId: string | undefined;
  retryAfterMs: number;
}

const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The patience that is meant by what was given of it. */
export function completed(given: Patience = {}): Required<Patience> {
  const patience = { deadlineMs: 60_000, firstMs: 100, mostMs: 5_000, reconnects: true, ...given };
  const { deadlineMs, firstMs, mostMs } = patience;
  if (!(deadlineMs > 0 && Number.isFinite(deadlineMs))) {
    throw new RangeError(`deadlineMs is ${deadlineMs}; it must be above 0 and finite`);
  }
  if (!(0 <= firstMs && firstMs <= mostMs && Number.isFinite(mostMs))) {
    throw new RangeError(
      `firstMs is ${firstMs} and mostMs is ${mostMs}; they must be finite, and 0 <= firstMs <= mostMs`,
    );
  }
  return patience;
}

/**
 * Send a call until it is answered or the deadline is over; its result, or the error it stands for.
 *
 * A call that may not be repeated has one attempt, with all the time there is.
 */
export async function send<T>(sender: Sender, call: Call<T>): Promise<T> {
  const { patience, timeoutMs } = sender;
  const repeatable = call.repeatable ?? true;
  const leastMs = call.leastMs ?? 0;
  const started = Date.now();
  const deadline = started + Math.max(patience.deadlineMs, leastMs);
  const limit = repeatable ? Math.max(timeoutMs, leastMs) : Infinity;
  for (let failures = 1; ; failures++) {
    let wait = waitAfter(failures, patience);
    try {
      const answer = await attempt(sender, call, Math.min(deadline - Date.now(), limit));
      wait = Math.max(wait, answer.retryAfterMs);
      if (!UNAVAILABLE.includes(answer.status) || Date.now() + wait >= deadline) {
        return result(call, answer);
      }
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const sent = !NOT_SENT.has(codeOf(error));
      const again = sent ? repeatable : patience.reconnects;
      if (!again || Date.now() + wait >= deadline) {
        throw new ServiceUnavailable(lost(call, failures, Date.now() - started, error, sent));
      }
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function attempt<T>(sender: Sender, call: Call<T>, limitMs: number): Promise<Answer> {
  const hasBody = call.body !== undefined;
  const answer = await sender.fetch(sender.url + call.path, {
    method: call.method,
    headers: {
      ...sender.headers,
      ...call.headers,
      ...(hasBody ? { "Content-Type": "application/json" } : {}),
    },
    signal: AbortSignal.timeout(Math.max(1, Math.ceil(limitMs))), // also ends the reading of the body
    ...(hasBody ? { body: JSON.stringify(call.body) } : {}),
  });
  return {
    status: answer.status,
    text: await answer.text(),
    requestId: answer.headers.get("x-request-id") ?? undefined,
    retryAfterMs: millisecondsOf(answer.headers.get("retry-after") ?? ""),
  };
}

function result<T>(call: Call<T>, answer: Answer): T {
  const { status, text, requestId } = answer;
  const isWell = status >= 200 && status < 300;
  if (isWell && call.isText) return call.read(text);
  const body = parsed(text);
  if (isWell && body !== undefined) return call.read(body);
  if (isWell) {
    throw new ServiceError(`the service answered ${status} without JSON`, status, requestId);
  }
  const refusal: Refusal = body !== null && typeof body === "object" ? body : {};
  const about = call.ticket === undefined ? {} : { ticket: call.ticket };
  throw errorOf(status, { ...refusal, ...about }, requestId, call.cancelling);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Shortened by a random part of up to a half, so that many clients do not come back together. */
function waitAfter(failures: number, patience: Required<Patience>): number {
  const longest = Math.min(patience.mostMs, patience.firstMs * 2 ** Math.min(failures - 1, 60));
  return (0.5 + 0.5 * Math.random()) * longest;
}

/** The wait that a Retry-After header asks for: seconds, or a date; otherwise 0. */
function millisecondsOf(retryAfter: string): number {
  if (/^\d+$/.test(retryAfter)) return 1000 * Number(retryAfter);
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? 0 : Math.max(0, date - Date.now());
}

function codeOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; errors?: { code?: string }[] } }).cause;
  return cause?.code ?? cause?.errors?.[0]?.code ?? "";
}

function lost(call: Call<unknown>, tries: number, ms: number, error: unknown, sent: boolean): string {
  const times = tries === 1 ? "once" : `${tries} times`;
  const reason = codeOf(error) || (error instanceof Error ? error.message : String(error));
  const fate = sent ? "; it may have been done" : "";
  const took = `${Number((ms / 1000).toPrecision(2))} s`;
  return `${call.method} ${call.path} was tried ${times} in ${took} and not answered: ${reason}${fate}`;
}
