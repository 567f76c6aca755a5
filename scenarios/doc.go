// Package scenarios is the script language of fwp: transcripts of C: and S: lines, as the specification prints them.
// [Parse] turns a file into a [Script], [Lint] finds client lines that break the protocol without a mark, and [Format]
// writes a script, parsed or made by a [Builder], as text. Package scenarios/play plays them on a real server. What is
// particular to a protocol is a [Dialect], such as that of protocols/fwp/script; the language knows none.
// docs/scripts.md describes the language with one example for each form.
package scenarios
