package results

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// FailedSpan is a part of the measurement in which all commands of a kind failed, counted from the start of the run.
type FailedSpan struct {
	Op    string        `json:"op"`
	From  time.Duration `json:"from_ns"`
	Until time.Duration `json:"until_ns"`
}

// The least of a FailedSpan: fewer failures may be an accident. A client pauses for up to a second after each.
const (
	minFailed   = 3
	failedPause = 2 * time.Second
)

// failingOps are the kinds of commands whose failures are looked at.
var failingOps = []string{"connect", "hello", "push", "fetch", "ack", "fail", "beat", "job"}

// FailedSpans returns the spans of the seconds of a measurement in which the commands of a kind only failed.
func FailedSpans(seconds []Second) (all []FailedSpan) {
	for _, name := range failingOps {
		span, failed, before := FailedSpan{Op: name}, int64(0), int64(0)
		end := func() {
			if failed >= minFailed && span.Until-span.From >= minGap {
				all = append(all, span)
			}
			failed = 0
		}
		for i := range seconds {
			s := &seconds[i]
			done, errors := s.opCounts(name)
			switch until := s.At + s.Length; {
			case s.Phase != "measure":
			case done > 0:
				end() // what was answered in a second in which it began to fail was answered first
				span.From, span.Until = s.At+time.Duration(float64(s.Length)*min(1, float64(done)/float64(max(before, 1)))), until
				failed, before = 0, done
				if errors == 0 {
					span.From = until
				}
			case errors > 0:
				if failed == 0 && span.Until != s.At {
					span.From = s.At
				}
				failed, span.Until = failed+errors, until
			case failed > 0 && until-span.Until >= failedPause:
				end()
			}
		}
		end()
	}
	return all
}

// opCounts returns how many commands of a kind were answered in a second, and how many failed.
func (s *Second) opCounts(name string) (done, errors int64) {
	for i := range s.Ops {
		if op := &s.Ops[i]; op.Op == name || strings.HasPrefix(op.Op, name+".") {
			done, errors = done+op.Count, errors+op.Errors
		}
	}
	return done, errors
}

// FailedShare returns which share of the commands of a kind failed in some seconds, or of their time where nothing was
// answered once one had failed, if that is more; of all kinds if op is empty.
func FailedShare(seconds []Second, op string) float64 {
	names := failingOps
	if op != "" {
		names = []string{op}
	}
	var done, errors int64
	var dead, total time.Duration // of the worst kind
	for _, name := range names {
		var silence time.Duration
		total = 0
		for i := range seconds {
			d, e := seconds[i].opCounts(name)
			if total += seconds[i].Length; d == 0 && (e > 0 || silence > 0) {
				silence += seconds[i].Length
			}
			done, errors = done+d, errors+e
		}
		dead = max(dead, silence)
	}
	return max(float64(errors)/float64(max(1, done+errors)), float64(dead)/float64(max(1, total)))
}

// withDeadShare returns r with the greatest share of the time in which one of these commands only failed.
func (r MetricValue) withDeadShare(l *Load, ops ...string) MetricValue {
	for _, op := range ops {
		r.DeadShare = max(r.DeadShare, l.failedTimeShare(op))
	}
	return r
}

// failedTimeShare returns the share of the measurement in which commands of a kind only failed.
func (l *Load) failedTimeShare(op string) float64 {
	var sum time.Duration
	for _, s := range l.FailedSpans {
		if s.Op == op && l.Disruptions == nil {
			sum += s.Until - s.From
		}
	}
	return float64(sum) / float64(max(l.Measured, 1))
}

// deadShare is the share of the measurement from which on a kind of command that only failed is a failure of the run.
const deadShare = 0.5

// deadSentence returns the sentence about a kind of command that only failed for half of the measurement or more; empty
// if there is none, or nothing was achieved at all.
func (l *Load) deadSentence() string {
	for _, op := range failingOps {
		if l.failedTimeShare(op) >= deadShare && l.Rate.Done > 0 {
			return l.failureWords(op)
		}
	}
	return ""
}

// failureWords returns when commands of a kind only failed: "every PUSH was refused from 2.0 s to the end (ERR no)".
func (l *Load) failureWords(op string) string {
	var spans []string
	var end time.Duration
	for _, p := range l.Phases {
		if p.Name == "measure" {
			end = p.From + p.Took
		}
	}
	for _, s := range l.FailedSpans {
		if s.Op != op {
			continue
		}
		until := moment(s.Until)
		if s.Until >= end-minGap/10 {
			until = "the end"
		}
		spans = append(spans, "from "+moment(s.From)+" to "+until)
	}
	if len(spans) == 0 || l.Disruptions != nil {
		return ""
	}
	sum, verb, reason := l.Sum(op), "failed", ""
	if sum.RefusedShare() > 0 {
		verb = "was refused"
	}
	for _, e := range sum.Kinds {
		reason = cmp.Or(reason, e.Example)
	}
	if reason != "" {
		reason = " (" + text.Printable(text.OneLine(reason)) + ")"
	}
	times := strings.Join(spans[:min(len(spans), maxGaps)], ", ")
	return fmt.Sprintf("every %s %s %s%s", strings.ToUpper(op), verb, times, reason)
}
