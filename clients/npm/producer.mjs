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

async function caller() {
  for (let next; !(next = await lines.next()).done; ) {
    const job = JSON.parse(next.value);
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
