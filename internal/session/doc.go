// Package session holds one conversation with a peer: messages in the order in
// which they came, each with its time, and nothing lost or guessed. It knows
// connections, time and what is owed; what the bytes mean is a [Protocol]'s.
//
// A [Conn] has one goroutine that reads all the time. Everything else belongs
// to the goroutine that uses the connection: it writes with [Conn.Write], looks
// at what came with [Conn.Peek] and [Conn.Take], and gives up a wait with
// [Conn.GiveUp], which returns what is known of a message that did not come in
// whole.
//
// All waiting goes through timers, channels and deadlines of the connection, so
// a test in a testing/synctest bubble over internal/memnet waits for nothing.
//
// To read: protocol.go (what a protocol brings), received.go (what can come),
// conn.go, read.go, write.go, wait.go, end.go.
package session
