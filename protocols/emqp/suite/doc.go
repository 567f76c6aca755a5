// Package suite is eMQP as a protocol of the suite: its clauses, which clause a breach breaks, and how its brokers are
// recognized. It has what exploring needs as well: what clients, workers and schedulers may send, and a law that
// follows them and says which messages of the broker are due, and which must not come.
package suite
