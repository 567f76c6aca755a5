package workercheck

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// job is a work unit that a situation pushes.
type job struct {
	jid     string // fresh if empty
	jobtype string
	args    string // JSON of the array; [] if empty
	queue   string // that of the situation if empty
	more    string // further members of the object, as in `,"custom":null`
}

// push pushes a job on all servers, and returns its jid.
func (b *bed) push(j job) string {
	if j.jid == "" {
		j.jid = "fwp" + strings.ToLower(rand.Text())
	}
	if j.args == "" {
		j.args = "[]"
	}
	if j.queue == "" {
		j.queue = b.queue()
	}
	unit := fmt.Sprintf(`{"jid":%s,"jobtype":%s,"args":%s,"queue":%s%s}`,
		quoted(j.jid), quoted(j.jobtype), j.args, quoted(j.queue), j.more)
	if j.more != "" {
		b.verbatim(j.jid, unit)
	}
	for _, s := range b.servers {
		if err := s.Push([]byte(unit)); err != nil {
			b.giveUp(false, "the job %s could not be pushed: %v", unit, err)
		}
	}
	return j.jid
}

// verbatim has a job delivered as it was pushed.
func (b *bed) verbatim(jid, unit string) {
	b.steer(func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString &&
			bytes.Contains(e.Reply.Text, []byte(quoted(jid))) {
			e.Reply.Text = []byte(unit)
		}
	})
}

// pushes calls push for each of n jobs of a type, and returns their jids.
func (b *bed) pushes(n int, jobtype, args string) []string {
	var jids []string
	for range n {
		jids = append(jids, b.push(job{jobtype: jobtype, args: args}))
	}
	return jids
}

// quoted returns a text as JSON.
func quoted(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string has an encoding
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// queue returns the queue that the program fetches from: one of those that it was told, or else one of its own.
func (b *bed) queue() string {
	seen := b.harness.observed.Queues
	if len(seen) == 0 || slices.Contains(seen, theQueues[0]) {
		return theQueues[0]
	}
	return seen[0]
}

// reported waits until each of the jobs has a report, and returns the jids of those that have none.
func (b *bed) reported(p *proc, patience time.Duration, jids ...string) (missing []string) {
	without := func() []string {
		return slices.DeleteFunc(slices.Clone(jids), func(jid string) bool { return b.reportOf(jid) != nil })
	}
	b.until(patience, func() bool {
		missing = without()
		return len(missing) == 0 || b.exited(p)
	})
	return missing
}

// mustFetch waits until a job was delivered, and ends the play otherwise.
func (b *bed) mustFetch() {
	if !b.until(settled, func() bool { return b.count(delivered) > 0 }) {
		b.giveUp(true, "the program fetched no job within %v", settled)
	}
}

// queuesOf returns the queues of a FETCH.
func queuesOf(e *monitor.Event) []string {
	if len(e.Command.Args) == 0 {
		return []string{"default"}
	}
	return strings.Fields(string(e.Command.Args))
}

// secondsOf returns the time that a fwp.sleep takes.
func secondsOf(args []any) time.Duration {
	if len(args) == 0 {
		return 0
	}
	n, _ := args[0].(json.Number)
	f, err := n.Float64()
	if err != nil {
		if x, is := args[0].(float64); is {
			f = x
		}
	}
	return time.Duration(f * float64(time.Second))
}

// verbOf returns ACK or FAIL: how a job was reported first; empty if it was not.
func (b *bed) verbOf(jid string) string {
	if e := b.reportOf(jid); e != nil {
		return e.Command.Verb
	}
	return ""
}
