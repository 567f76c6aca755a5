// Package load puts the load of a workload on a server and reports the result: how many connections the server took,
// the rate that it achieved and its times, the account of every job, and whether the generator itself kept up. [Run]
// goes through the phases of a run: introduction, connect, prefill, warm-up, measure, drain and close. The package
// prints nothing and knows no protocol; Config.Watch receives the figures of a run while it lasts.
package load
