// Package fakeworker is a conforming worker of the Faktory Work Protocol, with one hook at which catalogues of faults
// and of permitted variations change it. It is the counterpart of the embedded server of package fakes: what tests
// workers is tested on it.
//
// A worker executes the four job types that docs/judging-workers.md describes: fwp.ok, fwp.fail, fwp.sleep and
// fwp.echo. Each executor has a connection of its own, on which it fetches and reports; one more is for BEAT.
//
// A worker can be a producer instead, which pushes the jobs that it reads: see [Worker.Produce].
//
// Read worker.go for its life, conn.go for a connection, execute.go and beat.go for what happens on them, event.go for
// the hook, produce.go for producers, and fault.go and variation.go for the catalogues.
package fakeworker
