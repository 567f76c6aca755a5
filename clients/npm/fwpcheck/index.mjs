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
  async ask(method, path, body, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const url = this.control + path + (given.length ? "?" + new URLSearchParams(given) : "");
    const reply = await fetch(url, { method, body: body === undefined ? body : JSON.stringify(body) });
    const answer = await reply.json();
    if (reply.status === 417) assert.fail(answer.differences.join("\n"));
    if (!reply.ok) throw new Error(answer.error);
    return answer;
  }

  /** Returns the jobs that the server has, or those of a queue. */
  jobs(query) { return this.ask("GET", "/v1/jobs", undefined, query); }

  /** Pushes jobs, and returns their ids. */
  async push(...jobs) { return (await this.ask("POST", "/v1/jobs", jobs)).jids; }

  /** Returns what clients did: a worker, with a verb, about a queue, after the entry with a number. */
  journal(query) { return this.ask("GET", "/v1/journal", undefined, query); }

  /** Throws an AssertionError unless clients did what is expected. */
  async verify(expected) { await this.ask("POST", "/v1/verify", expected); }

  /** Has the server answer commands otherwise. */
  async stub(stub) { await this.ask("POST", "/v1/stubs", stub); }

  /** Returns the stubs, and how often each was used. */
  stubs() { return this.ask("GET", "/v1/stubs"); }

  async removeStubs() { await this.ask("DELETE", "/v1/stubs"); }

  /** Returns the planted bugs. */
  bugs() { return this.ask("GET", "/v1/bugs"); }

  /** Replaces the planted bugs by others, names or rules. Without one there are none. */
  async setBugs(...bugs) { await this.ask("PUT", "/v1/bugs", bugs); }

  /** Closes all connections now. */
  async disconnect() { await this.ask("POST", "/v1/disconnect"); }

  /** Returns the time of the server. */
  async clock() { return new Date((await this.ask("GET", "/v1/clock")).now); }

  /** Sets the clock forward: "30m". */
  async advance(by) { await this.ask("POST", "/v1/clock", { advance: by }); }

  /** Sets the clock to a Date; back only while the server has no jobs. */
  async setClock(to) { await this.ask("POST", "/v1/clock", { set: to }); }

  /** Answers the next BEAT of a worker, or of all, with quiet. */
  async quiet(worker) { await this.ask("POST", "/v1/quiet", { worker }); }

  /** Answers the next BEAT of a worker, or of all, with terminate. */
  async terminate(worker) { await this.ask("POST", "/v1/terminate", { worker }); }

  /** Removes jobs, signals, stubs, planted bugs and the journal, or, with { queue }, the jobs and the journal of a queue. */
  async reset(only) { await this.ask("POST", "/v1/reset", only && { ...only, queue: only.queue ?? null }); }

  /** Ends the server, and returns what it says about its clients. One that does not end in 30 s is killed. */
  async close() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const over = once(this.process, "close");
      const timer = setTimeout(() => this.process.kill("SIGKILL"), 30_000);
      this.process.stdin.end();
      await over;
      clearTimeout(timer);
      if (this.process.signalCode === "SIGKILL") throw new Error("fwpcheck serve did not end in 30 s, and was killed");
    }
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
