// Package scenarios is the script language of fwp: transcripts of C: and S: lines, as
// the specification prints them. Package [github.com/fwpsuite/fwp/scenarios/play]
// plays them on a real server.
//
// [Parse] turns a file into a [Script], [Lint] finds client lines that break the
// protocol without a mark, and [Format] writes a script, parsed or made by a [Builder],
// as text.
//
// The language knows messages, connections, time and names. What is particular to a
// protocol (greeting, the legality of a client line, computed values, the question
// that a server answers as long as it serves) is a [Dialect]; package fwpscript
// has one.
//
// docs/scripts.md describes the language with one example for each form.
//
// The files, in an order in which they can be read:
//
//   - the language: script.go, template.go and pattern.go are what a script consists
//     of; parse.go, parse_statement.go, parse_transcript.go, pattern_parse.go and
//     expect.go read it, problem.go has the messages; format.go, format_statement.go and
//     lint.go are the tools, build.go is for programs that write scripts; suite.go reads
//     a folder
//   - a protocol: dialect.go, grammar.go and encode.go; breach.go has what a dialect or
//     the engine can find that no line is about
//   - values: scope.go (the values of names), render.go (the text of a client line),
//     make.go (a message that a line accepts)
//   - matching: match.go, assume.go, kind.go, contains.go
//   - what a script is without playing it: steps.go, uses.go
package scenarios
