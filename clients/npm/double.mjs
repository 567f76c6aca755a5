// How the tests of an application use `fwpcheck serve`: it pushes two jobs with npm's
// faktory-worker, one of them for tomorrow, and one by the control, works all without
// waiting, and has the server verify what happened. See docs/test-double.md.
//
//   FWPCHECK=/path/to/fwpcheck node double.mjs

import assert from "node:assert/strict";

import { serve } from "./fwpcheck/index.mjs";

const DAY = 24 * 60 * 60 * 1000;

const double = await serve(); // sets FAKTORY_URL, which faktory-worker reads when it is imported
const { default: faktory } = await import("faktory-worker");

const worked = [];
const producer = new faktory.Client();
let all;
const done = new Promise((resolve) => (all = resolve));
const worker = new faktory.Worker({
  registry: {
    email: async (to) => {
      worked.push(to);
      if (worked.length === 3) all();
    },
  },
});

await producer.push({ jobtype: "email", queue: "default", args: ["now@example.org"] });
await producer.push({
  jobtype: "email", queue: "default", args: ["tomorrow@example.org"], at: new Date(Date.now() + DAY).toISOString(),
});
await double.push({ jobtype: "email", args: ["seeded@example.org"] });
const jobs = await double.jobs();
assert.deepEqual(jobs.map((job) => job.place), ["queue", "queue", "scheduled"]);

await double.advance("25h");
await worker.work();
await done;
await worker.stop();
await producer.close();
assert.deepEqual(worked.toSorted(), ["now@example.org", "seeded@example.org", "tomorrow@example.org"]);

await double.verify({
  pushed: [{ args: ["now@example.org"] }, { args: ["tomorrow@example.org"] }],
  acknowledged: [{ args: ["now@example.org"] }, { args: ["seeded@example.org"] }, { args: ["tomorrow@example.org"] }],
  failed: [],
  nothing_else: true,
  timeout: "5s",
});
await assert.rejects(double.verify({ failed: [{ jobtype: "email" }] }), assert.AssertionError);

await double.stub({ verb: "MUTATE", times: 1, reply: "-ERR busy" });
const client = new faktory.Client();
await assert.rejects(client.retries.clear(), /busy/);
await client.retries.clear();
await double.push({ jobtype: "email", queue: "seeded" });
assert.equal((await double.jobs()).length, 1);
await double.setClock(new Date(Date.now() + 40 * DAY));
await double.reset();
await client.close();

console.log(await double.close());
console.log("all well");
