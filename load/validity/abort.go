package validity

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/load/results"
)

// Abort is when a load ends before its time: a threshold on failures that holds for a while, "refused>50% for 10s".
type Abort struct {
	Threshold
	// Length is how long the failures of the latest seconds count.
	Length time.Duration
}

// ParseAbort reads an Abort of a load with these kinds of commands. Its metric is refused, errors or OP.errors, and its
// value a share. Every error is a *ThresholdError.
func ParseAbort(source string, ops ...string) (Abort, error) {
	before, after, found := strings.Cut(source, " for ")
	fail := func(at int, reason string) (Abort, error) {
		return Abort{}, &ThresholdError{Source: source, Col: at + 1, Reason: reason}
	}
	t, err := ParseThreshold(before, ops...)
	if err != nil {
		return Abort{}, err
	}
	length, err := time.ParseDuration(strings.TrimSpace(after))
	switch {
	case t.Metric != "refused" && !strings.HasSuffix("."+t.Metric, ".errors"):
		return fail(0, "it is about refused, errors or OP.errors, as in push.errors>50% for 10s")
	case !t.IsShare || !slices.Contains([]string{">", ">="}, t.Operator):
		return fail(0, "it says > or >= and a share, as in refused>50% for 10s")
	case !found || err != nil || length < time.Second:
		return fail(len(before), "a time of a second or more is missing, as in refused>50% for 10s")
	}
	t.Source = strings.TrimSpace(source)
	return Abort{t, length}, nil
}

// IsMet reports whether the load is to end after these seconds.
func (a *Abort) IsMet(seconds []results.Second) bool {
	first, length := len(seconds), time.Duration(0)
	for first > 0 && length < a.Length {
		first--
		length += seconds[first].Length
	}
	op := strings.TrimSuffix(strings.TrimSuffix(a.Metric, "errors"), ".")
	if a.Metric == "refused" {
		op = "push"
	}
	return length >= a.Length && a.meets(results.FailedShare(seconds[first:], op))
}
