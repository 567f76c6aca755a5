// A worker of npm's faktory-worker with the job types that `fwpcheck worker` hands out; see docs/judging-workers.md.
//
//   fwpcheck worker -- node worker.mjs

import faktory from "faktory-worker";

const types = {
  "fwp.ok": () => {},
  "fwp.fail": (message) => {
    throw new Error(message ?? "fwp.fail");
  },
  "fwp.sleep": (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds)),
  "fwp.echo": (...args) => {
    throw new Error(JSON.stringify(args));
  },
  "fwp.crash": () => process.exit(1),
  "fwp.exit": () => process.exit(1),
  "fwp.block": (seconds) => {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; );
  },
  "fwp.push": async (...jobs) => {
    const client = new faktory.Client({ poolSize: 8 });
    try {
      const left = jobs.values();
      await Promise.all(Array.from({ length: 8 }, async () => {
        for (const job of left) await client.push(job);
      }));
    } finally {
      await client.close();
    }
  },
};

const url = process.env[process.env.FAKTORY_PROVIDER || "FAKTORY_URL"] ?? "";
const worker = new faktory.Worker({
  registry: types,
  tlsOptions: url.startsWith("tcp+tls:") ? {} : undefined,
  queues: process.env.FWP_QUEUES?.split(","),
  concurrency: Number(process.env.FWP_CONCURRENCY ?? 10),
});
worker.on("error", (error) => console.error(error)); // without a listener Node ends the process
await worker.work();
