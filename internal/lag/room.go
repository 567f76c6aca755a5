package lag

import "time"

// Room is what a script leaves between the time at which it does something and the limit of the server that it counts
// on: 58 s of a reservation of 60 s, 1 s of a FETCH that waits for 2 s. A line that comes later than planned by no more
// than that meets the same server.
const Room = 500 * time.Millisecond

// RoomIn returns the room where the limit is the end of a wait of the server: a quarter of the wait, but no less than
// what a machine is late by that is hardly busy.
func RoomIn(wait time.Duration) time.Duration {
	const share, least = 4, 100 * time.Millisecond
	return min(max(wait/share, least), Room)
}

// Allowance is by how much more than a text allows a peer may take before a law or a property calls it late: other
// checks, the network, or the lag of this machine may be the reason.
const Allowance = 2 * time.Second

// turns is how many events one after the other are each late by the lag, from our line to the reply that we read: we
// write, the peer reads, its processes answer, we read.
const turns = 4

// Covers reports whether a limit that was widened by an allowance still decides on a machine that was late by so much.
func Covers(allowance, late time.Duration) bool { return turns*late <= allowance }

// Grace returns how much longer than its timeout a peer may take on a machine that is late, so that what is missing
// then is so for certain. A late timer shows that processes wait for their turn, and for a reply several of them have
// to get theirs, several times.
func Grace(late, timeout time.Duration) time.Duration {
	const turns, most = 20, 2 // timeouts
	return late + min(turns*late, most*timeout)
}
