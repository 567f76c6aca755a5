package oracle

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/jsonnum"
)

// Additions are what the law knows of the commands that a profile adds: a queue that was paused delivers nothing, and a
// job that was killed or discarded does not come. It judges where no other command could be the reason. The zero value
// is ready.
type Additions struct {
	step   int             // counts commands and replies
	paused map[string]int  // queues, and since which step
	gone   map[string]int  // jobs by their jids, and since which step
	asked  map[int]int     // the step in which the FETCH of a connection was sent
	late   map[string]bool // the jids of jobs that were pushed for a time far away
}

// Addition is a command that the profile adds, between its line and its reply.
type Addition struct{ queues, jobs []string }

// farAway is how far ahead the time of a job is that does not come meanwhile.
const farAway = 10 * time.Minute

// Sent takes a command that the profile adds. What it may undo is not judged any more.
func (a *Additions) Sent(w *World, line []byte) *Addition {
	a.step++
	cmd := fwp.SplitCommand(line)
	words := strings.Fields(string(cmd.Args))
	switch {
	case cmd.Verb == "QUEUE" && len(words) > 1 && strings.EqualFold(words[0], "PAUSE"):
		return &Addition{queues: slices.DeleteFunc(words[1:], func(q string) bool { return len(w.queues[q]) == 0 })}
	case cmd.Verb == "QUEUE":
		for _, q := range words[min(1, len(words)):] {
			delete(a.paused, q)
			if q == "*" {
				a.paused = nil
			}
		}
	case cmd.Verb == "MUTATE":
		fields := jsonnum.Object(cmd.Args)
		if fields["cmd"] == "requeue" {
			a.gone = nil
		}
		filter, _ := fields["filter"].(map[string]any)
		jids, _ := filter["jids"].([]any)
		ends := fields["cmd"] == "kill" || fields["cmd"] == "discard"
		if ends && fields["target"] == "scheduled" && len(filter) == 1 {
			return &Addition{jobs: a.scheduled(jids)}
		}
	}
	return &Addition{}
}

// scheduled returns those of some jobs that are scheduled for a time far away.
func (a *Additions) scheduled(jids []any) (all []string) {
	for _, jid := range jids {
		if jid, is := jid.(string); is && a.late[jid] {
			all = append(all, jid)
		}
	}
	return all
}

// Replied takes the reply to such a command.
func (a *Additions) Replied(of *Addition, r fwp.Reply) {
	if a.step++; r.Kind != fwp.SimpleString {
		return
	}
	since(&a.paused, of.queues, a.step)
	since(&a.gone, of.jobs, a.step)
}

func since(names *map[string]int, add []string, step int) {
	if *names == nil {
		*names = map[string]int{}
	}
	for _, name := range add {
		(*names)[name] = step
	}
}

// Other takes a command of the specification.
func (a *Additions) Other(number int, verb string, line []byte, at time.Time) {
	a.step++
	switch verb {
	case fwp.FETCH:
		if a.asked == nil {
			a.asked = map[int]int{}
		}
		a.asked[number] = a.step
	case fwp.FLUSH:
		*a = Additions{step: a.step, asked: a.asked}
	case fwp.PUSH:
		fields := jsonnum.Object(fwp.SplitCommand(line).Args)
		jid, _ := fields["jid"].(string)
		text, _ := fields["at"].(string)
		due, err := time.Parse(time.RFC3339, text)
		if a.late == nil {
			a.late = map[string]bool{}
		}
		_, twice := a.late[jid]
		a.late[jid] = err == nil && due.Sub(at) > farAway && !twice
		delete(a.gone, jid)
	}
}

// Delivered returns the violation that a job came which could not, nil if it could.
func (a *Additions) Delivered(number int, text []byte) *law.Violation {
	fields, asked := jsonnum.Object(text), a.asked[number]
	jid, _ := fields["jid"].(string)
	queue, _ := fields["queue"].(string)
	if paused, is := a.paused[queue]; is && asked > paused {
		return &law.Violation{
			Clause: "FKT-QUEUE-01", Rule: "delivered", JID: jid, Expected: "$-1", Got: string(text),
			What: "the queue of the job was paused before the FETCH was sent, and not resumed",
		}
	}
	if gone, is := a.gone[jid]; is && asked > gone {
		return &law.Violation{
			Clause: "FKT-MUTATE-01", Rule: "delivered", JID: jid, Expected: "$-1", Got: string(text),
			What: "the job was killed or discarded before the FETCH was sent, and not enqueued again",
		}
	}
	return nil
}
