// Package double makes the embedded server a test double for workers and producers in any language: a server with a
// journal of what its clients did, controlled by HTTP. docs/test-double.md describes the protocol.
package double
