package run

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// TestLawFindings: which violations of the law are findings, by what else a play and the others have seen.
func TestLawFindings(t *testing.T) {
	t.Parallel()
	const (
		reply, field    = "law/reply FWP-ACK-02 fail", "law/field FWP-WU-03 fail"
		lateness, order = "law/late FWP-STATE-04 fail", "law/order FWP-FETCH-04 fail"
		refusalCheck    = "law/refused FWP-STATE-12 fail"
	)
	began := time.Now()
	occurrence := func(change func(*law.Occurrence)) law.Occurrence {
		v := law.Occurrence{Violation: law.Violation{Rule: "reply", Clause: "FWP-ACK-02"}, Conn: "a", At: began.Add(time.Second)}
		change(&v)
		return v
	}
	reference := occurrence(func(*law.Occurrence) {})
	value := occurrence(func(v *law.Occurrence) { v.Rule, v.Clause, v.IsAboutValue = "field", "FWP-WU-03", true })
	timed := occurrence(func(v *law.Occurrence) { v.Rule, v.Clause, v.IsTimed = "late", "FWP-STATE-04", true })
	afterwards := timed
	afterwards.At = began.Add(4 * time.Second)
	doubtful := occurrence(func(v *law.Occurrence) { v.Rule, v.Clause, v.Doubtful = "order", "FWP-FETCH-04", true })
	behind := occurrence(func(v *law.Occurrence) { v.Rule, v.Clause, v.CommandClause = "refused", "FWP-STATE-12", "FWP-ACK-02" })
	should := occurrence(func(v *law.Occurrence) { v.IsRecommendation = true })
	at := func(conn string) play.Result {
		return play.Result{Outcome: play.Mismatched, Conn: conn, At: time.Second}
	}
	marked := func(conn string) play.Result {
		r := at(conn)
		r.Marks = []scenarios.ClauseMark{{Clause: "FWP-WU-03"}}
		return r
	}
	missing := occurrence(func(v *law.Occurrence) { v.Rule, v.Clause, v.LacksRedelivery = "missing", "FWP-STATE-09", true })
	ended := occurrence(func(v *law.Occurrence) { v.Rule, v.Clause, v.IsIdleEnd = "closed", "FWP-STATE-13", true })
	absent := occurrence(func(v *law.Occurrence) { v.Rule, v.Clause = "missing", "FWP-PUSH-04" })
	nothing := func(clause string) play.Result {
		r := at("a")
		r.IsEmptyReply, r.Marks = true, []scenarios.ClauseMark{{Clause: clause}}
		return r
	}
	closed := marked("a")
	closed.Ending = scenarios.Fin
	general := at("a")
	general.Marks = []scenarios.ClauseMark{{Clause: "FWP-FETCH-01"}}
	assumed := func(r play.Result, name string) play.Result {
		r.IsAssumed, r.Differences = true, []scenarios.Difference{{Path: ".jid", Name: name}}
		return r
	}
	refusal := func(conn string, after time.Duration) play.Result {
		return play.Result{Outcome: play.Mismatched, IsCommandRefused: true, Conn: conn, At: after}
	}
	withResults := func(v law.Occurrence, results ...play.Result) *conformance.Evidence {
		return &conformance.Evidence{Began: began, Law: []law.Occurrence{v}, Results: results}
	}
	evidenceOf := func(all ...law.Occurrence) *conformance.Evidence {
		return &conformance.Evidence{Began: began, Law: all}
	}
	lagged := play.Result{Outcome: play.Unsure, Reason: play.Lag, Conn: "a", At: time.Second}
	deadPlay := evidenceOf(value)
	deadPlay.DeadReason = "gone"
	breach := evidenceOf(value)
	breach.Breaches = []scenarios.Breach{{Conn: "a", At: time.Second}}
	rest := func(v law.Occurrence) *conformance.Evidence {
		e := evidenceOf(v)
		e.Breaches = []scenarios.Breach{{Kind: scenarios.ExtraReply, Conn: "a", At: time.Second}}
		return e
	}
	crowd := func(clause string, v ...law.Occurrence) *conformance.Evidence {
		return &conformance.Evidence{Began: began, Law: v, Findings: []conformance.Finding{{Clause: clause}}}
	}
	plays := func(all ...*conformance.Evidence) []*conformance.Evidence { return all }
	for name, test := range map[string]struct {
		plays  []*conformance.Evidence
		lag    time.Duration
		broken []string // clauses, by lines of scripts
		want   []string
	}{
		"nothing":                       {plays: plays(evidenceOf())},
		"one":                           {plays: plays(evidenceOf(reference)), want: []string{reply}},
		"the same twice":                {plays: plays(evidenceOf(reference, reference), evidenceOf(reference)), want: []string{reply}},
		"two rules":                     {plays: plays(evidenceOf(reference, value)), want: []string{field, reply}},
		"a recommendation":              {plays: plays(evidenceOf(should)), want: []string{"law/reply FWP-ACK-02 warn"}},
		"behind a departure":            {plays: plays(withResults(reference, marked("b")))},
		"a value behind a departure":    {plays: plays(withResults(value, at("b"))), want: []string{field}},
		"behind a value":                {plays: plays(withResults(reference, assumed(marked("b"), ""))), want: []string{reply}},
		"behind another name":           {plays: plays(withResults(reference, assumed(at("b"), "$jid")))},
		"a set-up line that is refused": {plays: plays(withResults(reference, refusal("a", time.Second))), want: []string{reply}},
		"a set-up line that shows it":   {plays: plays(withResults(reference, at("a"))), want: []string{reply}},
		"a line about a general clause": {plays: plays(withResults(reference, general)), want: []string{reply}},
		"a field of one that did not come": {
			plays: plays(withResults(missing, nothing("FWP-WU-03"))), want: []string{"law/missing FWP-STATE-09 fail"},
		},
		"a field of one that never came":   {plays: plays(withResults(absent, nothing("FWP-WU-03")))},
		"a line about why it did not come": {plays: plays(withResults(missing, nothing("FWP-WU-07")))},
		"a line behind the end of its connection": {
			plays: plays(withResults(ended, closed)), want: []string{"law/closed FWP-STATE-13 fail"},
		},
		"a line ahead of the end":            {plays: plays(withResults(ended, marked("a")))},
		"a line about no job":                {plays: plays(withResults(missing, nothing("FWP-FETCH-05")))},
		"a field of one that came":           {plays: plays(withResults(missing, marked("a")))},
		"doubtful, at such a line":           {plays: plays(withResults(doubtful, general), evidenceOf(doubtful))},
		"behind such a line":                 {plays: plays(withResults(reference, refusal("a", 0)))},
		"before such a line":                 {plays: plays(withResults(reference, refusal("a", time.Hour))), want: []string{reply}},
		"beside such a line":                 {plays: plays(withResults(reference, refusal("b", time.Second)))},
		"a value of a set-up line":           {plays: plays(withResults(value, assumed(at("a"), ""))), want: []string{field}},
		"a value that a line has reported":   {plays: plays(withResults(value, marked("a")))},
		"behind a line that lag may explain": {plays: plays(withResults(reference, lagged), withResults(reference, lagged)), lag: time.Second},
		"a value that a breach has reported": {plays: plays(breach)},
		"a reply whose rest is a breach":     {plays: plays(rest(reference)), want: []string{reply}},
		"in doubt, and its rest":             {plays: plays(rest(doubtful), rest(doubtful))},
		"behind a property's finding":        {plays: plays(crowd("FWP-STATE-05", reference))},
		"a value behind it":                  {plays: plays(crowd("FWP-STATE-05", value)), want: []string{field}},
		"a value that it has reported":       {plays: plays(crowd("FWP-WU-03", value))},
		"from a server that ended":           {plays: plays(deadPlay)},
		"a time, once":                       {plays: plays(evidenceOf(timed))},
		"a time, twice":                      {plays: plays(evidenceOf(timed), evidenceOf(afterwards)), want: []string{lateness}},
		"a time, of two plays at once":       {plays: plays(evidenceOf(timed), evidenceOf(timed))},
		"a time on a late machine":           {plays: plays(evidenceOf(timed), evidenceOf(timed)), lag: time.Second},
		"behind a refusal, once":             {plays: plays(evidenceOf(behind))},
		"behind a refusal, twice":            {plays: plays(evidenceOf(behind), evidenceOf(behind)), want: []string{refusalCheck}},
		"behind a refusal, and without":      {plays: plays(evidenceOf(behind, reference), evidenceOf(behind)), want: []string{reply}},
		"behind a refusal, and a line's":     {plays: plays(evidenceOf(behind), evidenceOf(behind)), broken: []string{"FWP-ACK-02"}},
		"in doubt, once":                     {plays: plays(evidenceOf(doubtful))},
		"in doubt, and nothing else":         {plays: plays(evidenceOf(doubtful), evidenceOf(doubtful)), want: []string{order}},
		"in doubt beside a line's finding":   {plays: plays(evidenceOf(doubtful), evidenceOf(doubtful)), broken: []string{"FWP-HI-01"}},
		"in doubt beside another":            {plays: plays(evidenceOf(doubtful, value), evidenceOf(doubtful)), want: []string{field}},
	} {
		s := newRunState(&Runner{Suite: fwpsuite.Protocol()})
		for i, e := range test.plays {
			s.law.take(conformance.Description{ID: strconv.Itoa(i)}, e, test.lag)
		}
		var got []string
		for _, c := range s.lawChecks(test.broken) {
			for _, f := range c.Findings {
				got = append(got, c.ID+" "+f.Clause+" "+f.Verdict.String())
			}
			assert.Len(t, c.Findings, len(c.Clauses), name)
			assert.Contains(t, []reports.Verdict{reports.Fail, reports.Warn}, c.Verdict, name)
		}
		assert.Equal(t, test.want, got, name)
	}
}

