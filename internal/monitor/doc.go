// Package monitor judges what clients of a server do, by rules over a stream of events: one rule for each clause that
// binds clients, workers or producers. It knows neither sockets nor processes nor the time of day, so that the same
// rules run over the judging of a worker, over a recording, over an exploration and over a load.
//
// A [Builder] turns the bytes of connections into events, a [Watch] runs the rules over them, and [Judge] does so for a
// stream that is complete:
//
//	w := monitor.NewWatch(monitor.Config{})
//	b := monitor.NewBuilder(func(e monitor.Event) { report(w.See(e)) })
//	b.Open(at, 1, 0)
//	b.Server(at, 1, []byte("+HI {\"v\":2}\r\n"))
//	b.Client(at, 1, []byte("HELLO {\"v\":2}\r\n"))
//	...
//	w.End(at)
//	for _, r := range w.Results() { ... r.State() ... }
//
// A rule that was broken has breaches with the events that show them; one whose situation was never seen is
// inconclusive. A rule names its breach; conformance.ClauseOf has the clause.
//
// To read: event.go, builder.go and line.go (bytes to events), rule.go (what a rule is), rules_*.go (the rules),
// watch.go (how they are run), world.go and apply.go (what they can look at).
package monitor
