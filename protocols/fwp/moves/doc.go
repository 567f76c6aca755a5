// Package moves is FWP as package explore explores it.
//
// To read: subject.go names the parts, and rules.txt (read by rules.go) all that the law demands. law.go follows a
// conversation with the oracle; maker.go and moves.go make up steps, values.go and malformed.go their texts, bytes*.go
// what is no line at all, and guard*.go keeps all of that from touching what belongs to other clients. cleanup.go
// removes what is left on the server; seeds.go and simplify.go are for what was found.
//
// roundtrips.go has the subjects with fewer moves, lives.go the ways of jobs whose lives are followed with all values.
//
// moves_*.go are moves of several steps: lives of jobs, names, several connections of a worker, many of a thing,
// commands that a profile adds;
// contents.go, hello.go, operate.go, steps.go, syntax.go and wire.go make their values, greetings, operator's actions,
// steps, slips of the syntax and bytes. normal.go makes replies of two servers comparable, and concurrent.go has the
// rules of histories.
package moves
