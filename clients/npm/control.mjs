// What `fwpcheck serve` refuses and does, by each method of the package for Node. See docs/test-double.md.
//
//   FWPCHECK=/path/to/fwpcheck node control.mjs

import assert from "node:assert/strict";

import { serve } from "./fwpcheck/index.mjs";

const double = await serve();
await double.setClock(new Date("2001-01-01T00:00:00Z"));
assert.equal((await double.clock()).getUTCFullYear(), 2001);
await double.push({ jobtype: "t", queue: "a" }, { jobtype: "t", queue: "b" });
await assert.rejects(double.reset({ queue: undefined }), /queue cannot be null/);
await assert.rejects(double.setClock(new Date("2000-01-01T00:00:00Z")), /goes back only/);
await double.reset({ queue: "a" });
assert.deepEqual((await double.jobs()).map((j) => j.queue), ["b"]);
assert.deepEqual(await double.jobs({ queue: "a" }), []);
assert.deepEqual(await double.journal({ verb: "PUSH", after: 3, queue: undefined }), []);
await double.stub({ verb: "PUSH", close: true });
assert.equal((await double.stubs()).length, 1);
await double.removeStubs();
await double.setBugs("on accepted: skip");
assert.deepEqual(await double.bugs(), ["on accepted: skip"]);
await double.disconnect();
await double.setBugs();
await double.quiet();
await double.terminate();
await double.verify({ pushed: [], nothing_else: "10ms" });
await double.reset();
assert.deepEqual(await double.jobs(), []);
console.log(await double.close());
console.log("all well");
