// Package selftest tests the suite with the embedded server: every check against a
// server that conforms, against each fault of its catalogue, and against peers that
// are not servers at all.
//
// To read: fixture.go starts the servers, matrix.go compares what checks find with what
// the faults declare, and proof.go plays all of it.
package selftest
