package faults

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// Faktory returns the faults of what Faktory adds to the specification, sorted by name: of a server with
// [fakes.LikeFaktory].
func Faktory() []fakes.Fault { return catalogue.SortFaults(faktoryFaults) }

// mutates and queueCommand hold when such a MUTATE or QUEUE was checked and is not refused.
func mutates(cmd string) condition {
	return both(valid("MUTATE"), func(e *event) bool { return e.Object.Text("cmd") == cmd })
}

func queueCommand(subcommand string) condition {
	return both(valid("QUEUE"), func(e *event) bool {
		return strings.HasPrefix(strings.ToUpper(string(e.Command.Args)), subcommand+" ")
	})
}

var faktoryFaults = []fakes.Fault{
	added("mutate-anywhere", "MUTATE-06", "a jid of a filter matches it in other fields, too", do(func(e *event) {
		filterBy(e, "jids", func(value json.RawMessage) string {
			var jids []string
			if json.Unmarshal(value, &jids) != nil || len(jids) != 1 {
				return ""
			}
			return `*"jid":"` + jids[0] + `"*`
		})
	}, valid("MUTATE"))),
	added("mutate-blank", "MUTATE-08", "a MUTATE with a space in its JSON is refused",
		do(decline(fakes.AboutArguments, "invalid format"), valid("MUTATE"), func(e *event) bool {
			return bytes.ContainsRune(e.Command.Args, ' ')
		})),
	added("mutate-clear-nothing", "MUTATE-04", "MUTATE clear has no effect", do(skip, mutates("clear"))),
	added("mutate-discard-nothing", "MUTATE-02", "MUTATE discard has no effect", do(skip, mutates("discard"))),
	added("mutate-kill-nothing", "MUTATE-01", "MUTATE kill has no effect", do(skip, mutates("kill"))),
	added("mutate-pattern-all", "MUTATE-09", "a filter with a pattern matches all jobs", do(func(e *event) {
		filterBy(e, "regexp", func(json.RawMessage) string { return "*" })
	}, valid("MUTATE"))),
	added("mutate-prefix", "MUTATE-05", "a jobtype of a filter matches those that begin so", do(func(e *event) {
		filterBy(e, "jobtype", func(value json.RawMessage) string {
			return `*"jobtype":` + strings.TrimSuffix(string(value), `"`) + "*"
		})
	}, valid("MUTATE"))),
	added("mutate-requeue-nothing", "MUTATE-03", "MUTATE requeue has no effect", do(skip, mutates("requeue"))),
	added("mutate-unknown-ok", "MUTATE-07", "a MUTATE of a set that there is not is answered with OK",
		do(pretend, checked("MUTATE"), about("target"))),
	added("pushb-all-or-nothing", "PUSHB-02", "a PUSHB with a job that is refused stores none", do(func(e *event) {
		if slices.ContainsFunc(e.Jobs, func(job *object) bool { return job.Get("jobtype") == nil }) {
			e.Jobs = slices.DeleteFunc(e.Jobs, func(job *object) bool { return job.Get("jobtype") != nil })
		}
	}, valid("PUSHB"))),
	added("pushb-empty-refused", "PUSHB-03", "a PUSHB of an empty array is refused",
		do(decline(fakes.AboutArguments, "no jobs"), valid("PUSHB"), func(e *event) bool { return len(e.Jobs) == 0 })),
	added("pushb-loses-the-last", "PUSHB-01", "the last job of a PUSHB is lost", do(func(e *event) {
		e.Jobs = e.Jobs[:max(0, len(e.Jobs)-1)]
	}, valid("PUSHB"))),
	added("pushb-malformed-ok", "PUSHB-04", "a PUSHB that is no array is answered with OK",
		do(pretend, checked("PUSHB"), about(fakes.AboutJSON))),
	added("pushb-without-reasons", "PUSHB-02", "the answer to a PUSHB names no job that was refused", do(func(e *event) {
		e.Reply = fakes.Bulk([]byte("{}"))
	}, done("PUSHB"))),
	added("queue-latency-milliseconds", "QUEUE-04", "QUEUE LATENCY is answered in milliseconds", do(func(e *event) {
		var seconds map[string]float64
		if json.Unmarshal(e.Reply.Text, &seconds) == nil {
			for name := range seconds {
				seconds[name] *= 1000
			}
			text, _ := json.Marshal(seconds) //nolint:errchkjson // numbers
			e.Reply = fakes.Bulk(text)
		}
	}, done("QUEUE"))),
	added("queue-malformed-ok", "QUEUE-06", "a QUEUE that is not complete is answered with OK",
		do(pretend, checked("QUEUE"), about(fakes.AboutArguments))),
	added("queue-pause-ends", "QUEUE-07", "no queue is paused after a restart",
		next(server, at(fakes.Restarted), at(fakes.Greeting), func(e *event) {
			e.Then(func() {
				for _, j := range e.Conn.Server().Jobs() {
					e.Resume(j.Queue)
				}
			})
		})),
	added("queue-pause-nothing", "QUEUE-01", "QUEUE PAUSE has no effect", do(skip, queueCommand("PAUSE"))),
	added("queue-pause-unknown", "QUEUE-05", "a queue that never had a job is not paused", do(func(e *event) {
		e.Queues = slices.DeleteFunc(e.Queues, func(name string) bool {
			return !slices.ContainsFunc(e.Conn.Server().Jobs(), func(j fakes.StoredJob) bool { return j.Queue == name })
		})
	}, queueCommand("PAUSE"))),
	added("queue-remove-nothing", "QUEUE-03", "QUEUE REMOVE has no effect", do(skip, queueCommand("REMOVE"))),
	added("queue-resume-nothing", "QUEUE-02", "QUEUE RESUME has no effect", do(skip, queueCommand("RESUME"))),
}

// added returns a row, as fault does.
func added[H catalogue.Hook[event]](name, clauses, summary string, hook H) fakes.Fault {
	return catalogue.NewFault[event](name, "FKT-", clauses, summary, hook)
}

// filterBy has a MUTATE select by a pattern in the place of a member of its filter.
func filterBy(e *event, member string, pattern func(json.RawMessage) string) {
	filter, err := fakes.ParseObject(e.Object.Given("filter"))
	if err != nil || filter.Get(member) == nil {
		return
	}
	if glob := pattern(filter.Get(member)); glob != "" {
		filter.Delete(member)
		filter.SetText("regexp", glob)
		e.Object.Set("filter", string(filter.Append(nil)))
	}
}
