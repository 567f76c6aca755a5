// Package load puts the load of a workload on a server and reports the result: how many connections the server took,
// the rate that it achieved and its times, the account of every job, and whether the generator itself kept up.
//
// Run goes through the phases of a run: introduction, connect, prefill, warm-up, measure, drain and close. The package
// prints nothing; Config.Watch receives the figures of a run while it lasts.
//
// Files, in the order in which they can be read: config.go, run.go, start.go, drain.go and missing.go (the phases),
// watch.go, stall.go and second.go (what is observed meanwhile, with the map of response times), disrupted.go (what is
// done to the target), report.go, account.go, planned.go and findings.go (the result),
// join.go and segments.go (the result of several generators).
package load
