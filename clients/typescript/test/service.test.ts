/** The client against a real service: the same list that the Python client passes. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  Client,
  ClosedTicketError,
  ConflictError,
  InvalidValueError,
  NotAllowedError,
  ProblemConflictError,
  ServiceError,
  UnknownProblemError,
  UnknownTicketError,
} from "../src/index.js";
import { newDatabase, newKey, Server } from "./server.js";

const NOBODY = "0".repeat(26);
const database = newDatabase();
let server: Server;
let address: string;
let client: Client;

before(async () => {
  server = new Server(database.path, "--no-auth");
  address = await server.address();
  client = new Client(address);
  await client.createProblem("ads", ["red", "green"]);
});

after(async () => {
  await server.end();
  database.remove();
});

test("a decision is asked for and told", async () => {
  const ticket = await client.ask("ads");
  assert.ok(ticket.arm === "red" || ticket.arm === "green");
  assert.ok(ticket.probability! > 0);
  const told = { ticket: ticket.id, counted: true, state: "told" };
  assert.deepEqual(await client.tell(ticket, { loss: 0.25 }), told);
  assert.deepEqual(await client.tell(ticket.id, { reward: 0.75 }), { ...told, counted: false });
  const unused = await client.ask("ads");
  const cancelled = { ticket: unused.id, counted: true, state: "cancelled" };
  assert.deepEqual(await client.cancel(unused), cancelled);
  assert.deepEqual(await client.cancel(unused), { ...cancelled, counted: false });
});

test("problems are typed", async () => {
  const made = await client.createProblem("prices", ["9", "12"], {
    learner: "partially-concealed",
    options: { horizon: 50, max_missing: 5 },
    lossRange: [0, 12],
    expireSeconds: 60,
    defaultLoss: 12,
  });
  assert.deepEqual([made.arms, made.lossRange, made.kind], [["9", "12"], [0, 12], "bandit"]);
  assert.ok((await client.tell(await client.ask("prices"), { loss: 3, missing: 0 })).counted);
  const found = await client.problem("prices");
  assert.deepEqual([found.round, found.pending], [1, 0]);
  const total = Object.values(found.weights).reduce((sum, weight) => sum + weight);
  assert.ok(Math.abs(total - 1) < 1e-9);
  await assert.rejects(client.changeArms("prices", { add: ["15"] }), ProblemConflictError);
  await client.createProblem("lineup", ["a", "b"], { learner: "uniform" });
  assert.deepEqual(await client.changeArms("lineup", { add: ["c"], remove: ["a"] }), ["b", "c"]);
  assert.equal((await client.changeTerms("prices", { expireAfter: 9 })).expireAfter, 9);
  const changed = await client.changeTerms("prices", { expireAfter: null, defaultLoss: 6 });
  assert.deepEqual([changed.expireAfter, changed.expireSeconds, changed.defaultLoss], [null, 60, 6]);
  const names = (await client.problems({ archived: true })).map((each) => each.name);
  assert.ok(names.includes("ads") && names.includes("prices"));
  await client.createProblem("weather", ["ecmwf", "gfs"], { kind: "experts" });
  const ticket = await client.ask("weather");
  assert.deepEqual(ticket.weights, { ecmwf: 0.5, gfs: 0.5 });
  assert.equal((await client.tell(ticket, { loss: 0.5, arm: "gfs" })).state, "pending");
});

test("a ticket has several outcomes, and a holdout its uplift", async () => {
  const made = await client.createProblem("orders", ["red", "green"], {
    softRange: [0, 100],
    holdout: { share: 0.5, arm: "red" },
    outcomes: { names: ["sale", "refund"], rule: "sum", reviseWithin: 3600 },
  });
  assert.deepEqual([made.softRange, made.holdout], [[0, 100], { share: 0.5, arm: "red" }]);
  assert.deepEqual([made.outcomes?.rule, made.outcomes?.reviseWithin], ["sum", 3600]);
  const ticket = await client.ask("orders");
  assert.ok((await client.tell(ticket, { outcome: "sale", reward: 40 })).counted);
  assert.ok((await client.tell(ticket, { outcome: "sale", reward: 45, revision: 1 })).counted);
  const { named } = await client.ticket(ticket);
  assert.deepEqual(named.map((each) => [each.reward, each.stands]), [[40, false], [45, true]]);
  assert.equal((await client.uplift("orders", { within: 60 })).waiting, 1);
});

test("a problem is paused, resumed, archived and deleted", async () => {
  await client.createProblem("season", ["a", "b"]);
  assert.equal(await client.pause("season"), "paused");
  await assert.rejects(client.ask("season"), ProblemConflictError);
  assert.equal(await client.resume("season"), "active");
  await client.ask("season", { key: "mine" });
  assert.equal(await client.forget("season", { olderThan: 0 }), 1);
  assert.equal((await client.log("season")).rows.length, 1);
  assert.equal(await client.archive("season"), "archived");
  assert.equal(await client.deleteProblem("season"), "deleted");
  await assert.rejects(client.problem("season"), UnknownProblemError);
});

test("batches answer one by one", async () => {
  const [first, second] = await client.askBatch("ads", 2, { key: "two" });
  const again = await client.askBatch("ads", 2, { key: "two" });
  assert.deepEqual(again, [first, second]);
  const results = await client.tellBatch([
    { ticket: first!, loss: 0.5 },
    { ticket: first!, loss: 0.75 },
    { ticket: NOBODY, loss: 0.5 },
    { ticket: second!, loss: 9 },
  ]);
  assert.deepEqual(results[0], { ticket: first!.id, counted: true, state: "told" });
  const kinds = results.slice(1).map((each) => each.constructor);
  assert.deepEqual(kinds, [ConflictError, UnknownTicketError, InvalidValueError]);
});

test("refusals are errors of one kind each", async () => {
  const ticket = await client.ask("ads");
  const refused = async (work: Promise<unknown>, kind: typeof ServiceError, sentence: RegExp) =>
    assert.rejects(work, (error) => error instanceof kind && sentence.test(error.message));
  await refused(client.tell(ticket, { loss: 1.5 }), InvalidValueError, /^loss is 1\.5; it must be in \[0, 1\]/);
  await refused(client.tell(ticket, { loss: NaN }), InvalidValueError, /^loss is NaN; it must be finite/);
  await client.tell(ticket, { loss: 0.5 });
  await refused(client.tell(ticket, { loss: 0.75 }), ConflictError, /the first report stands/);
  await refused(client.cancel(ticket), ClosedTicketError, /is told/);
  await refused(client.tell("../healthz", { loss: 0.5 }), UnknownTicketError, /./);
  await refused(client.ask("nothing"), UnknownProblemError, /nothing/);
  await refused(client.createProblem("ads", ["red"]), ProblemConflictError, /ads/);
  await client.createProblem("brief", ["a"], { expireAfter: 1, defaultLoss: 1 });
  const late = await client.ask("brief");
  await client.ask("brief");
  await refused(client.tell(late, { loss: 0.5 }), ClosedTicketError, /has expired/);
});

test("a ticket and the statistics can be read", async () => {
  await client.createProblem("shop", ["a"], { lossRange: [0, 15], expireAfter: 1, defaultLoss: 15 });
  const late = await client.ask("shop");
  const ticket = await client.ask("shop");
  await client.tell(ticket, { reward: 12 });
  await assert.rejects(client.tell(late, { reward: 9 }), ClosedTicketError);
  const found = await client.ticket(ticket);
  assert.deepEqual([found.ticket, found.problem, found.state], [ticket, "shop", "told"]);
  const { at: _, ...outcome } = found.outcomes[0]!;
  assert.deepEqual(outcome, { arm: "a", kind: "told", loss: 3, reward: 12, unitLoss: 0.2 });
  const expired = await client.ticket(late.id);
  assert.deepEqual([expired.outcomes[0]!.kind, expired.outcomes[0]!.unitLoss], ["expired", 1]);
  assert.deepEqual([expired.late[0]!.loss, expired.late[0]!.reward], [6, 9]);
  await assert.rejects(client.ticket(NOBODY), UnknownTicketError);
  assert.equal((await client.stats("shop")).late_reports, 1);
  assert.equal((await client.health()).status, "ok");
  assert.equal((await client.readiness()).status, "ready");
  assert.match(await client.metrics(), /belated_decisions_total/);
  assert.deepEqual((await client.verify()).findings ?? [], []);
});

test("the client has every route", async () => {
  const paths = (await (await fetch(`${address}/openapi.json`)).json()).paths;
  const routes = new Set<string>();
  for (const [path, methods] of Object.entries<Record<string, { tags: string[] }>>(paths)) {
    for (const [method, about] of Object.entries(methods)) {
      if (!about.tags.includes("rank and reward")) routes.add(`${method.toUpperCase()} ${path}`);
    }
  }
  const reached = new Set<string>();
  const noting: typeof fetch = async (url, init) => {
    const path = new URL(String(url)).pathname;
    for (const route of routes) {
      const [method, pattern] = route.split(" ") as [string, string];
      const fits = new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
      if (fits && method === init?.method) reached.add(route);
    }
    return new Response("{}", { status: 418 });
  };
  const spy = new Client(address, { fetch: noting });
  const samples: Record<string, unknown[]> = {
    createProblem: ["ads", ["a"]],
    tellBatch: [[{ ticket: NOBODY, loss: 0.5 }]],
    createKey: ["shop", ["ask:ads"]],
    changeArms: ["ads", {}],
  };
  for (const name of Object.getOwnPropertyNames(Client.prototype)) {
    if (name === "constructor") continue;
    const before = reached.size;
    const method = (spy as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[name]!;
    await assert.rejects(method.apply(spy, samples[name] ?? ["x", {}]), ServiceError);
    assert.equal(reached.size, before + 1, `${name} reaches no route of its own`);
  }
  assert.deepEqual([...reached].sort(), [...routes].sort());
});

test("contexts are sent", async () => {
  const features = { age: "number", device: ["phone", "desktop"] };
  const arms = ["red", "green", "blue"];
  await client.createProblem("banner", arms, { learner: "linear", features, minimumShare: 0.1 });
  const context = { age: 31, device: "phone" };
  const ticket = await client.ask("banner", { context, arms: ["red", "green"], allProbabilities: true });
  assert.deepEqual(Object.keys(ticket.probabilities!).sort(), ["green", "red"]);
  assert.deepEqual((await client.ticket(ticket)).ticket.context, context);
  assert.equal((await client.askBatch("banner", [context, null])).length, 2);
  await assert.rejects(client.ask("banner", { context: { age: "old" } }), /must be a number/);
  assert.equal(await client.forget("banner", { ticket, contexts: true }), 1);
  assert.equal((await client.ticket(ticket)).ticket.context, undefined);
});

test("many at once are told once each", async () => {
  const tickets = await Promise.all(Array.from({ length: 20 }, () => client.ask("ads")));
  assert.equal(new Set(tickets.map((each) => each.id)).size, 20);
  const told = await Promise.all([...tickets, ...tickets].map((each) => client.tell(each, { loss: 0.5 })));
  assert.equal(told.filter((each) => each.counted).length, 20);
});

test("keys are sent", async () => {
  const other = newDatabase();
  const key = await newKey(other.path, "ask:ads");
  const admin = await newKey(other.path, "admin:*");
  const guarded = new Server(other.path, "--log-level", "warning");
  try {
    const url = await guarded.address();
    await assert.rejects(new Client(url).problems(), NotAllowedError);
    const somebody = new Client(url, { key });
    assert.deepEqual(await somebody.problems(), []);
    await assert.rejects(somebody.createProblem("ads", ["a"]), (error) => {
      return error instanceof NotAllowedError && error.status === 403 && Boolean(error.requestId);
    });
    const all = new Client(url, { key: admin });
    const made = await all.createKey("shop", ["ask:ads"]);
    assert.equal((await all.keys()).length, 3);
    await all.revokeKey(made.id, { forget: true });
    await assert.rejects(new Client(url, { key: made.key }).problems(), NotAllowedError);
  } finally {
    await guarded.end();
    other.remove();
  }
});
