package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// failedLimit is the share of the commands of a kind that may fail: beyond it only the commands that succeeded would be
// counted.
const failedLimit = 0.10

// asked returns the kinds of commands that a load consists of, in the order of tables: not info and goodbye, nor the
// beginning of connections, unless connections are what arrives.
func (l run) asked() []string {
	all := []string{"push", "fetch", "ack", "fail", "beat"}
	if l.Rate.Op == "connect" {
		all = append([]string{"connect", "hello"}, all...)
	}
	return all
}

// empty returns the reason of a run in which no arrival succeeded.
func (l run) empty() []results.Reason {
	if l.NotStarted != "" {
		return because(true, "start", "start all parts of the load anew, with a later start", "the load did not begin: %s",
			text.OneLine(l.NotStarted))
	}
	if l.Interrupted && l.Measured == 0 {
		return because(true, "empty", "let it run for longer", "the run was interrupted before anything was measured")
	}
	if l.Rate.Done > 0 || len(l.exhausted())+len(l.aborted()) > 0 {
		return nil
	}
	do := "look at the replies of the target; fwpcheck run shows what is wrong with it"
	what := l.failures(l.asked()...)
	switch {
	case what != "":
	case l.Rate.Op == "ack" && l.Sum("fetch.empty").Count > 0:
		what = fmt.Sprintf("%s came back without a job", text.Count(l.Sum("fetch.empty").Count, "fetch"))
	case l.Rate.Op == "beat":
		what, do = fmt.Sprintf("no beat was due in %s of measuring",
			reports.Duration(l.Measured)), "let it run for longer: a beat is due every 15 s"
	default:
		what, do = "nothing was measured", "let it run for longer"
		if l.Measured > 0 {
			what = fmt.Sprintf("no %s was answered in %s of measuring", verb(l.Rate.Op), reports.Duration(l.Measured))
		}
	}
	return because(true, "empty", do, "nothing was achieved: %s", what)
}

// failed returns the reason of a run in which too many commands of a kind failed.
func (l run) failed() []results.Reason {
	if len(l.empty()) > 0 || l.Disruptions != nil { // then they are what was to be seen
		return nil
	}
	var bad []string
	for _, name := range l.asked() {
		sum := l.Sum(name)
		share := float64(sum.Errors) / float64(max(1, sum.Errors+sum.Count+sum.Outside))
		if share > failedLimit {
			bad = append(bad, fmt.Sprintf("%s of the %s failed: %s", reports.Percent(share), text.Plural(verb(name)),
				l.failures(name)))
		}
	}
	return because(len(bad) > 0, "errors", "look at the replies of the target, or lower the load", "%s; allowed is %s",
		strings.Join(bad, ", "), reports.Percent(failedLimit))
}

// failures returns how commands failed: "616 pushes refused (ERR no), 50 fetches unanswered (timeout)".
func (l run) failures(names ...string) string {
	var parts []string
	for _, name := range names {
		kinds := slices.Clone(l.Sum(name).Kinds)
		slices.SortStableFunc(kinds, func(a, b results.LoadError) int { return int(b.Count - a.Count) })
		for _, e := range kinds {
			parts = append(parts, text.Count(e.Count, verb(name))+" "+how(&e))
		}
	}
	return strings.Join(parts, ", ")
}

// how returns the result of a command in words.
func how(e *results.LoadError) string {
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
