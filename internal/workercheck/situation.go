package workercheck

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/scenarios"
)

// Situation is what the program under test is put into: a row of the tables.
type Situation struct {
	// ID is a stable name, "quiet/bulk".
	ID string
	// Title says in one sentence what has to hold.
	Title string
	// Clauses are those that it decides, separated by spaces and without the prefix that they share. What the monitors
	// find broken beside them is reported as well.
	Clauses string
	// Wait is how long a play has to take at least, on a program that is right.
	Wait time.Duration
	// Server changes the configuration of the server; it may be nil.
	Server func(*fakes.Config)
	// TLS is set if the server has TLS, IPv6 if it listens there only, and Provider if the program finds the URL
	// by FAKTORY_PROVIDER.
	TLS, IPv6, Provider bool
	// Play puts the program into the situation, and returns when it is over. It decides what the monitors cannot.
	Play func(*bed)
}

func (s *Situation) clauses() []string {
	ids := strings.Fields(s.Clauses)
	for i, id := range ids {
		ids[i] = "FWP-" + id
	}
	return ids
}

// describe returns what is known of the situation before it is played.
func (s *Situation) describe() conformance.Description {
	d := conformance.Description{ID: s.ID, Title: s.Title, Wait: s.Wait}
	for _, id := range s.clauses() {
		d.Marks = append(d.Marks, scenarios.Mark{Clause: id})
	}
	return d
}
