// Package selftest tests the suite with the embedded servers, and with the workers and the producer of the suite: every
// check against one that conforms, against each bug of its catalogue, and against peers that are not servers at all.
// What checks find is compared with what the bugs declare and what variations allow.
package selftest
