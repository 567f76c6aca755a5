// Package upgrade tells what becomes of the jobs of a server when another one takes its place on the same data: a newer
// release, an older one on the way back, or the same one after a restart.
//
// A [Subject] is what the room knows of a protocol: how a server is filled with jobs in every state, and how one is
// asked for all of them. [Run] goes from one server to the next; [Result.Report] makes the report. The conversation of
// each job is a history (internal/history).
//
// Files: job.go (jobs, states, inventories), fate.go (what can become of a job, and how bad that is), run.go (the
// steps), report.go (the report).
package upgrade
