// Package memnet is a [Network] in memory, for tests in virtual time. A goroutine that waits in a real socket stops the
// clock of testing/synctest, and net.Pipe has neither a buffer nor a half-close. The connections of this package have
// both, and deadlines, and distinguish an orderly close from a reset; a goroutine that waits on one of them is durably
// blocked in the sense of testing/synctest.
package memnet
