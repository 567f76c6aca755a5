// A worker of the real library that records what it does. Nothing on the wire is
// changed.

import faktory from "faktory-worker";

export class WatchedWorker extends faktory.Worker {
  deliveries = []; // { job, when }: each job that a FETCH brought
  outcomes = new Map(); // jid -> what handling it gave, in order
  problems = []; // whatever the library reported as an error
  fetches = 0; // FETCH commands so far
  empty = 0; // FETCH replies without a job
  beats = 0; // BEAT replies so far
  stopped = undefined; // the promise of the first stop

  constructor(options) {
    super(options);
    // The library reports its own clean stop as an aborted timer.
    this.on("error", (error) => error.code === "ABORT_ERR" || this.problems.push(error));
  }

  async fetch() {
    this.fetches++;
    this.fetching = true;
    try {
      const job = await super.fetch();
      if (job) this.deliveries.push({ job, when: Date.now() });
      else this.empty++;
      return job;
    } finally {
      this.fetching = false;
      this.emit("watch");
    }
  }

  async handle(job) {
    const outcome = await super.handle(job);
    this.outcomes.set(job.jid, [...(this.outcomes.get(job.jid) ?? []), outcome]);
    this.emit("watch");
    return outcome;
  }

  async beat() {
    await super.beat();
    this.beats++;
    this.emit("watch");
  }

  stop() {
    this.stopped ??= super.stop();
    return this.stopped;
  }

  /** Resolves as soon as condition() holds; rejects, saying what was awaited, after patience ms. */
  until(what, condition, patience) {
    return new Promise((resolve, reject) => {
      const finish = (settle, value) => {
        clearTimeout(timer);
        this.off("watch", look);
        settle(value);
      };
      const look = () => condition() && finish(resolve);
      const timer = setTimeout(() => finish(reject, new Error(`waited ${patience / 1000} s for ${what}`)), patience);
      this.on("watch", look);
      look();
    });
  }
}
