// Package ledger accounts for every job of a load run: which were pushed, which arrived, which were settled, and hence
// which are lost and which came twice.
//
// A job is known by its number k, counted from 0 without large gaps. It takes three bits: two for its state and one
// that says whether its push was confirmed; refused and doubtful pushes take a bit more for each job nearby. So ten
// million jobs take less than 5 MB, and every count is exact: nothing is sampled, and nothing is forgotten.
//
// # The states of a job
//
// Unseen: no worker has got it. Held: a worker has it. May return: a worker had it, and the server may hand it out again
// (a FAIL with retries left, an ACK or FAIL without a reply, a connection that is gone, a reservation that ran out).
// Settled: an ACK was confirmed, or a FAIL after which it does not come back.
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
// The push is apart from the states, because its reply races with the delivery: a job may well be delivered, and even
// settled, before its push is confirmed. A push without a reply (Doubtful) may or may not have been accepted: its job
// may arrive, and is not missing if it does not. A job whose push was refused must not arrive: if it does, that is a
// foreign job, although the worker may go on with it.
//
// MayReturn must be called before the server can know about it: before a FAIL goes out, not when it is confirmed, for
// the job may be with another worker before the reply has been read. So a server that hands a job out again in time is
// never taken for one that hands it out twice. From the moment when the job is back with a worker, a second delivery is
// Twice again, until that worker is done with it or it may return once more. An ACK that is confirmed late settles the
// job whoever holds it.
//
// How often a job may fail before it must not come back is not known here: the caller says so (Failed).
//
// # Missing and lost
//
// A job is missing if its push was confirmed and no worker has got it. While the run goes on that is the backlog. When
// the queues have been drained there is one innocent reason left: a FETCH that ended without a reply may have taken a
// job with it, one at most. What is missing beyond the number of those is lost.
package ledger
