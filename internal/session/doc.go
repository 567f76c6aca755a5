// Package session is one conversation with a peer: messages in the order in which
// they were received, each with its time, and none lost. It knows connections, time
// and what is owed; the meaning of the bytes is up to a [Protocol].
//
// A [Conn] has one goroutine that reads all the time. Everything else belongs
// to the goroutine that uses the connection: it writes with [Conn.Write], receives
// with [Conn.Peek] and [Conn.Take], and ends a wait with [Conn.GiveUp], which
// returns what is known of an unfinished message.
//
// All waits use timers, channels and deadlines of the connection, so a test in a
// testing/synctest bubble over internal/base/memnet takes no time.
//
// To read: protocol.go (what a protocol provides, and what can be
// received), conn.go, read.go, budget.go, write.go, wait.go, end.go.
package session
