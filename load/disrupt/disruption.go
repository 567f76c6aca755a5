package disrupt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/plan"
)

// kind is what there is to know about an action.
type kind struct {
	defaultLength     time.Duration // how long it lasts, unless a file says otherwise
	shortest, longest time.Duration // how long it lasts if that is drawn
}

var kinds = map[target.Action]kind{
	target.Kill:       {time.Second, 100 * time.Millisecond, 2 * time.Second},
	target.KillServer: {time.Second, 100 * time.Millisecond, 2 * time.Second},
	target.Restart:    {time.Second, 100 * time.Millisecond, 2 * time.Second},
	target.Pause:      {5 * time.Second, time.Second, 5 * time.Second},
	target.Partition:  {5 * time.Second, time.Second, 5 * time.Second},
	target.Slow:       {10 * time.Second, 2 * time.Second, 8 * time.Second},
	target.Reset:      {},
	target.Fill:       {10 * time.Second, 2 * time.Second, 8 * time.Second},
}

// Actions returns what a disruption can do.
func Actions() []target.Action {
	return []target.Action{
		target.Kill, target.KillServer, target.Restart, target.Pause,
		target.Partition, target.Slow, target.Reset, target.Fill,
	}
}

// Words returns the words for actions.
func Words(actions []target.Action) (words []string) {
	for _, a := range actions {
		words = append(words, string(a))
	}
	return words
}

// Disruption is one thing that is done to a target.
type Disruption struct {
	Action    target.Action
	At        time.Duration // when it begins, from the first arrival of the load
	Length    time.Duration // how long it lasts; of a stop: until the server is started again
	Direction Direction     // of Partition: what does not pass
	Link      Link          // of Slow
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
	case d.Action == target.Partition && d.Direction != BothWays:
		words = append(words, directions[d.Direction])
	case d.Action == target.Slow:
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
	add("for", d.Length.String(), d.Action != target.Reset)
	add("direction", directions[d.Direction], d.Direction != BothWays)
	add("delay", d.Link.Delay.String(), d.Action == target.Slow)
	add("jitter", d.Link.Jitter.String(), d.Action == target.Slow)
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
func ParseActions(text string) ([]target.Action, error) {
	var all []target.Action
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
