// Package situations tests worker libraries and other clients: it plays the server in situations that are written as
// tables, starts the program under test for each of them, and has the rules of protocols/fwp/clientrules look at every
// byte.
//
// A situation is a conformance.Check, so that selection, verdicts and reports are those of a run against a server.
//
// To read:
//
//   - what a run needs, and what a situation is: harness.go, situation.go
//   - the tables of workers, each row with its play: situations_beat.go, situations_terminate.go (orders and signals),
//     ends.go (what is decided of the end of a process), situations_job.go, situations_fetch.go,
//     situations_greeting.go, situations_reply.go, situations_loss.go; those of producers: situations_push.go
//   - outages: outage.go (kinds, moments, and a situation for each pair), disruption.go (what becomes of connections);
//     what has to hold behind a loss or an outage: situations_loss.go
//   - the play of orders with the rows about quiet; its dimensions are these rows and those of situations_terminate.go:
//     orders.go
//   - what plays have in common: jobs.go, unusual_jobs.go, values.go, producer.go, wait.go (and which events)
//   - the program: program.go, launch.go (a command or a function, its input and output), starts.go (one that does
//     not start)
//   - the servers of one play: trial.go; what they do on purpose: the rules of a row, and
//     hooks.go for what no rule says, and for what they forgive; the workers of other
//     protocols, whose servers and rules are in packages of their own: side.go
//   - what is recorded: recording.go, listener.go (connections)
//   - from what was seen to decisions: decide.go, consequences.go (of one finding for others), confirm.go (by another
//     play)
package situations
