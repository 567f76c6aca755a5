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
