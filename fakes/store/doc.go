// Package store keeps the jobs of a fake server: queues and the consumers that wait on them, jobs that are scheduled,
// retried, held by workers or dead. It knows no protocol and no server; a server that wants to see or change what
// happens provides a [Policy], and accepts its connections with a [Group].
package store
