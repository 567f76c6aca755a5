// Package fakes is a complete server of the Faktory Work Protocol that lives in
// memory and in the process that starts it, in the manner of net/http/httptest. It
// keeps to the specification, and on request departs from it in one named place: a
// suite that judges servers is itself judged against it.
//
// [NewServer] gives a running server; [Config] has the time constants and limits.
// [Server.Restart], [Server.Kill] and [Server.Signal] do what an operator would.
// The store (package store, which knows no protocol) outlives restarts, and nothing
// outlives the process.
//
// [Config.Hook] is the one place where behaviour is changed: it sees an [Event] at
// every seam of the server, from the first byte that comes in to the last one that
// goes out, and what it changes in the event happens. [Faults] is a catalogue of
// such hooks, each of which breaks one clause.
//
// The server shares the writing of replies and the splitting of command lines with
// package fwp, and nothing else: how HELLO is judged, how a password is hashed, what
// a work unit may hold is written here a second time, on purpose, so that a mistake
// in one of the two shows.
package fakes
