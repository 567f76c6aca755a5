package double

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// The limits of a journal. When one is reached the oldest entries are dropped.
const (
	maxEntries = 100_000
	maxMemory  = 48 << 20 // bytes of all entries
	maxCommand = 4 << 10  // bytes of a command that is shown
	maxUnits   = 16 << 20 // bytes of the jobs that are remembered by their jids
)

// Entry is one command of a client, with its reply.
type Entry struct {
	Number     int       `json:"number"` // from 1
	At         time.Time `json:"at"`     // by the clock of the server
	Connection int64     `json:"connection"`
	Worker     string    `json:"worker,omitempty"` // the wid; empty for a producer
	Verb       string    `json:"verb"`
	Command    string    `json:"command"` // the line, its end replaced by "..." beyond 4 KiB
	Reply      string    `json:"reply"`   // as a script has it: "+OK", "$-1"
	Refusal    string    `json:"refused,omitempty"`
	Mistake    string    `json:"mistake,omitempty"` // the rule of the specification that the client broke

	units [][]byte // the jobs that the command is about, as JSON; none if there are none or they are not known
}

// isAbout reports whether a command is about a job of a queue.
func (e *Entry) isAbout(queue string) bool {
	return slices.ContainsFunc(e.units, func(unit []byte) bool { return queueOf(unit) == queue })
}

// queueOf returns the queue of a job, empty if nothing but its jid is known.
func queueOf(unit []byte) string {
	job, err := fakes.ParseObject(unit)
	if err != nil || job.Text("jobtype") == "" {
		return ""
	}
	return cmp.Or(job.Text("queue"), "default")
}

// kind returns what a command did to its jobs, as expectations name it; empty if it did nothing.
func (e *Entry) kind() string {
	if e.Refusal != "" || e.units == nil {
		return ""
	}
	return kinds[e.Verb]
}

var kinds = map[string]string{
	fwp.PUSH: "pushed", "PUSHB": "pushed", fwp.FETCH: "fetched", fwp.ACK: "acknowledged", fwp.FAIL: "failed",
}

// journal is a list of entries with bounds.
type journal struct {
	entries   []Entry
	memory    int
	last      int               // the number of the last entry
	cleared   int               // entries that a reset of a queue has removed
	changed   chan struct{}     // closed when there is a new entry, or none any more
	units     map[string][]byte // the jobs by their jids, as they were last pushed or delivered
	unitBytes int               // bytes of them
}

func (j *journal) add(e Entry) {
	close(j.changed)
	j.changed = make(chan struct{})
	j.last++
	e.Number = j.last
	j.entries = append(j.entries, e)
	j.memory += e.size()
	drop := 0
	for len(j.entries)-drop > maxEntries || j.memory > maxMemory {
		j.memory -= j.entries[drop].size()
		drop++
	}
	clear(j.entries[:drop]) // they stay reachable until the list is copied
	j.entries = j.entries[drop:]
}

// clearQueue removes what is about the jobs of a queue: whole entries, or their jobs of it.
func (j *journal) clearQueue(queue string) {
	close(j.changed)
	j.changed = make(chan struct{})
	isOfQueue := func(unit []byte) bool { return queueOf(unit) == queue }
	before := len(j.entries)
	j.memory = 0
	j.entries = slices.DeleteFunc(j.entries, func(e Entry) bool {
		return len(e.units) > 0 && !slices.ContainsFunc(e.units, func(unit []byte) bool { return !isOfQueue(unit) })
	})
	j.cleared += before - len(j.entries)
	for i := range j.entries {
		e := &j.entries[i]
		if e.isAbout(queue) {
			e.units = slices.DeleteFunc(slices.Clone(e.units), isOfQueue)
		}
		j.memory += e.size()
	}
	for jid, unit := range j.units {
		if isOfQueue(unit) {
			delete(j.units, jid)
			j.unitBytes -= entrySize + len(unit)
		}
	}
}

// entrySize is about how much memory an entry takes beside its texts.
const entrySize = 256

func (e *Entry) size() int {
	size := entrySize + len(e.Command) + len(e.Reply) + len(e.Refusal)
	for _, unit := range e.units {
		size += len(unit)
	}
	return size
}

