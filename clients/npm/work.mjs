// Pushes jobs of many kinds with npm's faktory-worker, works them with its worker,
// and checks that each ran as often as it should, with the arguments that were pushed.
//
//   FAKTORY_URL=tcp://:password@127.0.0.1:7419 [PATIENCE_SECONDS=90] node work.mjs [--signals]
//
// With --signals it also has to be quieted and terminated: it prints a line
// "signal STATE WID" when the server should send STATE to worker WID.
//
// A server behind TLS has the scheme tcp+tls; NODE_EXTRA_CA_CERTS may name its
// certificate. The queues have fresh names, so that a server in use can be tried too.
// It exits with 0 and says "all well", or with 1 and says what is wrong.

import { deepStrictEqual } from "node:assert";
import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import faktory from "faktory-worker";
import { makeJobs, types } from "./jobs.mjs";
import { WatchedWorker } from "./watched.mjs";

// A server with the usual back-off retries a first failure after 15 to 45 s.
const PATIENCE = 1000 * (process.env.PATIENCE_SECONDS || 90);
const BEAT_SECONDS = 0.1;
const CONCURRENCY = 10;
const FAIL_CODE = "E_ON_PURPOSE";

if (!process.env.FAKTORY_URL) {
  console.error("FAKTORY_URL is not set: it names the server, for instance tcp://127.0.0.1:7419");
  process.exit(1);
}

const run = randomUUID().slice(0, 8);
const queues = [`npm-${run}-high`, `npm-${run}-low`];
const tlsOptions = process.env.FAKTORY_URL.startsWith("tcp+tls:") ? {} : undefined;

async function main() {
  const producer = new faktory.Client({ tlsOptions });
  const worker = new WatchedWorker({
    queues,
    tlsOptions,
    concurrency: CONCURRENCY,
    beatInterval: BEAT_SECONDS,
    registry: Object.fromEntries(types.map((type) => [type, perform])),
  });
  try {
    const jobs = makeJobs(faktory.Job.jid, queues);
    await pushAll(producer, jobs);
    await worker.work();
    await workedOff(worker, jobs);
    if (process.argv.includes("--signals")) await obeysSignals(worker, producer);
    await worker.stop();
    verify(worker, jobs);
    return jobs.length;
  } finally {
    await worker.stop();
    await producer.close();
  }
}

/** What every job does: nothing, or fail if its kind is to fail. */
function perform() {
  return async ({ job }) => {
    if (job.jobtype === "Doomed" || (job.jobtype === "Flaky" && !job.failure)) {
      throw Object.assign(new Error(failMessage(job)), { code: FAIL_CODE });
    }
  };
}

function failMessage({ jobtype, jid }) {
  return `${jobtype} ${jid} fails: ü "quoted"`;
}

/** Pushes from many connections at once and reads INFO beside them. */
async function pushAll(producer, jobs) {
  const [info] = await Promise.all([producer.info(), ...jobs.map(({ payload }) => producer.push(payload))]);
  if (typeof info !== "object" || info === null) throw new Error(`INFO gave ${inspect(info)}`);
}

/** Waits until every job has ended, and one more FETCH found nothing. */
async function workedOff(worker, jobs) {
  const settled = ({ payload, outcomes }) => (worker.outcomes.get(payload.jid)?.length ?? 0) >= outcomes.length;
  try {
    await worker.until("all jobs", () => jobs.every(settled), PATIENCE);
  } catch (error) {
    const open = jobs.filter((job) => !settled(job)).map(({ payload }) => `${payload.jobtype} ${payload.jid}`);
    throw new Error(`${error.message}; ${open.length} of ${jobs.length} are open: ${open.slice(0, 5).join(", ")}`);
  }
  const { empty } = worker;
  await worker.until("an empty FETCH", () => worker.empty > empty, PATIENCE);
}

async function obeysSignals(worker, producer) {
  console.log(`signal quiet ${worker.wid}`);
  await worker.until("the worker to be quiet", () => worker.quieted && !worker.fetching, PATIENCE);
  const { fetches, beats } = worker;
  await producer.push({ jobtype: "Plain", queue: queues[0], args: ["nobody takes this"] });
  await worker.until("three more beats", () => worker.beats >= beats + 3, PATIENCE);
  if (worker.fetches !== fetches) throw new Error("a quiet worker went on fetching");
  if (worker.stopped) throw new Error("the worker had to be quiet, and stopped");

  console.log(`signal terminate ${worker.wid}`);
  await worker.until("the worker to be terminated", () => worker.stopped, PATIENCE);
  await worker.stopped;
}

function verify(worker, jobs) {
  if (worker.problems.length > 0) throw new Error(`the library reported ${inspect(worker.problems)}`);
  const delivered = groupByJid(worker.deliveries);
  for (const { payload, outcomes } of jobs) {
    const what = `${payload.jobtype} ${payload.jid}`;
    const mine = delivered.get(payload.jid);
    delivered.delete(payload.jid);
    same(worker.outcomes.get(payload.jid), outcomes, `outcomes of ${what}`);
    same(mine.length, outcomes.length, `the deliveries of ${what}`);
    mine.forEach((delivery, i) => verifyDelivery(payload, delivery, i, what));
  }
  same([...delivered.keys()], [], "jobs that nobody pushed");
}

function verifyDelivery(payload, { job, when }, before, what) {
  for (const field of ["jobtype", "queue", "args", "custom", "retry"]) {
    if (field in payload) same(job[field], payload[field], `${field} of ${what}`);
  }
  if (payload.at && when < Date.parse(payload.at)) throw new Error(`${what} came before its time ${payload.at}`);
  // Which keys failure has is the server's affair; what the worker said must be in it.
  const kept = Object.values(job.failure ?? {});
  for (const text of before > 0 ? [failMessage(job), FAIL_CODE] : []) {
    same(kept.includes(text), true, `${inspect(text)} is kept in failure of ${what}`);
  }
}

function groupByJid(deliveries) {
  const groups = new Map();
  for (const delivery of deliveries) {
    groups.set(delivery.job.jid, [...(groups.get(delivery.job.jid) ?? []), delivery]);
  }
  return groups;
}

function same(got, want, what) {
  try {
    deepStrictEqual(got, want);
  } catch {
    throw new Error(`${what}: expected ${inspect(want, { depth: 5 })}, got ${inspect(got, { depth: 5 })}`);
  }
}

try {
  console.log(`all well: ${await main()} jobs`);
} catch (error) {
  console.error(`not well: ${error.message}`);
  process.exitCode = 1;
}

// The process is not forced to exit: a connection that the server does not close after
// END keeps it alive, and the timer then reports that.
setTimeout(() => {
  console.error("not well: the process does not end; is a connection still open?");
  process.exit(1);
}, 10_000).unref();
