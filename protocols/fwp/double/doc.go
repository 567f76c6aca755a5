// Package double makes the embedded server a test double for workers and producers in any language: a server
// with a journal of what its clients did, controlled by HTTP. docs/test-double.md describes the protocol.
//
// Files: double.go (the server and its faults), journal.go (what clients did), stub.go (answers of the tester's),
// verify.go (what clients should have done), control.go (HTTP), control_server.go (requests that change the server).
package double
