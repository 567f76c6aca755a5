// Package ledger accounts for every job of a load run: which were pushed, which were delivered, which were settled, and
// therefore which are lost and which were delivered twice.
//
// A job is identified by its number k, counted from 0 without large gaps. It takes three bits: two for its state and
// one for whether its push was confirmed, and a quarter of one for when it was pushed; refused and doubtful pushes
// take one bit more for each job nearby. So ten million jobs take less than 5 MB, and every count is exact: nothing
// is sampled or dropped.
//
// # The states of a job
//
// Unseen: no worker has got it. Held: a worker has it. May return: a worker had it, and the server may deliver it again
// (after a fail with retries left, an ack or fail without a reply, the end of a connection or of a reservation).
// Settled: an ack was confirmed, or a fail after which it is not delivered again.
//
//	                | unseen      | held        | may return  | settled
//	Delivered       | held: First | held: Twice | held: Again | settled: Returned
//	MayReturn       | -           | may return  | may return  | settled
//	Failed, returns | -           | may return  | may return  | settled
//	Failed for good | -           | settled     | settled     | settled
//	Acked           | -           | settled     | settled     | settled
//
// A report on a job that was never delivered (-) is a mistake of the caller, and changes nothing.
//
// # What the table means
//
// The push is separate from the states, because its reply races with the delivery: a job can be delivered, and even
// settled, before its push is confirmed. A push without a reply (Doubtful) may or may not have been accepted: its job
// may be delivered, and is not missing if it is not. A job whose push was refused must not be delivered: if it is, it
// is a foreign job, although the worker may continue with it.
//
// MayReturn must be called before the server can know about it: before a fail is sent, not when it is confirmed,
// because another worker may have the job before the reply has been read. So a server that delivers a job again in time
// is not taken for one that delivers it twice. When a worker has the job again, a second delivery is Twice again, until
// that worker is done with it or it may return once more. An ack that is confirmed late settles the job, whichever
// worker has it.
//
// The caller knows how often a job may fail before it must not be delivered again (Failed).
//
// # Missing and lost
//
// A job is missing if its push was confirmed and no worker has got it. During the run that is the backlog. When the
// queues have been drained there is one reason that is not the server's fault: a fetch that ended without a reply may
// have taken one job. Jobs missing beyond the number of those are lost.
//
// It stands apart from the law of conversations because its memory is bounded: some bits a job, whatever was said.
//
// Files: ledger.go, state.go and grow.go (the states, and the times of the last jobs), count.go
// (what they come to), stop.go (a server that was stopped), clock.go (how its clock is).
package ledger
