// Package conformance is the model of a suite, which all its parts import: clauses and their catalogue, checks, goals,
// what differs between protocols, and the selection of checks. Package run plays checks, and a package such as fwpsuite
// is the suite of one protocol.
//
// The files by idea:
//
//   - a check: check.go is the seam, with scripts (check_script.go) and properties (property.go, and property_count.go
//     for their connections) behind it; select.go picks checks, and has the limits of a quick run
//   - a clause: clauses.go, with the documents, and clauses_parse.go for how catalogues are written
//   - a protocol: protocol.go; goal.go says what a pass takes, and pairs the commands of a conversation with
//     their replies for that
package conformance
