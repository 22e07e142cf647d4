/** Requests that are sent again: the same each time, until a deadline, and nothing done twice. */

import assert from "node:assert/strict";
import { createServer, type Server as Listener, type Socket } from "node:net";
import { test } from "node:test";

import { Client, ServiceError, ServiceUnavailable } from "../src/index.js";
import { newDatabase, Server } from "./server.js";

const HASTY = { deadlineMs: 300, firstMs: 10, mostMs: 10 };
const NOWHERE = "http://127.0.0.1:1";
const DECISION = '{"ticket": "7", "round": 1, "arm": "red", "probability": 0.5}';

async function listening(answer: (socket: Socket) => void): Promise<[Listener, string]> {
  const listener = createServer((socket) => {
    socket.on("error", () => undefined);
    answer(socket);
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const address = listener.address();
  assert.ok(address !== null && typeof address === "object");
  return [listener, `http://127.0.0.1:${address.port}`];
}

test("patience ends", async () => {
  const [listener, address] = await listening(() => undefined);
  await new Promise((done) => listener.close(done));
  const client = new Client(address, { patience: HASTY });
  await assert.rejects(client.ask("ads"), (error) => {
    return error instanceof ServiceUnavailable && /was tried (once|\d+ times) in .* and not answered: /.test(error.message);
  });
  const once = { ...HASTY, deadlineMs: 600_000, reconnects: false };
  await assert.rejects(new Client(address, { patience: once }).ask("ads"), (error) => {
    return error instanceof ServiceUnavailable && /was tried once in .* and not answered: ECONNREFUSED$/.test(error.message);
  });
  assert.throws(() => new Client("127.0.0.1:8080"), /must begin with http/);
  assert.throws(() => new Client(address, { patience: { deadlineMs: 0 } }), /^RangeError: deadlineMs is 0;/);
});

test("a deadline is for the whole answer", async (t) => {
  const [listener, address] = await listening((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n");
    const drip = setInterval(() => socket.write(" "), 20);
    socket.on("close", () => clearInterval(drip));
  });
  t.after(() => listener.close());
  const client = new Client(address, { patience: { deadlineMs: 500 } });
  await assert.rejects(client.createProblem("ads", ["a"]), (error) => {
    return error instanceof ServiceUnavailable && /tried once in .* it may have been done$/.test(error.message);
  });
});

test("what is sent again is the same", async (t) => {
  const came: string[] = [];
  const [listener, address] = await listening((socket) => {
    socket.on("data", (data) => {
      came.push(String(data));
      if (came.length === 1) return void socket.destroy();
      const [status, body] = came.length === 2 ? ["503 Busy", ""] : ["200 OK", DECISION];
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    });
  });
  t.after(() => listener.close());
  const client = new Client(address, { patience: { ...HASTY, deadlineMs: 600_000 } });
  assert.equal((await client.ask("ads")).id, "7");
  const keys = came.map((request) => /idempotency-key: (\w+)/i.exec(request)?.[1]);
  assert.ok(keys.length === 3 && keys[0] !== undefined);
  assert.equal(new Set(keys).size, 1);
  came.length = 0;
  await assert.rejects(client.createProblem("ads", ["a"]), /it may have been done/);
  assert.equal(came.length, 1);
});

test("an attempt has its time", async () => {
  let attempts = 0;
  const silentOnce: typeof fetch = (_, init) => {
    if (++attempts > 1) return Promise.resolve(new Response(DECISION));
    return new Promise((_, fail) => {
      const busy = setInterval(() => undefined, 1000); // a signal's own timer keeps no process alive
      init!.signal!.addEventListener("abort", () => {
        clearInterval(busy);
        fail(init!.signal!.reason);
      });
    });
  };
  const options = { timeoutMs: 50, patience: { ...HASTY, deadlineMs: 600_000 } };
  assert.equal((await new Client(NOWHERE, { ...options, fetch: silentOnce }).ask("ads")).id, "7");
  assert.equal(attempts, 2); // the first was given up after its 50 ms
  attempts = 0;
  const slow: typeof fetch = async (_, init) => {
    attempts++;
    await new Promise((done) => setTimeout(done, 200));
    init!.signal!.throwIfAborted();
    return new Response("{}", { status: 418 });
  };
  const made = new Client(NOWHERE, { ...options, fetch: slow }).createProblem("ads", ["a"]);
  await assert.rejects(made, (error) => error instanceof ServiceError && error.status === 418);
  assert.equal(attempts, 1); // it must not be sent twice, so it has all the time there is
});

test("the service may ask for a longer wait", async () => {
  for (const [header, leastMs] of [["1", 990], ["soon", 0]] as const) {
    const times: number[] = [];
    const busyOnce: typeof fetch = async () => {
      times.push(Date.now());
      if (times.length > 1) return new Response(DECISION);
      return new Response("", { status: 503, headers: { "Retry-After": header } });
    };
    const options = { patience: { ...HASTY, deadlineMs: 600_000 }, fetch: busyOnce };
    assert.equal((await new Client(NOWHERE, options).ask("ads")).id, "7");
    assert.ok(times[1]! - times[0]! >= leastMs);
  }
});

test("a wait that the service asks for beyond the deadline ends it", async (t) => {
  const [listener, address] = await listening((socket) => {
    socket.on("data", () =>
      socket.end("HTTP/1.1 503 Busy\r\nRetry-After: 9999\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    );
  });
  t.after(() => listener.close());
  const client = new Client(address, { timeoutMs: 600_000, patience: { deadlineMs: 600_000 } });
  await assert.rejects(client.ask("ads"), (error) => error instanceof ServiceUnavailable && error.status === 503);
});

test("nothing is decided twice while the service is killed", async (t) => {
  const database = newDatabase();
  let server = new Server(database.path, "--no-auth");
  t.after(async () => {
    await server.end();
    database.remove();
  });
  const address = await server.address();
  const patience = { deadlineMs: 600_000, firstMs: 20, mostMs: 500 };
  const client = new Client(address, { patience });
  await client.createProblem("ads", ["a", "b"]);
  const each = 20;
  const tickets = new Map<string, string>();
  const play = async (player: number) => {
    for (let number = 0; number < each; number++) {
      const key = `${player}-${number}`;
      const ticket = await client.ask("ads", { key });
      tickets.set(key, ticket.id);
      await client.tell(ticket, { loss: 0.5 });
    }
  };
  const players = [0, 1, 2].map(play);
  while (tickets.size < each) await new Promise((done) => setTimeout(done, 5));
  await server.end("SIGKILL");
  server = new Server(database.path, "--no-auth", "--port", address.slice(address.lastIndexOf(":") + 1));
  await Promise.all(players);
  const problem = await client.problem("ads");
  assert.equal(new Set(tickets.values()).size, 3 * each);
  assert.deepEqual([problem.round, problem.pending], [3 * each, 0]);
  assert.equal((await client.ask("ads", { key: "2-7" })).id, tickets.get("2-7"));
});