// TestAnUnsteadySpanOfTime: one play has shown it, and not the next one of its check.
func TestAnUnsteadySpanOfTime(t *testing.T) {
	t.Parallel()
	began := time.Now()
	lateReply := law.Occurrence{
		Violation: law.Violation{Rule: "late", Clause: "FWP-STATE-04", Got: "3 s"}, Conn: "a", At: began, IsTimed: true,
	}
	field := law.Occurrence{Violation: law.Violation{Rule: "field", Clause: "FWP-WU-03", JID: "j"}, Conn: "a", At: began}
	evidenceOf := func(words string, all ...law.Occurrence) *conformance.Evidence {
		line := reports.Line{Conn: "a", From: reports.FromServer, Text: words}
		return &conformance.Evidence{Began: began, Law: all, Conversation: []reports.Line{line}}
	}
	doubtful, consequence := lateReply, lateReply
	doubtful.Doubtful, consequence.CommandClause = true, "FWP-ACK-02"
	for name, test := range map[string]struct {
		first, second *conformance.Evidence
		check         string // of the second play
		broken        []string
		want          string
	}{
		"unsteady":               {evidenceOf("late", lateReply), evidenceOf("in time"), "a", nil, "inconclusive"},
		"twice":                  {evidenceOf("late", lateReply), evidenceOf("late", lateReply), "a", nil, "fail"},
		"never played again":     {evidenceOf("late", lateReply), evidenceOf("in time"), "b", nil, ""},
		"content":                {evidenceOf("altered", field), evidenceOf("right"), "a", nil, "fail"},
		"in doubt":               {evidenceOf("late", doubtful), evidenceOf("in time"), "a", nil, "inconclusive"},
		"in doubt, and more":     {evidenceOf("late", doubtful), evidenceOf("in time"), "a", []string{"FWP-WU-03"}, ""},
		"behind another command": {evidenceOf("late", consequence), evidenceOf("in time"), "a", nil, ""},
	} {
		s := newRunState(&Runner{Suite: fwpsuite.Protocol()})
		s.law.take(conformance.Description{ID: "a"}, test.first, 0)
		s.law.take(conformance.Description{ID: test.check}, test.second, 0)
		got := ""
		for _, c := range s.lawChecks(test.broken) {
			got += c.Verdict.String()
			if c.Verdict != reports.Inconclusive {
				continue
			}
			var words []string
			for _, l := range c.Conversation {
				words = append(words, l.Text)
			}
			assert.Equal(t, []string{"late", replayNote, "in time"}, words, name)
			assert.Equal(t, reports.ReasonUnsteady, c.Clauses[0].Reason, name)
		}
		assert.Equal(t, test.want, got, name)
	}
}

