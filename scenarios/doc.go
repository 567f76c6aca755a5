// Package scenarios is the script language of fwp and the engine that plays
// scripts: transcripts of C: and S: lines, as the specification prints them, played
// on a real server.
//
// [Parse] turns a file into a [Script], [Lint] finds client lines that break the
// protocol without a mark, [Format] writes a script, parsed or built by a program,
// as text, and a [Player] plays a script on a [Target] and returns a [Run]: the
// outcome of each line. A Run has no verdicts about clauses; package conformance
// derives them.
//
// The engine knows messages, connections, time and names. What is particular to a
// protocol (greeting, the legality of a client line, computed values, the question
// that a server answers as long as it serves) is a [Dialect]; package fwpdialect
// has one.
//
// docs/scripts.md describes the language with one example for each form.
//
// The files, in an order in which they can be read:
//
//   - the language: script.go, dialect.go, template.go and pattern.go are what a
//     script consists of; parse*.go, pattern_parse.go and expect.go read it, problem.go
//     has the messages; format*.go and lint*.go are the tools
//   - matching: scope.go and indexed.go (the values of names), match.go, kind.go,
//     contains.go, expect.go (a message and a line)
//   - playing: run.go (the result), player.go and thread.go (the steps), render.go
//     (what is sent), judge.go and breach.go (what is received), blocks.go,
//     unordered.go and operate.go (the other statements)
//   - the server: conn.go, greet.go, serving.go and service.go (does it serve?),
//     peers.go and refusal.go (its limit of connections), cleanup.go, meter.go (lag)
//   - wait.go: what a script needs, without playing it
package scenarios
