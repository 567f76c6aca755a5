// Package history records what clients asked and what they were told, and judges it
// afterwards, job by job.
//
// A [Recorder] takes events from many goroutines and gives a [History]. [Judge]
// returns what in it no right server can have done; [Examine] also says what stays
// undecided. [History.Save] and [Load] keep a history in a file.
//
// Every event has an interval, from its call to its return, and took effect at some
// instant within it. A finding is only what holds for every choice of those instants.
// A call without a reply stays open for ever: whether and when it took effect is
// never guessed. What the protocol leaves to the server is left to it here:
//
//   - a jid that is pushed twice is not judged (AMB-33);
//   - an ACK or FAIL of somebody who does not hold the job may be answered either way,
//     and may have an effect or none (AMB-21);
//   - a reservation that ran out may count as a failure or not, and the job may wait
//     for any time (AMB-01b, AMB-38);
//   - no order within a queue is promised (AMB-27);
//   - a restart or a kill is where the judging of a job ends, save for its loss over a
//     restart in good order (FWP-STATE-08).
package history
