// Package history records the commands and replies of clients, and evaluates them
// afterwards, job by job.
//
// A [Recorder] records events of many goroutines and returns a [History]. [Judge]
// returns what a conforming server cannot have done; [Examine] also returns the jobs
// that stay undecided. [History.Save] and [Load] keep a history in a file.
//
// Every event has an interval, from its call to its return, and took effect at some
// instant within it. A finding holds for every choice of those instants. A call
// without a reply stays open for ever: whether and when it took effect is never
// guessed. What the protocol leaves open is not a finding:
//
//   - a jid that is pushed twice is not evaluated (AMB-33);
//   - an ACK or FAIL of a client that does not hold the job may be answered either way,
//     and may have an effect or none (AMB-21);
//   - a reservation that ran out may count as a failure or not, and the job may wait
//     for any time (AMB-01b, AMB-38);
//   - no order within a queue is required (AMB-27);
//   - the evaluation of a job ends at a restart or a kill, except for its loss over an
//     orderly restart (FWP-STATE-08).
//
// It stands apart from the law of conversations because it judges after the fact: it may try every order of the calls.
//
// Files: event.go, recorder.go, history.go, then judge.go, which calls all rules, with index.go (the events of a job),
// breach.go and finding.go. life.go is one job; machine.go and search.go look for an order of its calls, and explain.go
// makes the finding if there is none. loss.go, ready.go and places.go are the other rules.
// save.go is the file, written and read.
package history
