// Package upgrade tells what becomes of the jobs of a server when another one takes its place on the same data: a newer
// release, an older one on the way back, or the same one after a restart.
//
// [Fill] brings a server jobs in every state, and [Accounted] asks one for them. [Run] does both, from each server to
// the next; [Result.Report] makes the report. The conversation of each job is a history (internal/history). It is about
// FWP: neither Workq nor eMQP has jobs survive a restart.
//
// Files: job.go (jobs, states, inventories), contents.go (what jobs are made of), conn.go (a connection that outlives a
// reply that cannot be read), fill.go, account.go, fate.go (what can become of a job, and how bad that is), run.go (the
// steps), report.go (the report).
package upgrade
