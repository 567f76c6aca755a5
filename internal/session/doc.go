// Package session is one conversation with a peer: messages in the order in which they were received, each with its
// time, and none lost. It knows connections, time and what is owed; the meaning of the bytes is up to a [Codec]. A
// [Conn] has one goroutine that reads all the time; everything else belongs to the goroutine that uses the connection.
// All waits use timers, channels and deadlines, so a test in testing/synctest over internal/base/memnet takes no time.
package session
