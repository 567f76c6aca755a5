// Package fakes is a complete server of the Faktory Work Protocol in memory, for tests, in the manner of
// net/http/httptest. It conforms to the specification. On request it breaks one clause: the suite's own checks are
// tested on it.
//
// [NewServer] returns a running server. [Config] has its time constants and limits. [Server.Restart], [Server.Kill]
// and [Server.Signal] are the actions of an operator; jobs survive restarts. [Server.Advance] moves the clock, so
// that no test has to wait.
//
// [Config.Hook] changes the behaviour. It is called with an [Event] at every step of the server, from the first byte
// received to the last byte sent, and may change the event. Package faults has hooks that each break one clause.
// Package variations has hooks and settings that break none.
//
// The server shares two things with package fwp: writing replies and splitting command lines. It has its own checks
// of HELLO and of work units and its own password hash, so that a mistake in one implementation is found by the
// other.
//
// The names in parentheses at the end of a comment are sections of the specification.
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
