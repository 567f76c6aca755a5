// A producer with npm's faktory-worker: it pushes the jobs that `fwpcheck client` hands it on its standard input; see
// docs/judging-workers.md.
//
//   fwpcheck client -- node producer.mjs

import { createInterface } from "node:readline";
import faktory from "faktory-worker";

const callers = Number(process.env.FWP_CONCURRENCY ?? 1);
const url = process.env[process.env.FAKTORY_PROVIDER || "FAKTORY_URL"] ?? "";
const client = new faktory.Client({ poolSize: callers, tlsOptions: url.startsWith("tcp+tls:") ? {} : undefined });
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function together(jobs) {
  let rejected = {};
  try {
    rejected = await client.pushBulk(jobs);
  } catch (error) {
    console.error(error.message);
    rejected = Object.fromEntries(jobs.map((job) => [job.jid, error]));
  }
  for (const { jid } of jobs) console.log(`${rejected[jid] ? "refused" : "pushed"} ${jid}`);
  if (Object.keys(rejected).length > 0) process.exitCode = 1;
}

async function caller() {
  for (let next; !(next = await lines.next()).done; ) {
    const job = JSON.parse(next.value);
    if (Array.isArray(job)) {
      await together(job);
      continue;
    }
    try {
      const jid = await client.push(job);
      console.log(`pushed ${jid}`);
    } catch (error) {
      console.error(error.message);
      console.log(`refused ${job.jid}`);
      process.exitCode = 1;
    }
  }
}

await Promise.all(Array.from({ length: callers }, caller));
await client.close();
