// Package conformance is the model of a suite, which all its parts import: clauses and their catalogue, checks, goals,
// what differs between protocols (a [Suite]), and the selection of checks. It knows no protocol:
// package run plays checks, and a package such as protocols/fwp/suite is the suite of one protocol.
package conformance
