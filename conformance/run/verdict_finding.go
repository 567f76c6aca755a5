package run

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// singleMark returns the mark of a line that has exactly one, and the zero mark otherwise.
func singleMark(r play.Result) scenarios.ClauseMark {
	if len(r.Marks) == 1 {
		return r.Marks[0]
	}
	return scenarios.ClauseMark{}
}

// addFinding adds a finding with its evidence.
func (v *resultBuilder) addFinding(verdict reports.Verdict, m scenarios.ClauseMark, r play.Result) {
	c, _ := v.suite().ClauseByID(m.Clause) // empty for a script without clauses
	f := reports.Finding{
		Clause: m.Clause, Level: v.suite().LevelOf(m), Statement: c.Statement, Verdict: verdict,
		Evidence: reports.Evidence{
			Check: v.check.ID, File: v.check.File, Line: r.Line, Col: r.Col, Width: r.Width,
			Expected: r.Expected, Actual: gotText(r), MarkedLine: markedLine(v.evidence, r),
		},
	}
	if r.Line > 0 && r.Line <= len(v.description.Source) {
		f.Source = v.description.Source[r.Line-1]
	}
	v.ended(&f, r.Got)
	for _, d := range r.Differences {
		if d.Path != "" {
			f.Differences = append(f.Differences, d.String())
		}
	}
	if r.Ending != scenarios.Open && !strings.HasPrefix(r.Got, "the connection was") {
		f.ConnectionEnd = closeWords[r.Ending]
	}
	f.RefusedVerb, f.Premises = v.refusedVerb(r), v.premises(r)
	if v.state.runner.Reproduce != nil {
		f.Reproduce = v.state.runner.Reproduce(v.check.ID)
	}
	v.check.Findings = append(v.check.Findings, f)
}

// ended adds to a finding how the server's process has ended, or what it printed where it was silent or closed a
// connection.
func (v *resultBuilder) ended(f *reports.Finding, got string) {
	crash := f.Verdict == reports.Crash
	switch {
	case crash && v.evidence.Ending != "":
		f.Actual += "\n" + v.evidence.Ending
		f.Death = deathReason(v.evidence.Ending)
	case crash || isSilence(got) || len(v.evidence.Decisions) > 0:
		f.Printed = v.evidence.Printed
	}
	if crash && f.Clause == "" {
		f.Statement = Loss(v.evidence.Looks, v.evidence.ShortEnding, "", v.check.ID)
	}
}

// The lines of which [deathReason] is made: the reasons that programs give, and the places of their code.
var (
	goReason    = regexp.MustCompile(`^((?:panic|fatal error): .*)`)
	goPlace     = regexp.MustCompile(`^([\w./*()\[\]{}-]+)\([^()]*\)$`)
	goRuntime   = regexp.MustCompile(`^(panic|runtime[./]|internal/runtime/)`)
	pythonPlace = regexp.MustCompile(`^File "(.*, line \d+, in .*)`)
	rustPlace   = regexp.MustCompile(`^thread '.*' .*panicked at (.*?):?$`)
	rubyPlace   = regexp.MustCompile(`^(\S+:\d+:in .*?): .*\(([A-Z][\w:]*)\)$`)
	thrown      = regexp.MustCompile(`^(?:Exception in thread ".*"|Unhandled exception\.) ([\w.]+)`) // of Java and .NET
	thrownPlace = regexp.MustCompile(`^at (.+)$`)                                                    // and of JavaScript
	number      = regexp.MustCompile(`\b(0x[0-9a-f]+|\d+)\b`)
)

// deathReason returns the reason that a process gave for its end, without what varies in it, and the place in its code
// where that was; empty if it gave none. Of an exception that is its name, and the place that threw it.
func deathReason(ending string) string {
	reason, place, file := "", "", "" // file: the place of an exception of Python, which stands above its name
	for line := range strings.Lines(ending) {
		line = strings.TrimSpace(line)
		if m := goReason.FindStringSubmatch(line); m != nil {
			reason, place = number.ReplaceAllString(m[1], "N"), ""
		} else if m := rustPlace.FindStringSubmatch(line); m != nil {
			reason, place = "panic", m[1]
		} else if m := rubyPlace.FindStringSubmatch(line); m != nil {
			reason, place = m[2], m[1]
		} else if m := pythonPlace.FindStringSubmatch(line); m != nil {
			file = m[1]
		} else if m := thrown.FindStringSubmatch(line); m != nil {
			reason, place = m[1], ""
		} else if m := codePlace(line); m != "" && reason != "" && place == "" {
			place = m
		} else if exceptionLine.MatchString(line) {
			reason, _, _ = strings.Cut(line, ":")
			place = file
		}
	}
	switch {
	case place != "" && reason != "":
		return reason + " at " + place
	case goReason.MatchString(reason):
		return reason
	}
	return ""
}

// codePlace returns the place in the code of a line below a reason, empty if it is none.
func codePlace(line string) string {
	for _, form := range []*regexp.Regexp{thrownPlace, goPlace} {
		if m := form.FindStringSubmatch(line); m != nil && !goRuntime.MatchString(m[1]) {
			return m[1]
		}
	}
	return ""
}

var closeWords = map[scenarios.Ending]string{
	scenarios.Fin:   "the server closed the connection (orderly, FIN)",
	scenarios.Reset: "the server reset the connection",
}

// markedLine returns the line of the conversation at which something else than expected was received, counted from 1; 0
// if it is none of them.
func markedLine(e *conformance.Evidence, r play.Result) int {
	return 1 + slices.IndexFunc(e.Conversation, func(l reports.Line) bool {
		return r.At > 0 && l.At == r.At && l.Conn == r.Conn && (l.From != reports.FromClient || len(e.Decisions) > 0)
	})
}

// refusedVerb returns the verb of the command that a line is about where that was refused: with this message, or with
// the one before, if none came. It is empty where another message came.
func (v *resultBuilder) refusedVerb(r play.Result) string {
	if r.Outcome != play.Mismatched || r.IsLapse || !strings.HasPrefix(r.Got, "-") &&
		!strings.HasPrefix(r.Got, "no reply") {
		return ""
	}
	verb := ""
	for _, l := range v.evidence.Conversation {
		switch {
		case l.Conn != r.Conn || l.IsInternal:
			continue
		case l.From == reports.FromServer && l.At >= r.At && l.Text == r.Got:
			return verb
		case l.From == reports.FromClient:
			verb, _, _ = strings.Cut(strings.ReplaceAll(l.Text, "<|>", ""), " ")
		}
	}
	return verb
}

// A server that ends a connection before its introduction, instead of refusing a command there, has let no client in:
// the clauses about who is let in are not broken, but that of the answer is.

// isAuth reports whether all marks are those of clauses about who is let in.
func (v *resultBuilder) isAuth(marks []scenarios.ClauseMark) bool {
	prefix := v.suite().AdmissionPrefix
	return prefix != "" &&
		!slices.ContainsFunc(marks, func(m scenarios.ClauseMark) bool { return !strings.HasPrefix(m.Clause, prefix) })
}

func (v *resultBuilder) unrefusedWords(r play.Result) string {
	return "the connection was closed without the error that " + v.suite().UnrefusedClause(r.UnrefusedVerb) + " asks for"
}
