// Package scenarios is the script language of fwp and the engine that plays
// it: transcripts of C: and S: lines, as the specification prints them, held
// against a live server.
//
// [Parse] turns a file into a [Script], [Lint] says where a client line breaks
// the protocol without being marked as doing so on purpose, [Format] writes a
// script, parsed or built by a program, as text, and a [Player]
// plays a script on a [Target] and returns a [Run]: what it saw, line by line.
// A Run judges lines, never clauses; package conformance turns it into
// verdicts.
//
// The engine knows messages, connections, time and names. What is particular
// to a protocol (greeting, the legality of a client line, computed values, what
// asks whether a server lives) is a [Dialect]; package fwpdialect has that of FWP.
//
// docs/scripts.md describes the language with one example for each form.
package scenarios
