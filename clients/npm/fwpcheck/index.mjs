// Starts and controls `fwpcheck serve`, a server of the Faktory Work Protocol for tests.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A server of its own, which serves until close. */
export class Double {
  constructor(process, lines, url, control) {
    Object.assign(this, { process, url, control, summary: [] });
    lines.on("line", (line) => this.summary.push(line));
  }

  /** Sends a request to the control, and returns its answer. */
  async ask(method, path, body) {
    const reply = await fetch(this.control + path, { method, body: body === undefined ? body : JSON.stringify(body) });
    const answer = await reply.json();
    if (reply.status === 417) assert.fail(answer.differences.join("\n"));
    if (!reply.ok) throw new Error(answer.error);
    return answer;
  }

  /** Returns the jobs that the server has. */
  jobs() { return this.ask("GET", "/v1/jobs"); }

  /** Pushes jobs, and returns their ids. */
  async push(...jobs) { return (await this.ask("POST", "/v1/jobs", jobs)).jids; }

  /** Returns what clients did. */
  journal() { return this.ask("GET", "/v1/journal"); }

  /** Throws an AssertionError unless clients did what is expected. */
  async verify(expected) { await this.ask("POST", "/v1/verify", expected); }

  /** Has the server answer commands otherwise. */
  async stub(stub) { await this.ask("POST", "/v1/stubs", stub); }

  /** Sets the clock forward: "30m". */
  async advance(by) { await this.ask("POST", "/v1/clock", { advance: by }); }

  /** Sets the clock forward to a Date. */
  async setClock(to) { await this.ask("POST", "/v1/clock", { set: to.toISOString() }); }

  async quiet(worker = "") { await this.ask("POST", "/v1/quiet", { worker }); }

  async terminate(worker = "") { await this.ask("POST", "/v1/terminate", { worker }); }

  /** Removes jobs, signals, stubs, planted bugs and the journal. */
  async reset() { await this.ask("POST", "/v1/reset"); }

  /** Ends the server, and returns what it says about its clients. */
  async close() {
    const over = this.process.exitCode === null ? once(this.process, "close") : undefined;
    this.process.stdin.end();
    await over;
    return this.summary.join("\n");
  }
}

/** Starts a server, and sets FAKTORY_URL unless env is false. It ends with this process at the latest. */
export async function serve({ extension = "faktory", args = [], program, env = true } = {}) {
  const command = program || process.env.FWPCHECK || "fwpcheck";
  const all = ["serve", ...(extension ? ["--extension", extension] : []), ...args];
  const child = spawn(command, all, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  const ready = await new Promise((resolve, reject) => {
    lines.once("line", resolve);
    child.once("error", (error) => reject(error.code !== "ENOENT" ? error :
      new Error(`${command} is not there: put fwpcheck on the PATH, or its place into FWPCHECK`)));
    child.once("exit", (code) => reject(new Error(`${command} ${all.join(" ")} ended with exit code ${code}`)));
  });
  const [, url, control] = ready.split(" ");
  if (env) {
    process.env.FAKTORY_URL = url;
    delete process.env.FAKTORY_PROVIDER; // it may name another variable
  }
  return new Double(child, lines, url, control);
}
