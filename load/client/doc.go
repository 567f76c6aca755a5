// Package client speaks the Faktory Work Protocol on the connections of a load run:
// producers that push, workers that fetch, report and beat, and connections that come
// and go.
//
// Everything here is a state machine driven by a loop of package engine: an event and
// the time go in, bytes and the next wake come out. There are no goroutines and no
// clocks, and no locks but that of [Shared]. What the connections of one loop share is
// a [Crew]; a run has one for each loop, each with its share of the connections and of
// the jobs.
//
// Every command is timed in the crew's recorder, and every job is booked in the run's
// ledger. A history of who asked what and when, to be judged afterwards, is kept if
// there is a Config.History.
//
// A crew goes through a run in this order, told from outside by its methods: Connect,
// Prefill, Start, then StopPushing, Drain and Stop, or Abandon when there is no more
// patience. [Crew.Status] says how far it is.
package client
