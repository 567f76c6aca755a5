package conformance

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/scenarios"
)

// Property is a check that no script can be: it makes up what it sends, or judges what
// many clients have seen together. Which clauses it will meet nobody can tell
// beforehand, so it passes none of them: it fails those that it finds broken, and
// passes itself if it got far and found nothing.
type Property struct {
	Name        string        // the id of the check
	Title       string        // one sentence
	About       string        // what it does, for people
	Wait        time.Duration // what it may take: above QuickWait it is no part of a quick run
	Connections int           // that it may have open at a time
	Run         func(ctx context.Context, on Trial) Sight
}

// Properties are those of the suite, in the order of their names.
func Properties() []Property { return []Property{madeUpCommands(), manyClients()} }

// Script stands for the property where checks are selected and listed: it has a name
// and a title, and not one line.
func (p Property) Script() *scenarios.Script {
	return &scenarios.Script{Name: p.Name, Title: p.Title, Waits: p.Wait}
}

// Trial is where a property is tried.
type Trial struct {
	Target   scenarios.Target
	Password string        // of the target, empty if it has none
	Alone    bool          // nobody else uses the target: FLUSH and the queue default may be used
	Seed     uint64        // of all that is made up
	Timeout  time.Duration // the longest wait for a reply
	Patience time.Duration // for what the specification calls eventual

	// Fresh starts another server like the target; nil where there is none. The
	// returned function ends it.
	Fresh func() (scenarios.Target, func(), error)
}

// Sight is what a property has seen.
type Sight struct {
	Findings []explore.Finding
	Served   bool     // a connection got as far as to be identified
	Dead     bool     // the server serves no more
	Commands int      // that were sent
	Answered int      // how many of them were answered
	Left     []string // jobs that could not be removed
	Open     string   // why nothing can be said although nothing was found; empty if there is no reason
}

// why is the reason for which a property does not pass although it found nothing.
func (s Sight) why() string {
	switch {
	case !s.Served:
		return "no connection got as far as being identified"
	case 2*s.Answered < s.Commands:
		return "fewer than half of the commands were answered"
	}
	return s.Open
}
