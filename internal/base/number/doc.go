// Package number reads JSON without loss and compares its numbers by their values, exactly and within bounds of memory
// and time: no other package compares numbers. It reads times as RFC 3339 writes them (section 5.6), which [time.Parse]
// does not: that is more lenient in some places, and stricter about the case of T and Z.
package number