// TestEvents: which lines of a conversation a violation rests on. A line is its second, its connection, who has said
// it, and its text.
func TestEvents(t *testing.T) {
	t.Parallel()
	line := func(at int, conn, from, text string) reports.Line {
		return reports.Line{At: time.Duration(at) * time.Second, Conn: conn, From: from, Text: text}
	}
	const c, s = reports.FromClient, reports.FromServer
	all := []reports.Line{
		line(1, "a", c, "HELLO"), line(1, "a", s, "OK"),
		line(2, "b", c, "PUSH j"), line(2, "b", s, "OK"),
		line(3, "b", c, "PUSH k"), line(3, "b", s, "OK"), line(4, "", reports.FromSuite, "restart"), line(5, "a", c, "FETCH"),
		line(6, "b", c, "INFO"), line(7, "a", s, "j"), line(8, "a", c, "ACK j"),
	}
	job := law.Violation{JID: "j"}
	for name, test := range map[string]struct {
		v      law.Occurrence
		at     int
		want   string
		marked int
	}{
		"a value":              {law.Occurrence{Violation: job, Conn: "a", IsAboutValue: true}, 7, "PUSH j, FETCH, j", 3},
		"a reply":              {law.Occurrence{Violation: job, Conn: "a"}, 7, "HELLO, OK, PUSH j, restart, FETCH, j", 6},
		"no job":               {law.Occurrence{Conn: "b"}, 3, "PUSH j, OK, PUSH k, OK", 4},
		"a time without a job": {law.Occurrence{Conn: "a", IsTimed: true}, 2, "HELLO, OK, PUSH j, OK", 0},
		"no message":           {law.Occurrence{Conn: "b", IsAboutValue: true}, 6, "INFO", 0},
	} {
		lines, marked := evidenceLines(all, test.v, time.Duration(test.at)*time.Second)
		var got []string
		for _, l := range lines {
			got = append(got, l.Text)
		}
		assert.Equal(t, test.want, strings.Join(got, ", "), name)
		assert.Equal(t, test.marked, marked, name)
	}
}

