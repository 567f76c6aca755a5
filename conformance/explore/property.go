package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/scenarios"
)

// The limits of an exploration that is a check, beside those of its Explorer.
const (
	propertyFindings  = 20              // at most
	propertyShrinking = 6 * time.Second // for all findings together

	minAnswersShare = 500 // one of so many of its Steps must be answered, unless its Explorer says how many
)

// Property completes a check of a suite that explores: subject returns what is explored, and limits has Steps and
// Exploring, of which the latter must be set. Findings are shrunk on another server like the target if there can be
// one: bugs that count begin anew there, and it has not crashed.
func Property(p conformance.Property, subject func() *Alphabet, limits Explorer) conformance.Property {
	p.Run = func(ctx context.Context, setup conformance.Setup) conformance.Evidence {
		e := limits
		e.Alphabet = subject()
		e.Target, e.Password, e.StartTarget = setup.Target, setup.Password, setup.StartTarget
		e.Seed, e.NameSeed, e.Alone, e.Impatient, e.History = setup.Seed, setup.NamePrefix, setup.Alone, true, setup.History
		e.Restarts = slices.Contains(p.Needs, scenarios.NeedRestart)
		e.Timeout, e.Patience, e.Slack = setup.Timeout, setup.Patience, machine.Allowance
		e.Findings, e.Shrinking, e.Time = propertyFindings, propertyShrinking/Shrinkings, e.Exploring+6*setup.Timeout
		limited, cancel := context.WithTimeout(ctx, e.Time+propertyShrinking)
		defer cancel()
		s := exploreOnce(limited, e)
		if s.minAnswers = cmp.Or(limits.MinAnswers, limits.Steps/minAnswersShare); limited.Err() != nil {
			s.slowness = "the server was too slow for the check"
		}
		return s.evidence()
	}
	return p
}

// propertyResult is the result of an exploration that is a check.
type propertyResult struct {
	*Result
	rules      map[string]law.Rule
	hasServed  bool   // a client was identified
	commands   int    // commands that need a reply
	answers    int    // how many of them were answered
	minAnswers int    // how many must be
	slowness   string // why it is inconclusive although there is no finding; empty if it is not
}

// evidence returns it as the evidence of the check.
func (s propertyResult) evidence() conformance.Evidence {
	e := conformance.Evidence{
		HasServed: s.hasServed, LeftoverJobs: s.LeftoverJobs, OpenCause: s.openCause(),
	}
	e.Looks.Old = s.Looks.Old
	switch {
	case s.IsDead:
		e.DeadReason = "no new connection is served"
	case len(s.Outages) > 0 && len(s.Findings) == 0:
		e.DeadReason, e.HasRecovered = s.Outages[0].String(), true
	}
	for _, f := range s.Findings {
		isTimed := s.rules[f.Rule].Traits&law.Timed != 0
		f.IsTimed = isTimed || f.Rule == RuleLingers || f.Rule == RuleSilent
		f.IsUnsteady = isTimed && f.Hits == 0 && f.Moments < 2
		f.RefusedVerb = f.refusedVerb()
		e.Findings = append(e.Findings, f.Finding)
	}
	return e
}

// refusedVerb returns the verb of the command that was refused, empty if the finding is about something else.
func (f *Finding) refusedVerb() string {
	for place := range f.Places {
		if verb := law.RefusedVerb(place); verb != "" {
			return verb
		}
	}
	return ""
}

// openCause returns Evidence.OpenCause.
func (s propertyResult) openCause() string {
	if s.hasServed && 2*s.answers < s.commands {
		return "fewer than half of the commands were answered"
	}
	if unread := s.Coverage.Unread(); s.slowness == "" && unread != "" {
		return unread
	}
	if s.IsRefusing {
		return "new connections were not served when the time of the check was over"
	}
	if s.slowness == "" && s.hasServed && s.Coverage.Answers == 0 {
		return "nothing was answered after the handshakes"
	}
	if s.slowness == "" && s.hasServed && s.answers < s.minAnswers {
		return fmt.Sprintf("only %d commands were answered in time", s.answers)
	}
	return s.slowness
}

// exploreOnce explores, and counts the commands.
func exploreOnce(ctx context.Context, e Explorer) propertyResult {
	s := propertyResult{rules: e.Alphabet.Rules}
	e.WatchStep = func(step Step) {
		if do := step.Sends(); do != nil && !do.Raw { // others need no reply
			s.commands++
		}
	}
	s.Result = e.Run(ctx)
	for state, n := range s.Coverage.States {
		s.hasServed = s.hasServed || n > 0 && !strings.HasPrefix(state, "not ")
	}
	for _, n := range s.Coverage.Outcomes {
		s.answers += n
	}
	return s
}
