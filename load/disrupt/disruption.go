package disrupt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/load/plan"
)

// Action is what a disruption does. Its value is the word of files and flags.
type Action string

// The actions on the processes of the server, those on the network before it, and the one on its disk.
const (
	Kill       Action = "kill"        // the server and all that it started, without warning; started again afterwards
	KillServer Action = "kill-server" // the server alone: what it started may end in order; started again afterwards
	Restart    Action = "restart"     // it ends in order, with all that it started, and is started again
	Pause      Action = "pause"       // its processes stand still, and continue

	Partition Action = "partition" // no bytes pass; afterwards those that were held back do
	Slow      Action = "slow"      // bytes pass late, at a low rate or in small segments
	Reset     Action = "reset"     // all connections are reset

	Fill Action = "fill" // its disk is full, and has room again
)

// kind is what there is to know about an action.
type kind struct {
	defaultLength     time.Duration // how long it lasts, unless a file says otherwise
	shortest, longest time.Duration // how long it lasts if that is drawn
}

var kinds = map[Action]kind{
	Kill:       {time.Second, 100 * time.Millisecond, 2 * time.Second},
	KillServer: {time.Second, 100 * time.Millisecond, 2 * time.Second},
	Restart:    {time.Second, 100 * time.Millisecond, 2 * time.Second},
	Pause:      {5 * time.Second, time.Second, 5 * time.Second},
	Partition:  {5 * time.Second, time.Second, 5 * time.Second},
	Slow:       {10 * time.Second, 2 * time.Second, 8 * time.Second},
	Reset:      {},
	Fill:       {10 * time.Second, 2 * time.Second, 8 * time.Second},
}

// Actions returns all actions.
func Actions() []Action {
	return []Action{Kill, KillServer, Restart, Pause, Partition, Slow, Reset, Fill}
}

// Words returns the words for actions.
func Words(actions []Action) (words []string) {
	for _, a := range actions {
		words = append(words, string(a))
	}
	return words
}

// Stops reports whether the server is stopped, so that its memory is gone.
func (a Action) Stops() bool { return a == Kill || a == KillServer || a == Restart }

// Kills reports whether the server is stopped without warning.
func (a Action) Kills() bool { return a == Kill || a == KillServer }

// OnProcess reports whether the action is one on the processes of the server.
func (a Action) OnProcess() bool { return a.Stops() || a == Pause }

// OnNetwork reports whether the action is one on the network before the server.
func (a Action) OnNetwork() bool { return a == Partition || a == Slow || a == Reset }

// Disruption is one thing that is done to a target.
type Disruption struct {
	Action Action
	At     time.Duration // when it begins, from the first arrival of the load
	Length time.Duration // how long it lasts; of a stop: until the server is started again
	Cut    Direction     // of Partition: what does not pass
	Link   Link          // of Slow
}

// Direction is the direction of bytes.
type Direction uint8

// The directions.
const (
	BothWays Direction = iota
	ToServer
	ToClients
)

// directions are the words of files.
var directions = []string{"both", "to-server", "to-clients"}

// Link is a slow network. A part that is zero changes nothing.
type Link struct {
	Delay   time.Duration // of each piece of bytes, in each direction
	Jitter  time.Duration // up to so much is added to Delay
	Rate    int           // bytes a second of each connection, in each direction
	Segment int           // bytes that are sent at a time
}

// String describes the disruption without its time: "partition to-server for 5s".
func (d Disruption) String() string {
	words := []string{string(d.Action)}
	switch {
	case d.Action == Partition && d.Cut != BothWays:
		words = append(words, directions[d.Cut])
	case d.Action == Slow:
		words = append(words, d.Link.words()...)
	}
	if d.Length > 0 {
		words = append(words, "for "+d.Length.String())
	}
	return strings.Join(words, " ")
}

// YAML returns the disruption as a schedule has it, without the hyphen: {at: 20s, do: kill, for: 2s}.
func (d Disruption) YAML() string {
	words := []string{"at: " + d.At.String(), "do: " + string(d.Action)}
	add := func(key, value string, isSet bool) {
		if isSet {
			words = append(words, key+": "+value)
		}
	}
	add("for", d.Length.String(), d.Action != Reset)
	add("direction", directions[d.Cut], d.Cut != BothWays)
	add("delay", d.Link.Delay.String(), d.Action == Slow)
	add("jitter", d.Link.Jitter.String(), d.Action == Slow)
	add("rate", strconv.Itoa(d.Link.Rate), d.Link.Rate > 0)
	add("segment", strconv.Itoa(d.Link.Segment), d.Link.Segment > 0)
	return "{" + strings.Join(words, ", ") + "}"
}

func (l Link) words() (words []string) {
	if l.Delay > 0 || l.Jitter > 0 {
		words = append(words, "by "+plan.Range{Min: l.Delay, Max: l.Delay + l.Jitter}.String())
	}
	if l.Rate > 0 {
		words = append(words, fmt.Sprintf("to %d B/s", l.Rate))
	}
	if l.Segment > 0 {
		words = append(words, fmt.Sprintf("in segments of %d B", l.Segment))
	}
	return words
}

// NamesFile reports whether what was given in the place of actions is the name of a file: it has an ending or a folder.
func NamesFile(text string) bool { return strings.ContainsAny(text, `./\`) }

// ParseActions reads actions with commas between them: "kill,pause". Each may be there once.
func ParseActions(text string) ([]Action, error) {
	var all []Action
	for word := range strings.SplitSeq(text, ",") {
		a, err := parseAction(strings.TrimSpace(word))
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(all, a):
			return nil, problem(strconv.Quote(string(a))+" is given twice", "each disruption once", "remove one of them")
		}
		all = append(all, a)
	}
	return all, nil
}
