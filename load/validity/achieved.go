package validity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// failedLimit is the share of the commands of a kind that may fail without an answer: beyond it only the commands that
// succeeded would be counted. refusedLimit is the share that the target may refuse: with as much the load is not the
// one that was asked for.
const (
	failedLimit  = 0.10
	refusedLimit = 0.50
)

// commands returns the kinds of commands that a load consists of, in the order of tables: not info and goodbye, nor the
// beginning of connections, unless connections are what arrives.
func (l run) commands() []string {
	all := []string{"push", "fetch", "ack", "fail", "beat", "job"}
	if l.Rate.Op == "connect" {
		all = append([]string{"connect", "hello"}, all...)
	}
	return all
}

// emptyReasons returns the reason of a run in which no arrival succeeded.
func (l run) emptyReasons() []results.Reason {
	if l.StartFailure != "" {
		return reasonIf(true, "start", "restart all segments with a later --start-at", "the load did not begin: %s",
			text.OneLine(l.StartFailure))
	}
	if l.Interrupted && l.Measured == 0 {
		return reasonIf(true, "empty", "let it run for longer", "the run was interrupted before anything was measured")
	}
	if l.GivenUp != "" && l.Measured == 0 {
		return reasonIf(true, "empty", "check why the target stopped answering or failed", "%s", text.OneLine(l.GivenUp))
	}
	if l.Rate.Done > 0 || len(l.shortageReasons())+len(l.abortReasons()) > 0 {
		return nil
	}
	do, id := "check the replies of the target with fwpcheck run", "empty"
	if l.Worker != nil {
		do = "check the output of the worker, and test it with fwpcheck worker"
	}
	words := l.failures(l.commands()...)
	if l.Sum("push").RefusedShare() >= refusedLimit {
		id = results.ReasonRefused
	}
	switch {
	case words != "":
	case l.Rate.Op == "ack" && l.Sum("fetch.empty").Count > 0:
		words = fmt.Sprintf("%s came back without a job", text.Count(l.Sum("fetch.empty").Count, "fetch"))
	case l.Rate.Op == "beat":
		words, do = fmt.Sprintf("no beat was due in %s of measuring",
			reports.Duration(l.Measured)), "let it run for longer: a beat is due every 15 s"
	default:
		words, do = "nothing was measured", "let it run for longer"
		if l.Measured > 0 {
			words = fmt.Sprintf("no %s was answered in %s of measuring", verb(l.Rate.Op), reports.Duration(l.Measured))
		}
	}
	return reasonIf(true, id, do, "nothing was achieved: %s", words)
}

// failureReasons returns the reason of a run in which too many commands of a kind failed.
func (l run) failureReasons() []results.Reason {
	if len(l.emptyReasons()) > 0 || l.Disruptions != nil { // then they are what was to be seen
		return nil
	}
	var bad, refused []string
	for _, name := range l.commands() {
		sum := l.Sum(name)
		share := float64(sum.Errors) / float64(max(1, sum.Errors+sum.Count+sum.Outside))
		words := fmt.Sprintf("%s of the %s failed: %s", reports.Percent(share), text.Plural(verb(name)), l.failures(name))
		switch {
		case sum.RefusedShare() >= refusedLimit:
			refused = append(refused, words)
		case share-sum.RefusedShare() > failedLimit:
			bad = append(bad, words)
		}
	}
	do := "check the replies of the target, or lower the load"
	return slices.Concat(
		reasonIf(len(bad) > 0, "errors", do, "%s; allowed is %s", strings.Join(bad, ", "), reports.Percent(failedLimit)),
		reasonIf(len(refused) > 0, results.ReasonRefused, do, "%s; allowed is less than %s", strings.Join(refused, ", "),
			reports.Percent(refusedLimit)))
}

// hugeReplyReasons returns the reason of a run in which most replies to some command were longer than a load reads.
func (l run) hugeReplyReasons() []results.Reason {
	var bad []string
	for _, op := range []string{"hello", "push", "fetch", "ack", "fail", "beat", "info", "end"} {
		sum, unread, limit := l.Sum(op), int64(0), ""
		for _, e := range sum.Kinds {
			if e.Kind == "too-long" {
				unread, limit = unread+e.Count, cmp.Or(limit, text.Printable(text.OneLine(e.Example)))
			}
		}
		if unread > sum.Count+sum.Outside {
			bad = append(bad, fmt.Sprintf("%s to %s: %s", text.Count(unread, "reply"), op, limit))
		}
	}
	return reasonIf(len(bad) > 0, "unread", "check the replies of the target with fwpcheck run",
		"most replies were longer than fwpbench reads: %s", strings.Join(bad, "; "))
}

// failures returns how commands failed: "616 pushes refused (ERR no), 50 fetches unanswered (timeout)".
func (l run) failures(names ...string) string {
	var parts []string
	for _, name := range names {
		kinds := slices.Clone(l.Sum(name).Kinds)
		slices.SortStableFunc(kinds, func(a, b results.LoadError) int { return int(b.Count - a.Count) })
		for _, e := range kinds {
			parts = append(parts, text.Count(e.Count, verb(name))+" "+resultWords(&e))
		}
	}
	return strings.Join(parts, ", ")
}

// resultWords returns the result of a command in words.
func resultWords(e *results.LoadError) string {
	example := ""
	if e.Example != "" {
		example = " (" + text.Printable(text.OneLine(e.Example)) + ")"
	}
	switch e.Kind {
	case "rejected":
		return "refused" + example
	case "malformed":
		return "answered wrongly" // how is a finding
	case "too-long":
		return "answered with more than fwpbench reads" + example
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
