// Package store keeps the jobs of a fake server: queues and the consumers that wait on them, jobs that are scheduled,
// retried, held by workers or dead. It knows no protocol and no server; a server that wants to see or change what
// happens provides a [Policy].
//
// Files: store.go (the store, its lock, and what is due next), queue.go (queues and waiting consumers),
// reservation.go (held jobs),
// schedule.go (scheduled and failed jobs), operate.go (what an operator does), policy.go (what the protocol decides).
package store
