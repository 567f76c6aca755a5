// Package clientrules judges what clients of a server do, by rules over a stream of events: one rule for each clause
// that binds clients, workers or producers. It knows neither sockets nor processes nor the time of day, so that the
// same rules run over the judging of a worker, over a recording, over an exploration and over a load.
//
// A [Builder] turns the bytes of connections into events, and a [Watch] runs the rules over them:
//
//	w := NewWatch(Config{})
//	b := NewBuilder(func(e Event) { report(w.See(e)) })
//	b.Open(at, 1, 0)
//	b.Server(at, 1, []byte("+HI {\"v\":2}\r\n"))
//	b.Client(at, 1, []byte("HELLO {\"v\":2}\r\n"))
//	...
//	w.End(at)
//	for _, r := range w.Results() { ... r.State() ... }
//
// A rule that was broken has breaches with the events that show them; one whose situation was never seen is
// inconclusive. A rule names its breach; fwpsuite.ClauseOf has the clause.
//
// To read:
//
//   - bytes to events: event.go, builder.go, line.go
//   - what a rule is, all of them, and the names of breaches: rule.go, breach.go
//   - the rules, a table and a function for each rule: rules_line.go, rules_greeting.go,
//     rules_worker.go, rules_push.go, rules_fetch.go, rules_job.go, rules_beat.go, rules_state.go, rules_end.go,
//     rules_server.go
//   - how they are run: watch.go, look.go
//   - what they can look at: world.go, recent.go; and how events change that: apply.go, apply_line.go,
//     apply_reply.go
//
// The situations that a program under test is put into are in the folder situations.
package clientrules
