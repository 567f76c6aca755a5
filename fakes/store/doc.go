// Package store keeps the jobs of a fake server: queues and the consumers that wait on them, jobs that are scheduled,
// retried, held by workers or dead. It knows no protocol and no server; a server that wants to see or change what
// happens provides a [Policy].
//
// Files, in the order in which they can be read: store.go, policy.go, queue.go, reservation.go, schedule.go, heap.go.
//
// Files: store.go (the store and its lock), queue.go (queues and waiting consumers), reservation.go (held jobs),
// schedule.go (scheduled and failed jobs), heap.go (what is due next), policy.go (what the protocol decides).
package store
