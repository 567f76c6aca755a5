// Package selftest tests the suite with the embedded servers, and with the workers and the producer of the suite: every
// check against one that conforms, against each fault of its catalogue, and against peers that are not servers at all.
//
// To read: fixture.go starts the servers and clients, matrix.go compares what checks find with what the faults declare,
// alarm.go with what variations allow, and sample.go draws a part of them.
package selftest
