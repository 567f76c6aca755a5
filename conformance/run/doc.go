// Package run plays checks on servers, and says what follows for each clause. It knows no protocol: what differs is in
// the [conformance.Suite] of a [Runner]. Each check has connections, queues, jobs and worker ids of its own, so that
// checks run concurrently; those that touch what all clients share run alone, and only where that is allowed. One
// goroutine, the loop of a run, starts checks and evaluates what they return; each is played in a goroutine of its own.
// Nothing here prints or reads flags.
package run
