/** The service as users run it, in a process of its own on a port of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PYTHON = process.env["BELATED_PYTHON"] ?? "python3";
const SECONDS = 600; // by then whatever hangs is ended

export class Server {
  #log = "";
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;

  constructor(database: string, ...options: string[]) {
    const command = ["-m", "belated", "serve", "--db", database, "--port", "0", ...options];
    const env = { ...process.env, BELATED_COMPILE: "never" };
    this.#process = spawn(PYTHON, command, { stdio: ["ignore", "inherit", "pipe"], env });
    this.#process.stderr?.on("data", (data) => (this.#log += data));
    this.#exit = once(this.#process, "exit");
  }

  /** Where it listens, once it does. */
  async address(): Promise<string> {
    for (const until = Date.now() + 1000 * SECONDS; Date.now() < until; ) {
      const found = /Serving on (http:\/\/\S+) /.exec(this.#log)?.[1];
      if (found !== undefined) return found;
      if (this.#process.exitCode !== null) break;
      await new Promise((done) => setTimeout(done, 20));
    }
    throw new Error(`the service did not start: ${this.#log}`);
  }

  /** End it, as a user would or without warning. */
  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    this.#process.kill(signal);
    await this.#exit;
  }
}

/** A path for a database in a folder of its own, which `remove` takes away. */
export function newDatabase(): { path: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "belated-client-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { path: join(folder, "belated.db"), remove };
}

/** Make an API key in a database, as the command line does. */
export async function newKey(database: string, ...scopes: string[]): Promise<string> {
  const options = scopes.flatMap((scope) => ["-s", scope]);
  const command = ["-m", "belated", "keys", "create", "x", ...options, "--db", database];
  const made = spawn(PYTHON, command, { stdio: ["ignore", "pipe", "inherit"] });
  let key = "";
  made.stdout.on("data", (data) => (key += data));
  await once(made, "close");
  return key.trim();
}
