// Package situations tests worker libraries and other clients: it plays the server in situations that are written as
// tables, starts the program under test for each of them, and has the rules of protocols/fwp/clientrules look at every
// byte. A situation is a conformance.Check, so that selection, verdicts and reports are those of a run against a
// server. What starts and judges programs serves the workers of other protocols too.
package situations
