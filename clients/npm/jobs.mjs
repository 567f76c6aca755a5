// The jobs that work.mjs pushes, and their expected outcomes.

const SECOND = 1000;

/** How long after the push a scheduled job is due. */
const DELAY = 1.5 * SECOND;

/**
 * One entry per kind: how many, what is pushed, and the outcomes in order: "done"
 * is an ACK and "fail" a FAIL, each answered with OK.
 */
const kinds = [
  { type: "Plain", count: 60, args: (i) => [i, `job ${i}`, -1 - i, i / 8] },
  { type: "NoArgs", count: 10, args: () => [] },
  { type: "Unicode", count: 40, args: (i) => ["héllo wörld", "日本語", "🦆".repeat(i + 1), "e\u0301 \u2028 \u0000 \ufeff"] },
  { type: "Escapes", count: 20, args: (i) => [`"quoted" \\ back / slash ${i}`, "line\r\nbreak", "\tPUSH {}\r\n", ""] },
  { type: "Nested", count: 30, args: (i) => [nested(i), [[[[]]], {}], [true, false, null]] },
  { type: "Numbers", count: 10, args: () => [0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1e21, 1.5e-9, 0.1] },
  { type: "Large", count: 4, args: (i) => ["x".repeat(100_000 * (i + 1)), "é".repeat(50_000)] },
  { type: "Custom", count: 8, args: (i) => [i], custom: (i) => ({ locale: "de", deep: { list: [1, "2", null], i } }) },
  { type: "Scheduled", count: 10, args: (i) => ["later", i], delay: DELAY },
  { type: "Flaky", count: 4, args: (i) => ["fails at first", i], outcomes: ["fail", "done"] },
  { type: "Doomed", count: 4, args: (i) => ["fails for good", i], retry: 0, outcomes: ["fail"] },
];

/** The job types, for the worker's registry. */
export const types = kinds.map((kind) => kind.type);

/** The payloads to push, spread over queues, each with the outcomes expected of it. */
export function makeJobs(newJid, queues) {
  const jobs = [];
  for (const { type, count, args, custom, delay, retry, outcomes = ["done"] } of kinds) {
    for (let i = 0; i < count; i++) {
      const payload = { jid: newJid(), jobtype: type, queue: queues[jobs.length % queues.length], args: args(i) };
      if (custom) payload.custom = custom(i);
      if (retry !== undefined) payload.retry = retry;
      if (delay) payload.at = new Date(Date.now() + delay).toISOString();
      jobs.push({ payload, outcomes });
    }
  }
  return jobs;
}

function nested(depth) {
  return depth === 0 ? { leaf: null } : { depth, list: [depth, nested(depth - 1)], "key with ünicode": "" };
}
