// Package engine moves bytes and keeps the time for thousands of connections. It knows nothing of any protocol. A
// connection is a [Session], a pure state machine. Sessions belong to a [Loop]; those of one loop are stepped one at a
// time, so that they may share state without locks. An [Engine] has one loop or several, which share nothing:
// [NewPortable] a goroutine for each connection, [NewEpoll] a thread for each loop (Linux, no TLS). Every instant is a
// time.Duration since the engine's start, by a clock that never goes back.
package engine
