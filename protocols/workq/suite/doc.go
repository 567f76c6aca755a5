// Package suite is Workq as a protocol of the suite: its clauses, which clause a breach breaks, and how its servers are
// recognized. It has what exploring needs as well: what clients may send, and the law that says what may be answered,
// which judges scripts too.
package suite
