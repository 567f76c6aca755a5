// Package machine knows what may be so only because this machine, or the way to the peer, was late, or ran out of
// something. A finding is doubtful if a span of time is its premise: it is open where something of ours was late by
// [Room] or more meanwhile, as a [Meter] measures. What is about content, or certain by our own stamps, is never in
// doubt. A [Shortage] is about this side of a connection: it never counts against the server. [Sleep] and [Wait] are
// the one way in which the rooms let time pass.
package machine
