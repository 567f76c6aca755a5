// Package fakes is a complete server of the Faktory Work Protocol in memory, in the
// manner of net/http/httptest. It conforms to the specification, and on request departs
// from it in one named way: the checks of servers are tested against it.
//
// [NewServer] returns a running server; [Config] has the time constants and limits.
// [Server.Restart], [Server.Kill] and [Server.Signal] do what an operator can do. The
// store (package store, which knows no protocol) survives restarts.
//
// [Config.Hook] is the one place where behaviour is changed: it is called with an
// [Event] at every step of the server, from the first byte received to the last one
// sent, and may change the event. Package faults is a catalogue of such hooks, each of
// which breaks one clause; the hooks and settings of package variations break none.
//
// The server shares the writing of replies and the splitting of command lines with
// package fwp, and nothing else: the checks of HELLO and of work units and the password
// hash are implemented here a second time, so that a mistake in one of the two is found.
//
// Files, by idea:
//
//	server, what an operator does: server.go, config.go, restart.go, snapshot.go
//	connections and lines:         conn.go, line.go, write.go, reply.go
//	commands:                      command.go, greeting.go, auth.go, fetch.go, failure.go, worker.go, info.go
//	additions of a family:         like.go, like_ledger.go
//	jobs and their store:          job.go, job_check.go
//	JSON objects:                  object.go, object_parse.go
//	hooks:                         event.go, act.go
package fakes
