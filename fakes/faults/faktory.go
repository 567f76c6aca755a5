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
	fault("mutate-anywhere", do(func(e *event) {
		filterBy(e, "jids", func(value json.RawMessage) string {
			var jids []string
			if json.Unmarshal(value, &jids) != nil || len(jids) != 1 {
				return ""
			}
			return `*"jid":"` + jids[0] + `"*`
		})
	}, valid("MUTATE"))),
	fault("mutate-blank",
		do(decline(fakes.AboutArguments, "invalid format"), valid("MUTATE"), func(e *event) bool {
			return bytes.ContainsRune(e.Command.Args, ' ')
		})),
	fault("mutate-clear-nothing", do(skip, mutates("clear"))),
	fault("mutate-discard-nothing", do(skip, mutates("discard"))),
	fault("mutate-kill-nothing", do(skip, mutates("kill"))),
	fault("mutate-pattern-all", do(func(e *event) {
		filterBy(e, "regexp", func(json.RawMessage) string { return "*" })
	}, valid("MUTATE"))),
	fault("mutate-prefix", do(func(e *event) {
		filterBy(e, "jobtype", func(value json.RawMessage) string {
			return `*"jobtype":` + strings.TrimSuffix(string(value), `"`) + "*"
		})
	}, valid("MUTATE"))),
	fault("mutate-requeue-lost", do(func(e *event) { e.Object.SetText("cmd", "discard") }, mutates("requeue"))),
	fault("mutate-requeue-nothing", do(skip, mutates("requeue"))),
	fault("mutate-unknown-ok", do(pretend, checked("MUTATE"), about("target"))),
	fault("pushb-all-or-nothing", do(func(e *event) {
		if slices.ContainsFunc(e.Jobs, func(job *object) bool { return job.Get("jobtype") == nil }) {
			e.Jobs = slices.DeleteFunc(e.Jobs, func(job *object) bool { return job.Get("jobtype") != nil })
		}
	}, valid("PUSHB"))),
	fault("pushb-empty-refused",
		do(decline(fakes.AboutArguments, "no jobs"), valid("PUSHB"), func(e *event) bool { return len(e.Jobs) == 0 })),
	fault("pushb-loses-the-last", do(func(e *event) {
		e.Jobs = e.Jobs[:max(0, len(e.Jobs)-1)]
	}, valid("PUSHB"))),
	fault("pushb-malformed-ok", do(pretend, checked("PUSHB"), about(fakes.AboutJSON))),
	fault("pushb-without-reasons", do(func(e *event) {
		e.Reply = fakes.Bulk([]byte("{}"))
	}, done("PUSHB"))),
	fault("queue-latency-milliseconds", do(func(e *event) {
		var seconds map[string]float64
		if json.Unmarshal(e.Reply.Text, &seconds) == nil {
			for name := range seconds {
				seconds[name] *= 1000
			}
			text, _ := json.Marshal(seconds) //nolint:errchkjson // numbers
			e.Reply = fakes.Bulk(text)
		}
	}, done("QUEUE"))),
	fault("queue-malformed-ok", do(pretend, checked("QUEUE"), about(fakes.AboutArguments))),
	fault("queue-pause-ends", next(server, at(fakes.Restarted), at(fakes.Greeting), func(e *event) {
		e.Then(func() {
			for _, j := range e.Conn.Server().Jobs() {
				e.Resume(j.Queue)
			}
		})
	})),
	fault("queue-pause-nothing", do(skip, queueCommand("PAUSE"))),
	fault("queue-pause-unknown", do(func(e *event) {
		e.Queues = slices.DeleteFunc(e.Queues, func(name string) bool {
			return !slices.ContainsFunc(e.Conn.Server().Jobs(), func(j fakes.StoredJob) bool { return j.Queue == name })
		})
	}, queueCommand("PAUSE"))),
	fault("queue-remove-nothing", do(skip, queueCommand("REMOVE"))),
	fault("queue-resume-nothing", do(skip, queueCommand("RESUME"))),
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
