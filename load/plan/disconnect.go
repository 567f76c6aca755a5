package plan

import (
	"time"
)

// Phase is where a connection stands when its client ends it.
type Phase uint8

// The phases. From AtPush on a command was sent, and its reply has not come.
const (
	AtGreeting Phase = iota // connected, hello not sent
	AtHello                 // hello sent
	AtIdle                  // between two commands
	AtPush
	AtFetch
	AtAck
	AtFail
	AtBeat
	AtInfo
	phaseCount
)

var phaseNames = [phaseCount]string{"greeting", "hello", "idle", "push", "fetch", "ack", "fail", "beat", "info"}

// String is the phase's name in flags and files.
func (p Phase) String() string { return phaseNames[p] }

// Ending is how a client ends its connection.
type Ending uint8

// The endings.
const (
	Close     Ending = iota // in order, but without goodbye
	Reset                   // as a client that crashed
	HalfClose               // it sends no more, awaits the reply, and closes then
	endingCount
)

// Disconnect is an end of a connection, by its client.
type Disconnect struct {
	Ending Ending
	// After is how long the client waits, so that the server may have read what was sent,
	// or have answered it; 0 to 20 ms.
	After time.Duration
}

// maxDisconnectDelay is the longest Disconnect.After.
const maxDisconnectDelay = 20 * time.Millisecond

// Disconnects reports whether any client ends its connection before the run does.
func (j *Jobs) Disconnects() bool { return j.disconnects > 0 }

// Disconnect reports whether and how a client ends its connection at its nth turn, which
// is one of phase at. Client and n are 0 or more. One half of the endings come at once.
func (j *Jobs) Disconnect(client int, n int64, at Phase) (Disconnect, bool) {
	if !j.disconnectAt[at] {
		return Disconnect{}, false
	}
	random := Mix(Mix(j.seeds[purposeDisconnect], uint64(client)), uint64(n))
	if unit(random) >= j.disconnects {
		return Disconnect{}, false
	}
	random = Mix(random, 0)
	d := Disconnect{Ending: Ending(scaleTo(random, uint64(endingCount)))}
	if random%2 == 0 {
		d.After = Range{Max: maxDisconnectDelay}.at(Mix(random, 1))
	}
	return d, true
}

// disconnectPhases are those in which clients end their connections: those that are
// named, or all after which nothing has to wait for the end of a reservation.
func (w *Workload) disconnectPhases() (at [phaseCount]bool) {
	for _, p := range w.DisconnectAt {
		at[p] = true
	}
	if len(w.DisconnectAt) == 0 {
		for p := range phaseCount {
			at[p] = p != AtFetch && p != AtFail
		}
	}
	return at
}
