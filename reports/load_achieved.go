package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// failedLimit is the share of the commands of a kind that may fail: beyond it only the commands that succeeded would be
// counted.
const failedLimit = 0.10

// asked returns the kinds of commands that a load consists of, in the order of tables: not info and goodbye, nor the
// beginning of connections, unless connections are what arrives.
func (l *Load) asked() []string {
	all := []string{"push", "fetch", "ack", "fail", "beat"}
	if l.Rate.Op == "connect" {
		all = append([]string{"connect", "hello"}, all...)
	}
	return all
}

// empty returns the reason of a run in which no arrival succeeded.
func (l *Load) empty() []Reason {
	done := l.Rate.Done > 0
	if l.NotStarted != "" {
		return []Reason{{ID: "start", What: "the load did not begin: " + text.OneLine(l.NotStarted),
			Do: "start all parts of the load anew, with a later start"}}
	}
	if l.Interrupted && l.Measured == 0 {
		return []Reason{{ID: "empty", What: "the run was interrupted before anything was measured",
			Do: "let it run for longer"}}
	}
	if done || len(l.exhausted())+len(l.aborted()) > 0 {
		return nil
	}
	do := "look at the replies of the target; fwpcheck run shows what is wrong with it"
	what := l.failures(l.asked()...)
	switch {
	case what != "":
	case l.Rate.Op == "ack" && l.sumOf("fetch.empty").count > 0:
		what = fmt.Sprintf("%s came back without a job", text.Count(l.sumOf("fetch.empty").count, "fetch"))
	case l.Rate.Op == "beat":
		what, do = fmt.Sprintf("no beat was due in %s of measuring",
			short(l.Measured)), "let it run for longer: a beat is due every 15 s"
	default:
		what, do = "nothing was measured", "let it run for longer"
		if l.Measured > 0 {
			what = fmt.Sprintf("no %s was answered in %s of measuring", verb(l.Rate.Op), short(l.Measured))
		}
	}
	return []Reason{{ID: "empty", What: "nothing was achieved: " + what, Do: do}}
}

// failed returns the reason of a run in which too many commands of a kind failed.
func (l *Load) failed() []Reason {
	if len(l.empty()) > 0 || l.Disruptions != nil { // then they are what was to be seen
		return nil
	}
	var bad []string
	for _, name := range l.asked() {
		sum := l.sumOf(name)
		share := float64(sum.errors) / float64(max(1, sum.errors+sum.count+sum.outside))
		if share > failedLimit {
			bad = append(bad, fmt.Sprintf("%s of the %s failed: %s", percent(share), text.Plural(verb(name)), l.failures(name)))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return []Reason{{
		ID:   "errors",
		What: fmt.Sprintf("%s; allowed is %s", strings.Join(bad, ", "), percent(failedLimit)),
		Do:   "look at the replies of the target, or lower the load",
	}}
}

// failures returns how commands failed: "616 pushes refused (ERR no), 50 fetches unanswered (timeout)".
func (l *Load) failures(names ...string) string {
	var parts []string
	for _, name := range names {
		kinds := slices.Clone(l.sumOf(name).kinds)
		slices.SortStableFunc(kinds, func(a, b LoadError) int { return int(b.Count - a.Count) })
		for _, e := range kinds {
			parts = append(parts, text.Count(e.Count, verb(name))+" "+e.how())
		}
	}
	return strings.Join(parts, ", ")
}

// how returns the result of a command in words.
func (e *LoadError) how() string {
	example := ""
	if e.Example != "" {
		example = " (" + text.Printable(text.OneLine(e.Example)) + ")"
	}
	switch e.Kind {
	case "rejected":
		return "refused" + example
	case "malformed":
		return "answered wrongly" // how is a finding
	case "timeout":
		return "unanswered (timeout)"
	default:
		return "failed (" + e.Kind + ")"
	}
}

// verb is the name of a command in sentences: the kind of its op.
func verb(op string) string {
	switch op {
	case "connect":
		return "connection"
	case "":
		return "command"
	}
	name, _, _ := strings.Cut(op, ".")
	return name
}