// TestTheLawMeasuresAgain: a span of time is measured again until two plays in which this machine was in time agree.
func TestTheLawMeasuresAgain(t *testing.T) {
	t.Parallel()
	l := lawResults{findings: map[lawKey]*lawFinding{}}
	content := law.Occurrence{Violation: law.Violation{Rule: "field"}}
	occurrence := law.Occurrence{Violation: law.Violation{Rule: "late"}, IsTimed: true}
	for i, step := range []struct {
		first law.Occurrence
		lag   time.Duration
		retry purpose
	}{
		{content, time.Hour, countReplay},
		{occurrence, time.Second, timeReplay},
		{occurrence, machine.Room - 1, timeReplay},
		{occurrence, machine.Room, timeReplay},
		{occurrence, 0, noReplay},
	} {
		e := &conformance.Evidence{Law: []law.Occurrence{step.first}}
		assert.Equal(t, step.retry, l.take(conformance.Description{ID: strconv.Itoa(i)}, e, step.lag), i)
	}
}

// TestAFindingOfContentIsPlayedAgain: at once if a replay shows it, and three times at most.
func TestAFindingOfContentIsPlayedAgain(t *testing.T) {
	t.Parallel()
	occurrence := law.Occurrence{Violation: law.Violation{Rule: "field", Clause: "FWP-WU-03"}}
	for name, test := range map[string]struct {
		plays     string // of the check: x shows it, o shows something else; of another one: X, O
		replays   string // after each play
		frequency string
	}{
		"shown again":        {"xx", "yn", "seen in 2 plays"},
		"shown late":         {"xox", "yyn", "seen in 2 plays; shown in 1 of 2 replays"},
		"not shown again":    {"xooo", "yyyn", "seen in 1 play; shown in 0 of 3 replays"},
		"shown by another":   {"xX", "yn", "seen in 2 plays"},
		"known from another": {"xXo", "ynn", "seen in 2 plays; shown in 0 of 1 replay"},
		"not played again":   {"xO", "yn", ""},
	} {
		l := lawResults{findings: map[lawKey]*lawFinding{}}
		replays := ""
		for _, p := range test.plays {
			e := &conformance.Evidence{}
			if strings.ContainsRune("xX", p) {
				e.Law = []law.Occurrence{occurrence}
			}
			id := map[bool]string{true: "other", false: "check"}[p < 'a']
			replays += map[bool]string{true: "y", false: "n"}[l.take(conformance.Description{ID: id}, e, 0) != noReplay]
		}
		assert.Equal(t, test.replays, replays, name)
		assert.Equal(t, test.frequency, l.findings[lawKey{"field", "FWP-WU-03"}].frequency(0), name)
	}
}

