package machine

import "time"

// Room is by how much we may be late without being the reason for what is received: scripts leave twice as much between
// the time at which they do something and the limit of the server that they count on.
const Room = 250 * time.Millisecond

// Slack is by how much more than a script allows a reply may take, beside the round trip and what we were late: the
// processes of a server wait for their turns.
const Slack = 100 * time.Millisecond

// Allowance is by how much more than a text allows a peer may take before a law or a property calls it late: other
// checks or the network may be the reason.
const Allowance = 2 * time.Second

// Grace returns how much longer than its timeout a peer may take on a machine that is late, so that what is missing
// then is so for certain. A late timer shows that processes wait for their turn, and for a reply several of them have
// to get theirs, several times.
func Grace(lateness, timeout time.Duration) time.Duration {
	const turns, maxTimeouts = 20, 2 // timeouts
	return lateness + min(turns*lateness, maxTimeouts*timeout)
}
