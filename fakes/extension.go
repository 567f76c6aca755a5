package fakes

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Extension names what some servers add to the specification. The empty one adds nothing.
type Extension string

// Faktory is Contributed Systems' Faktory. It adds the commands PUSHB, QUEUE, MUTATE, BATCH and TRACK and the
// fields of its INFO. It accepts LF as the end of a line, HELLO without v or without the fields of a consumer, and
// ACK of any jid. A FETCH waits on all of its queues.
const Faktory Extension = "faktory"

// verb is a command that the specification does not have.
type verb struct {
	check func(c *conn, e *Event) *Refusal // as conn.arguments
	run   func(c *conn, e *Event) (fwp.Reply, error)
}

// verbs returns the commands of the extension by their verbs.
func (l Extension) verbs() map[string]verb {
	if l != Faktory {
		return nil
	}
	return map[string]verb{
		"PUSHB":  {(*conn).checkJobs, (*conn).pushAll},
		"QUEUE":  {(*conn).checkQueueCommand, (*conn).runQueueCommand},
		"MUTATE": {(*conn).checkMutate, (*conn).mutate},
		"BATCH":  {checkSubcommand("NEW", "OPEN", "COMMIT", "STATUS"), (*conn).batch},
		"TRACK":  {checkSubcommand("GET", "SET"), (*conn).track},
	}
}

// checkJobs reads the jobs of a PUSHB. They are checked one by one when they are pushed.
func (c *conn) checkJobs(e *Event) *Refusal {
	var texts []json.RawMessage
	if err := json.Unmarshal(e.Command.Args, &texts); err != nil || texts == nil {
		return refuse(AboutJSON, "PUSHB takes an array of jobs")
	}
	for _, text := range texts {
		job, r := parseObject(text)
		if r != nil {
			return r
		}
		e.Jobs = append(e.Jobs, job)
	}
	return nil
}

// pushAll stores those jobs of a PUSHB that are valid, and answers with the others: why, by their jids.
func (c *conn) pushAll(e *Event) (fwp.Reply, error) {
	failures := &Object{}
	for _, job := range e.Jobs {
		var err error
		if r := checkJob(job, &c.s.cfg); r != nil {
			err = r
		} else {
			e.Object, e.Skip = job, false
			err = c.push(e)
		}
		if err != nil {
			failures.SetText(job.Text("jid"), err.Error())
		}
	}
	return Bulk(failures.Append(nil)), nil
}

// checkQueueCommand reads the subcommand and the names of a QUEUE.
func (c *conn) checkQueueCommand(e *Event) *Refusal {
	subcommand, names := subcommandOf(e)
	if !slices.Contains([]string{"PAUSE", "RESUME", "REMOVE", "LATENCY"}, subcommand) {
		return refuse(AboutArguments, "QUEUE takes PAUSE, RESUME, REMOVE or LATENCY, and names of queues")
	}
	e.Queues = strings.Fields(names)
	switch all := slices.Contains(e.Queues, "*"); {
	case len(e.Queues) == 0:
		return refuse(AboutArguments, "QUEUE %s takes the names of queues", subcommand)
	case all && subcommand == "LATENCY":
		return refuse(AboutArguments, "QUEUE LATENCY takes names, and no *")
	case all:
		e.Queues = nil
		for name := range c.s.store.Sizes().Queues {
			e.Queues = append(e.Queues, name)
		}
	}
	return nil
}

// subcommandOf returns the first word of the arguments in upper case, and what stands behind it.
func subcommandOf(e *Event) (subcommand, rest string) {
	subcommand, rest, _ = strings.Cut(string(e.Command.Args), " ")
	return strings.ToUpper(subcommand), rest
}

// runQueueCommand pauses, resumes or removes queues, or says for how long the next job of each has been waiting.
func (c *conn) runQueueCommand(e *Event) (fwp.Reply, error) {
	subcommand, _ := subcommandOf(e)
	seconds := map[string]float64{}
	for _, name := range e.Queues {
		switch subcommand {
		case "REMOVE":
			c.s.store.Drop(name)
		case "LATENCY":
			seconds[name] = 0
			if j, ok := c.s.store.First(name); ok {
				enqueuedAt, _ := j.unit().Time("enqueued_at")
				seconds[name] = c.s.store.Now().Sub(enqueuedAt).Seconds()
			}
		default:
			c.s.store.Pause(e, name, subcommand == "PAUSE")
		}
	}
	if subcommand != "LATENCY" {
		return OK(), nil
	}
	text, err := json.Marshal(seconds)
	return Bulk(text), err
}

// checkMutate reads the argument of a MUTATE.
func (c *conn) checkMutate(e *Event) *Refusal {
	o, r := parseObject(e.Command.Args)
	if r != nil {
		return r
	}
	e.Object = o
	filter := newFilter(o)
	_, err := filter.matches("")
	switch {
	case !slices.Contains([]string{"kill", "discard", "requeue", "clear"}, o.Text("cmd")):
		return refuse("cmd", "cmd must be kill, discard, requeue or clear")
	case !slices.Contains([]store.Set{store.Scheduled, store.Retries, store.Dead}, store.Set(o.Text("target"))):
		return refuse("target", "target must be scheduled, retries or dead")
	case o.NonNull("filter") != nil && o.NonNull("filter")[0] != '{' || err != nil:
		return refuse("filter", "filter must be an object with jids, jobtype or regexp")
	}
	return nil
}

// mutate changes the jobs of a set.
func (c *conn) mutate(e *Event) (fwp.Reply, error) {
	to, filter := store.Nowhere, newFilter(e.Object)
	switch e.Object.Text("cmd") {
	case "kill":
		to = store.Dead
	case "requeue":
		to = store.Queued
	case "clear":
		filter = mutateFilter{}
	}
	c.s.store.Move(e, store.Set(e.Object.Text("target")), func(j *job) bool {
		doc := j.unit()
		matches, _ := filter.matches(string(doc.text()))
		return matches && (filter.JIDs == nil || slices.Contains(filter.JIDs, j.jid)) &&
			(filter.Jobtype == "" || filter.Jobtype == doc.Text("jobtype"))
	}, to)
	return OK(), nil
}

// mutateFilter says which jobs a MUTATE is about: those that meet all that it has.
type mutateFilter struct {
	JIDs    []string `json:"jids"`
	Jobtype string   `json:"jobtype"`
	Regexp  string   `json:"regexp"` // a glob over the job as JSON
}

// newFilter reads the filter of a MUTATE.
func newFilter(o *Object) (f mutateFilter) {
	if raw := o.NonNull("filter"); raw != nil && json.Unmarshal(raw, &f) != nil {
		f.JIDs = []string{} // no job
	}
	return f
}

// matches reports whether a text, or an empty one to try the glob, matches: as Redis has it, *, ?, [a-z] and \.
func (f mutateFilter) matches(text string) (bool, error) {
	replacer := strings.NewReplacer("/", "\x01") // of which a star of path.Match stops at the first
	return path.Match(replacer.Replace(cmp.Or(f.Regexp, "*")), replacer.Replace(text))
}
