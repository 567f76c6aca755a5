// Package memnet is an in-memory network for tests in virtual time.
//
// A goroutine that waits in a real socket stops the clock of testing/synctest, and
// net.Pipe has neither a buffer nor a half-close. The connections of this package have
// both, and deadlines, and distinguish an orderly close from a reset; a goroutine that
// waits on one of them is durably blocked in the sense of testing/synctest.
//
// Errors look like those of package net: *net.OpError around net.ErrClosed,
// os.ErrDeadlineExceeded, syscall.ECONNREFUSED, syscall.ECONNRESET or
// syscall.EPIPE. The end of the stream is a plain io.EOF.
//
// Files: network.go (names and listeners), place.go (one address), listener.go, conn.go (the two ends, and what is
// under way).
package memnet
