// Package worker is a conforming worker of the Faktory Work Protocol, with one hook at which catalogues of bugs and
// of permitted variations change it: what tests workers is tested on it. It executes the job types that
// docs/judging-workers.md describes (internal/base/jobtype). Each executor has a connection of its own, on which it
// fetches and reports; one more is for BEAT. A worker can be a producer instead: see [Worker.Produce].
package worker
