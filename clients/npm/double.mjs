// How the tests of an application use `fwpcheck serve`: it pushes two jobs with npm's
// faktory-worker, one of them for tomorrow, works both without waiting, and has the
// server verify what happened. See docs/test-double.md.
//
//   FWPCHECK=/path/to/fwpcheck node double.mjs

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const DAY = 24 * 60 * 60 * 1000;

const double = spawn(process.env.FWPCHECK || "fwpcheck", ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface(double.stdout);
const [, url, control] = (await new Promise((resolve) => lines.once("line", resolve))).split(" ");
lines.on("line", (line) => console.log(line)); // what it prints at the end
process.env.FAKTORY_URL = url; // which faktory-worker reads when it is imported
const { default: faktory } = await import("faktory-worker");

/** Asks the control of the server for something. */
async function ask(method, path, body) {
  const reply = await fetch(control + path, { method, body: body && JSON.stringify(body) });
  return { status: reply.status, answer: await reply.json() };
}

const worked = [];
const producer = new faktory.Client();
let both;
const done = new Promise((resolve) => (both = resolve));
const worker = new faktory.Worker({
  registry: {
    email: async (to) => {
      worked.push(to);
      if (worked.length === 2) both();
    },
  },
});

await producer.push({ jobtype: "email", queue: "default", args: ["now@example.org"] });
await producer.push({
  jobtype: "email", queue: "default", args: ["tomorrow@example.org"], at: new Date(Date.now() + DAY).toISOString(),
});
const { answer: jobs } = await ask("GET", "/v1/jobs");
assert.deepEqual(jobs.map((job) => job.place), ["queue", "scheduled"]);

assert.equal((await ask("POST", "/v1/clock", { advance: "25h" })).status, 200);
await worker.work();
await done;
await worker.stop();
await producer.close();
assert.deepEqual(worked.toSorted(), ["now@example.org", "tomorrow@example.org"]);

const verdict = await ask("POST", "/v1/verify", {
  acknowledged: [{ args: ["now@example.org"] }, { args: ["tomorrow@example.org"] }],
  failed: [],
  nothing_else: true,
});
assert.equal(verdict.status, 200, JSON.stringify(verdict.answer));
assert.equal((await ask("POST", "/v1/verify", { failed: [{ jobtype: "email" }] })).status, 417);

double.stdin.end(); // as the end of this process would, whatever happens
await new Promise((resolve) => double.once("exit", resolve));
console.log("all well");