// unitsOf returns the jobs that a line is about, and remembers those that it pushes. A job that is not remembered has
// its jid alone, so that its ACK or FAIL counts.
func (j *journal) unitsOf(verb string, line []byte) (units [][]byte) {
	_, args, _ := bytes.Cut(line, []byte(" "))
	switch verb {
	case fwp.PUSH:
		units = [][]byte{bytes.Clone(args)}
	case "PUSHB":
		var texts []json.RawMessage
		_ = json.Unmarshal(args, &texts) // one that is no array pushes nothing
		for _, text := range texts {
			units = append(units, text)
		}
	case fwp.ACK, fwp.FAIL:
		jid := fwp.JIDOf(args)
		if unit := j.units[jid]; unit != nil {
			return [][]byte{unit}
		}
		object := &fakes.Object{}
		object.SetText("jid", jid)
		return [][]byte{object.Append(nil)}
	}
	for _, unit := range units {
		j.remember(fwp.JIDOf(unit), unit)
	}
	return units
}

// remember keeps a job, unless there is no room for it.
func (j *journal) remember(jid string, unit []byte) {
	if j.units == nil {
		j.units = map[string][]byte{}
	}
	size := j.unitBytes + entrySize + len(unit)
	if old, ok := j.units[jid]; ok {
		size -= entrySize + len(old)
	}
	if jid != "" && size <= maxUnits {
		j.units[jid], j.unitBytes = unit, size
	}
}

// shortenLine returns a line for people.
func shortenLine(line []byte) string {
	if len(line) <= maxCommand {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	return strings.ToValidUTF8(string(line[:maxCommand]), "\uFFFD") + "..."
}

// Summary is what the clients of a server did.
type Summary struct {
	Commands       int     // that were answered
	DroppedEntries int     // entries that the journal has no more
	Refusals       int     // that were answered with an error
	Mistakes       []Entry // the entries with a mistake
	RemainingJobs  []string
}

// Summary returns what the clients did until now.
func (d *Double) Summary() Summary {
	counts := map[string]int{}
	var order []string
	for _, job := range d.server.Jobs() {
		if counts[job.Place]++; counts[job.Place] == 1 {
			order = append(order, job.Place)
		}
	}
	var s Summary
	for _, place := range order {
		s.RemainingJobs = append(s.RemainingJobs, fmt.Sprintf("%d %s", counts[place], places[place]))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Commands, s.DroppedEntries = d.journal.last, d.journal.last-d.journal.cleared-len(d.journal.entries)
	for _, e := range d.journal.entries {
		if e.Refusal != "" {
			s.Refusals++
		}
		if e.Mistake != "" {
			s.Mistakes = append(s.Mistakes, e)
		}
	}
	return s
}

var places = map[string]string{
	"queue": "in their queues", "scheduled": "scheduled", "retries": "waiting for a retry",
	"working": "fetched, without ACK or FAIL", "dead": "dead",
}

// entries returns the entries of the journal that are kept.
func (d *Double) entries(matches func(*Entry) bool) []Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []Entry{}
	for i := range d.journal.entries {
		if matches(&d.journal.entries[i]) {
			all = append(all, d.journal.entries[i])
		}
	}
	return all
}

// exact is the tolerance of values that are no times.
const exact time.Duration = -1

// contains reports whether a JSON value has everything that another one has: of objects the members that are named,
// of everything else the same value. Times of a job, its members at and ..._at, may be written differently, and may be
// apart by the tolerance; arguments are the application's, and are compared as they are.
func contains(got, want any, tolerance time.Duration) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, value := range want {
			member, isMember := object[name]
			allowed := tolerance
			if name == "args" {
				allowed = exact
			}
			ok = ok && isMember && (contains(member, value, allowed) || isTime(name) && isNear(member, value, allowed))
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && contains(list[i], want[i], tolerance)
		}
		return ok
	case json.Number:
		n, ok := got.(json.Number)
		return ok && number.Equal(n, want)
	}
	return got == want
}

func isTime(name string) bool { return name == "at" || strings.HasSuffix(name, "_at") }

// isNear reports whether two values are times that are at most so far apart.
func isNear(got, want any, tolerance time.Duration) bool {
	gotText, _ := got.(string)
	wantText, _ := want.(string)
	gotTime, gotErr := time.Parse(time.RFC3339, gotText)
	wantTime, wantErr := time.Parse(time.RFC3339, wantText)
	return cmp.Or(gotErr, wantErr) == nil && gotTime.Sub(wantTime).Abs() <= tolerance
}