// TestAMissingJobIsPlayedAgain: how often a check is played of which a line got nothing where a job was due, and the
// verdicts of these plays that its result has.
func TestAMissingJobIsPlayedAgain(t *testing.T) {
	t.Parallel()
	line := func(o play.Outcome, nothing bool) *conformance.Evidence {
		marks := []scenarios.ClauseMark{{Clause: "FWP-BEAT-01"}}
		return &conformance.Evidence{Results: []play.Result{{Outcome: o, Marks: marks, IsEmptyReply: nothing}}}
	}
	missing, other, match := line(play.Mismatched, true), line(play.Mismatched, false), line(play.Matched, false)
	deadPlay := line(play.Mismatched, true)
	deadPlay.DeadReason = "gone"
	longPlay := line(play.Mismatched, true)
	longPlay.Took = conformance.QuickPatience + 1
	counted := reports.CountVerdicts
	type plays []*conformance.Evidence
	for name, test := range map[string]struct {
		plays   plays
		replays string // after each play
		alone   []reports.Count
	}{
		"another reply":   {plays{other}, "n", nil},
		"of a dead one":   {plays{deadPlay}, "n", nil},
		"it takes long":   {plays{longPlay}, "n", nil},
		"missing again":   {plays{missing, missing}, "yn", counted(reports.Fail)},
		"something else":  {plays{missing, other}, "yn", counted(reports.Fail)},
		"never again":     {plays{missing, match, match, match}, "yyyn", counted(reports.Pass, reports.Pass, reports.Pass)},
		"what was passed": {plays{match}, "n", nil},
	} {
		script, err := scenarios.Parse(fwpsuite.Protocol().Dialect, "a/check", []byte("title: x\n"+
			"connect as consumer\nclause FWP-BEAT-01\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"))
		require.NoError(t, err)
		s := newRunState(&Runner{Suite: fwpsuite.Protocol(), Checks: conformance.Scripts(script)})
		check := s.newTask(0, 0)
		replays := ""
		for _, e := range test.plays {
			before := len(s.retryQueue)
			check.evidence, check.began, check.server = e, time.Now(), newHost(Server{})
			s.evaluate(check)
			replays += map[bool]string{true: "y", false: "n"}[len(s.retryQueue) > before]
		}
		assert.Equal(t, test.replays, replays, name)
		assert.Equal(t, test.alone, s.results[0][0].Replays, name)
		breach := test.plays[0].Results[0].Outcome == play.Mismatched && test.plays[0] != deadPlay
		assert.Equal(t, breach, s.results[0][0].Verdict.IsBreach(), name)
	}
}

