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

	fewest = 500 // one of so many of its Steps must be answered, unless its Explorer says how many
)

// Property completes a check of a suite that explores: subject returns what is explored, and limits has Steps and
// Exploring, of which the latter must be set. Findings are shrunk on another server like the target if there can be
// one: bugs that count begin anew there, and it has not crashed.
func Property(p conformance.Property, subject func() *Subject, limits Explorer) conformance.Property {
	p.Run = func(ctx context.Context, on conformance.Setup) conformance.Evidence {
		e := limits
		e.Subject = subject()
		e.Target, e.Password, e.Fresh = on.Target, on.Password, on.Fresh
		e.Seed, e.Names, e.Alone, e.Impatient, e.Server = on.Seed, on.Names, on.Alone, true, on.Server
		e.Restarts = slices.Contains(p.Needs, scenarios.NeedRestart)
		e.Timeout, e.Patience, e.Slack = on.Timeout, on.Patience, machine.Allowance
		e.Findings, e.Shrinking, e.Time = propertyFindings, propertyShrinking/Shrinkings, e.Exploring+6*on.Timeout
		limited, cancel := context.WithTimeout(ctx, e.Time+propertyShrinking)
		defer cancel()
		s := exploreOnce(limited, e)
		if s.least = cmp.Or(limits.Least, limits.Steps/fewest); limited.Err() != nil {
			s.open = "the server was too slow for the check"
		}
		return s.evidence()
	}
	return p
}

// explored is the result of an exploration that is a check.
type explored struct {
	*Result
	rules    map[string]law.Rule
	served   bool   // a client was identified
	sent     int    // commands that need a reply
	answered int    // how many of them were answered
	least    int    // how many must be
	open     string // why it is inconclusive although there is no finding; empty if it is not
}

// evidence returns it as the evidence of the check.
func (s explored) evidence() conformance.Evidence {
	e := conformance.Evidence{
		Served: s.served, Leftover: s.Left, Open: s.why(),
	}
	switch {
	case s.Dead:
		e.Dead = "no new connection is served"
	case len(s.Outages) > 0 && len(s.Findings) == 0:
		e.Dead, e.Back = s.Outages[0].String(), true
	}
	for _, f := range s.Findings {
		timed := s.rules[f.Rule].Traits&law.Timed != 0
		f.Clocked = timed || f.Rule == RuleLingers || f.Rule == RuleSilent
		f.Once = timed && f.Shown == 0 && f.Moments < 2
		f.Refused = f.refused()
		e.Findings = append(e.Findings, f.Finding)
	}
	return e
}

// refused returns the verb of the command that was refused, empty if the finding is about something else.
func (f *Finding) refused() string {
	for place := range f.Places {
		if verb := law.RefusedAt(place); verb != "" {
			return verb
		}
	}
	return ""
}

// why returns Evidence.Open.
func (s explored) why() string {
	if s.served && 2*s.answered < s.sent {
		return "fewer than half of the commands were answered"
	}
	if unread := s.Coverage.Unread(); s.open == "" && unread != "" {
		return unread
	}
	if s.open == "" && s.served && s.Coverage.Judged == 0 {
		return "nothing was answered after the handshakes"
	}
	if s.open == "" && s.served && s.answered < s.least {
		return fmt.Sprintf("only %d commands were answered in time", s.answered)
	}
	return s.open
}

// exploreOnce explores, and counts the commands.
func exploreOnce(ctx context.Context, e Explorer) explored {
	s := explored{rules: e.Subject.Rules}
	e.Watch = func(step Step) {
		if do := step.Sends(); do != nil && !do.Raw { // others need no reply
			s.sent++
		}
	}
	s.Result = e.Run(ctx)
	for state, n := range s.Coverage.States {
		s.served = s.served || n > 0 && !strings.HasPrefix(state, "not ")
	}
	for _, n := range s.Coverage.Outcomes {
		s.answered += n
	}
	return s
}
