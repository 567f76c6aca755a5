// Package conformance is the model of a suite, which all its parts import: clauses and their catalogue, checks, goals,
// what differs between protocols, and the selection of checks. Package run plays checks, and a package such as fwpsuite
// is the suite of one protocol.
//
// The files by idea:
//
//   - a check: check.go is the seam, with scripts (check_script.go) and properties (property.go, and property_count.go
//     for their connections) behind it; quick.go has the limits of a quick run, and select.go picks checks
//   - a clause: clauses.go, clauses_parse.go for how catalogues are written, clauses_source.go for the documents
//   - a protocol: protocol.go; goal.go says what a pass takes, and exchange.go pairs the commands of a conversation
//     with their replies for that
package conformance
