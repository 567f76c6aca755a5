package standstill

import (
	"fmt"
	"slices"
	"time"
)

// Look is what was seen at one place.
type Look uint8

// The looks.
const (
	Unseen Look = iota // nobody looked, or nothing could be seen
	Gone               // the process has ended; the connection was refused, or ended
	Silent             // the connection is open, and brings nothing
	Live               // the process runs; the connection was answered
)

// Looks are what was seen of a server behind a new connection that was not served. The zero value has seen nothing.
type Looks struct {
	Process Look // the one that listens
	Old     Look // a connection that was open before
	Fresh   Look // a new one, when those of the play had ended
	Second  Look // one beside Fresh, on which nothing was sent
	Third   Look // Second, when Fresh had introduced itself

	PID        int // of the process; 0: not known
	Admissions int // connections that the server had let in; 0: not known
	Room       int // connections that were open when one more was not served; 0: there was no such one

	Lifetimes []time.Duration // of the processes that have ended by themselves, one after the other

	Greeting     string // what a server sends first; empty: nothing
	Introduction string // the verb by which a client introduces itself; empty: it does not
}

// Way is a way not to serve.
type Way uint8

// The ways.
const (
	Unknown    Way = iota // none that the looks tell
	Dead                  // the process has ended
	Hanging               // the process lives, and answers nothing
	Closed                // it takes no new connection
	Full                  // it serves so many connections at a time
	OneByOne              // it takes a connection when the client before has introduced itself
	ShortLived            // its process ends by itself, whatever is sent
)

// Way decides which way the looks show. A new connection that is served shows a server that serves, or one that does
// for some. Where only new ones were seen, and nothing of the process, it is not known.
func (l Looks) Way() Way {
	if l.Process == Gone {
		if l.areLivesAlike() {
			return ShortLived
		}
		return Dead
	}
	switch {
	case l.Fresh == Live && l.Second == Silent && l.Third == Live:
		return OneByOne
	case l.Fresh == Live && l.Room > 0:
		return Full
	case l.Fresh == Live || l.Fresh == Unseen:
		return Unknown
	}
	return l.unservedWay()
}

// unservedWay decides which way it is where no new connection is served, and the process has not ended as far as was
// seen.
func (l Looks) unservedWay() Way {
	switch {
	case l.Old == Live:
		return Closed
	case l.Fresh == Silent && l.Old == Silent:
		return Hanging
	case l.Fresh == Silent && l.Process == Live:
		return Closed
	}
	return Unknown
}

// What shows that a process ends by itself: so many lives that are so much alike, and too long for the command that
// came first to be the reason.
const (
	minLives    = 4
	minLifetime = 3 * time.Second
	lifeSpread  = 20 // lives differ by such a part at most
)

// areLivesAlike reports whether the process has ended so long after each start that it does so by itself.
func (l Looks) areLivesAlike() bool {
	if len(l.Lifetimes) < minLives {
		return false
	}
	shortest, longest := slices.Min(l.Lifetimes), slices.Max(l.Lifetimes)
	return shortest >= minLifetime && lifeSpread*(longest-shortest) <= longest
}

// Lives reports whether a server that does not serve is there: no command has ended it, as far as was seen.
func (w Way) Lives() bool { return w != Unknown && w != Dead && w != ShortLived }

// String says in one sentence which way the looks show; it is empty where that is not known, or a command may have
// ended the process.
func (l Looks) String() string {
	pid := "its process"
	if l.PID > 0 {
		pid = fmt.Sprintf("pid %d", l.PID)
	}
	greeting := l.Greeting
	if greeting == "" {
		greeting = "answer"
	}
	words := ""
	switch l.Way() {
	case Hanging:
		if l.Process != Live {
			return "it hangs: no connection is answered, neither a new one nor one that was open before"
		}
		return "it hangs: " + pid + " lives, no connection is answered"
	case Closed:
		words = "it takes no new connection"
		if l.Old == Live {
			words += "; those that were open are served"
		} else if l.Process == Live {
			words += "; " + pid + " lives"
		}
		if l.Admissions > 0 {
			words += fmt.Sprintf("; it took %d", l.Admissions)
		}
	case Full:
		words = fmt.Sprintf("it serves %d connections at a time: the %s gets no %s", l.Room, ordinal(l.Room+1), greeting)
		if l.Room == 1 {
			words = "it serves one connection at a time: the second gets no " + greeting
		}
	case ShortLived:
		words = fmt.Sprintf("it ends %v after each start, whatever is sent", slices.Max(l.Lifetimes).Round(time.Second))
	case OneByOne:
		words = "it accepts the next connection when the one before has said " + l.Introduction
	}
	return words
}

// ordinal returns the word for the place of a thing: "ninth", "81st".
func ordinal(n int) string {
	words := [...]string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n < len(words) {
		return words[n]
	}
	suffix := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}

// Merge adds what another play has seen of the same server: what one of them saw served counts.
func (l Looks) Merge(other Looks) Looks {
	l.Old = max(l.Old, other.Old)
	if l.Fresh == Unseen {
		l.Fresh, l.Second, l.Third = other.Fresh, other.Second, other.Third
	}
	if l.Process == Unseen || other.Process == Gone { // it did so later
		l.Process = other.Process
	}
	l.PID, l.Admissions, l.Room = max(l.PID, other.PID), max(l.Admissions, other.Admissions), max(l.Room, other.Room)
	if len(l.Lifetimes) < len(other.Lifetimes) {
		l.Lifetimes = other.Lifetimes
	}
	if l.Greeting == "" {
		l.Greeting, l.Introduction = other.Greeting, other.Introduction
	}
	return l
}
