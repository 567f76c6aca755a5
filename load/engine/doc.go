// Package engine moves bytes and keeps the time for thousands of connections. It
// knows nothing of any protocol.
//
// A connection is a [Session], a pure state machine: the engine tells it what
// happened and when, and the session answers with the bytes to send and the instant
// at which it wants to be woken. Sessions belong to a [Loop]; those of one loop are
// stepped one at a time, so that they may share state without locks. An [Engine] has
// one loop or several, which share nothing.
//
// Every instant is a time.Duration since the engine's start, by a clock that never
// goes back.
//
// [NewPortable] drives sessions with a goroutine for each connection, over any
// net.Conn. [NewEpoll] drives them with one thread for each loop, over sockets of its own
// (Linux, no TLS). What a connection is to its session is the same code in both.
//
// Files: engine.go (Session, Link, Loop), driver.go (Config), loop.go (the loop), timers.go, conn.go (what a
// connection is), stream.go with direct_unix.go, direct_other.go, now_unix.go and now_linux.go (the portable wire),
// poller_linux.go, poller_other.go, socket_linux.go and lookup_linux.go (epoll), sleeper.go, sleeper_linux.go and
// sleeper_other.go (waiting for an instant), aside.go (work outside the loop).
package engine