// TestWhatWaitsForASecondPlayGetsIt: whatever else the first one has found.
func TestWhatWaitsForASecondPlayGetsIt(t *testing.T) {
	t.Parallel()
	began := time.Now()
	mismatch := play.Result{Outcome: play.Mismatched, Marks: []scenarios.ClauseMark{{Clause: "FWP-BEAT-01"}}}
	lagResult := play.Result{Outcome: play.Unsure, Reason: play.Lag, Cause: "late", IsTransient: true}
	occurrence := law.Occurrence{
		Violation: law.Violation{Rule: "late", Clause: "FWP-STATE-04"}, Conn: "a", At: began, IsTimed: true, IsAboutValue: true,
	}
	for name, test := range map[string]struct {
		e        conformance.Evidence
		isQueued bool
	}{
		"nothing":                        {conformance.Evidence{}, false},
		"a finding":                      {conformance.Evidence{Results: []play.Result{mismatch}}, false},
		"lag":                            {conformance.Evidence{Results: []play.Result{lagResult}}, true},
		"lag behind a finding":           {conformance.Evidence{Results: []play.Result{mismatch, lagResult}}, false},
		"a late reply behind a finding":  {conformance.Evidence{Results: []play.Result{mismatch, lagResult}, IsUnproven: true}, true},
		"a time of the law":              {conformance.Evidence{Law: []law.Occurrence{occurrence}}, true},
		"a time of the law by a finding": {conformance.Evidence{Law: []law.Occurrence{occurrence}, Results: []play.Result{mismatch}}, true},
	} {
		script, err := scenarios.Parse(fwpsuite.Protocol().Dialect, "a/check", []byte("title: x\n"+
			"connect as consumer\nclause FWP-BEAT-01\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"))
		require.NoError(t, err)
		s := newRunState(&Runner{Suite: fwpsuite.Protocol(), Checks: conformance.Scripts(script)})
		check := s.newTask(0, 0)
		test.e.Began, check.evidence, check.began, check.server = began, &test.e, began, newHost(Server{})
		s.evaluate(check)
		assert.Equal(t, test.isQueued, len(s.retryQueue) == 1, name)
		if s.evaluate(check); len(test.e.Law) > 0 {
			assert.Len(t, s.retryQueue, 1, "%s: two plays have shown it", name)
		}
	}
}

// TestShrinkOfALawFinding: a command for a script, and the reason for what is none, or needs an operator.
func TestShrinkOfALawFinding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		about conformance.Description
		want  string
	}{
		{conformance.Description{ID: "a/b", File: "a/b"}, "shrink a/b law/field FWP-WU-03"},
		{conformance.Description{ID: "a/b"}, "a/b generates its conversations, so there is no script"},
		{
			conformance.Description{ID: "a/b", File: "a/b", Needs: []scenarios.Need{scenarios.NeedRestart}},
			"a/b needs a restart or an order to workers, which shrink does not support",
		},
	} {
		f := lawFinding{Occurrence: law.Occurrence{Violation: law.Violation{Rule: "field", Clause: "FWP-WU-03"}}, description: test.about}
		assert.Equal(t, test.want, f.shrink(func(check, finding string) string { return "shrink " + check + " " + finding }))
	}
}
