// Requests to the service, with the key that this tab keeps.

const KEY = "belated-key";

/** A request that was refused, with the service's one sentence. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** Whether this tab has a key. */
export function hasKey() {
  return sessionStorage.getItem(KEY) !== null;
}

/** Keep a key until the tab is closed, or forget it. */
export function keepKey(key) {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

/** What the service answers; the key goes into the header and nowhere else. */
export async function call(method, path, body = null) {
  const key = sessionStorage.getItem(KEY),
    headers = key ? { Authorization: `Bearer ${key}` } : {};
  if (body !== null) headers["Content-Type"] = "application/json";
  const sent = body === null ? null : JSON.stringify(body);
  const given = { method, headers, body: sent, credentials: "omit", cache: "no-store" };
  const answer = await fetch(path, given).catch(() => {
    throw new Error("No answer from the service; nothing is known to have changed");
  });
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new Refused(answer.status, found.detail ?? `The service answered ${answer.status}`);
  return found;
}

/** The path of a problem. */
export function pathOf(name) {
  return `/v1/problems/${encodeURIComponent(name)}`;
}

/** Whether scopes such as admin:ads or admin:* allow to change a problem. */
export function mayChange(scopes, name) {
  return scopes.includes("admin:*") || scopes.includes(`admin:${name}`);
}

/** Whether scopes allow to create problems of some name. */
export function mayCreate(scopes) {
  return scopes.some(scope => scope.startsWith("admin:"));
}
