// Package worker is a conforming worker of the Faktory Work Protocol, with one hook at which catalogues of faults
// and of permitted variations change it. It is the counterpart of the embedded server of package fakes: what tests
// workers is tested on it.
//
// A worker executes the job types that docs/judging-workers.md describes (package jobtype). Each executor has a
// connection of its own, on which it fetches and reports; one more is for BEAT.
//
// A worker can be a producer instead, which pushes the jobs that it reads: see [Worker.Produce].
//
// Files: worker.go has its life, config.go its settings, conn.go a connection, execute.go and beat.go what happens on
// them, produce.go producers, event.go the hook. fault.go has the catalogues and what their rows are made of,
// faults.txt and variations.txt what is said of each row. The tables of faults are in fault_hello.go (introductions and
// passwords), fault_line.go (lines and replies), fault_state.go (heartbeats and states), fault_loss.go, fault_job.go
// (FETCH, what is delivered, executors that break), fault_fail.go (reports) and fault_push.go (producers). Those of
// variations are in variation_line.go and variation_job.go.
package worker
