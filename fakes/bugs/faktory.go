package bugs

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// Faktory returns the bugs of what Faktory adds to the specification, sorted by name: of a server with
// [fakes.Faktory].
func Faktory() []fakes.Bug { return slices.Clone(faktoryRows()) }

var faktoryRows = sync.OnceValue(func() []fakes.Bug {
	return catalogue.SortBugs(faktoryBugs, catalogue.RuledBugs(faktoryTable(), fakes.Rules()))
})

//go:embed faktory.txt
var faktoryText string

var faktoryTable = catalogue.LazyTable("fakes/bugs/faktory.txt", faktoryText)

// faktoryBug returns the bug of a row of faktory.txt.
func faktoryBug[H catalogue.Hook[event]](name string, hook H) fakes.Bug {
	return catalogue.BugOf[event](faktoryTable(), name, hook)
}

var faktoryBugs = []fakes.Bug{
	faktoryBug("mutate-anywhere", do(func(e *event) {
		filterBy(e, "jids", func(value json.RawMessage) string {
			var jids []string
			if json.Unmarshal(value, &jids) != nil || len(jids) != 1 {
				return ""
			}
			return `*"jid":"` + jids[0] + `"*`
		})
	}, isValid("MUTATE"))),
	faktoryBug("mutate-pattern-all", do(func(e *event) {
		filterBy(e, "regexp", func(json.RawMessage) string { return "*" })
	}, isValid("MUTATE"))),
	faktoryBug("mutate-prefix", do(func(e *event) {
		filterBy(e, "jobtype", func(value json.RawMessage) string {
			return `*"jobtype":` + strings.TrimSuffix(string(value), `"`) + "*"
		})
	}, isValid("MUTATE"))),
	faktoryBug("pushb-all-or-nothing", do(func(e *event) {
		if slices.ContainsFunc(e.Jobs, func(job *object) bool { return job.Get("jobtype") == nil }) {
			e.Jobs = slices.DeleteFunc(e.Jobs, func(job *object) bool { return job.Get("jobtype") != nil })
		}
	}, isValid("PUSHB"))),
	faktoryBug("pushb-loses-the-last", do(func(e *event) {
		e.Jobs = e.Jobs[:max(0, len(e.Jobs)-1)]
	}, isValid("PUSHB"))),
	faktoryBug("queue-latency-milliseconds", do(func(e *event) {
		var seconds map[string]float64
		if json.Unmarshal(e.Reply.Text, &seconds) == nil {
			for name := range seconds {
				seconds[name] *= 1000
			}
			text, _ := json.Marshal(seconds) //nolint:errchkjson // numbers
			e.Reply = fakes.Bulk(text)
		}
	}, isDone("QUEUE"))),
	faktoryBug("queue-pause-ends", actNext(server, at(fakes.Restarted), at(fakes.Greeting), func(e *event) {
		e.AfterHook(func() {
			for _, j := range e.Conn.Server().Jobs() {
				e.Resume(j.Queue)
			}
		})
	})),
	faktoryBug("queue-pause-unknown", do(func(e *event) {
		e.Queues = slices.DeleteFunc(e.Queues, func(name string) bool {
			return !slices.ContainsFunc(e.Conn.Server().Jobs(), func(j fakes.StoredJob) bool { return j.Queue == name })
		})
	}, isValid("QUEUE"), func(e *event) bool {
		return strings.HasPrefix(strings.ToUpper(string(e.Command.Args)), "PAUSE ")
	})),
}

// filterBy has a MUTATE select by a pattern in the place of a member of its filter.
func filterBy(e *event, member string, pattern func(json.RawMessage) string) {
	filter, err := fakes.ParseObject(e.Object.NonNull("filter"))
	if err != nil || filter.Get(member) == nil {
		return
	}
	if glob := pattern(filter.Get(member)); glob != "" {
		filter.Delete(member)
		filter.SetText("regexp", glob)
		e.Object.Set("filter", string(filter.Append(nil)))
	}
}
