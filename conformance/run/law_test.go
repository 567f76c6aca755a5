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
		reply, field = "law/reply FWP-ACK-02 fail", "law/field FWP-WU-03 fail"
		late, order  = "law/late FWP-STATE-04 fail", "law/order FWP-FETCH-04 fail"
		refused      = "law/refused FWP-STATE-12 fail"
	)
	began := time.Now()
	seen := func(change func(*law.Seen)) law.Seen {
		v := law.Seen{Violation: law.Violation{Rule: "reply", Clause: "FWP-ACK-02"}, Conn: "a", At: began.Add(time.Second)}
		change(&v)
		return v
	}
	plain := seen(func(*law.Seen) {})
	value := seen(func(v *law.Seen) { v.Rule, v.Clause, v.Alone = "field", "FWP-WU-03", true })
	timed := seen(func(v *law.Seen) { v.Rule, v.Clause, v.Timed = "late", "FWP-STATE-04", true })
	afterwards := timed
	afterwards.At = began.Add(4 * time.Second)
	doubtful := seen(func(v *law.Seen) { v.Rule, v.Clause, v.Doubtful = "order", "FWP-FETCH-04", true })
	behind := seen(func(v *law.Seen) { v.Rule, v.Clause, v.Own = "refused", "FWP-STATE-12", "FWP-ACK-02" })
	should := seen(func(v *law.Seen) { v.Should = true })
	at := func(conn string) play.Result {
		return play.Result{Outcome: play.Mismatched, Conn: conn, At: time.Second}
	}
	marked := func(conn string) play.Result {
		r := at(conn)
		r.Marks = []scenarios.Mark{{Clause: "FWP-WU-03"}}
		return r
	}
	missing := seen(func(v *law.Seen) { v.Rule, v.Clause, v.Again = "missing", "FWP-STATE-09", true })
	ended := seen(func(v *law.Seen) { v.Rule, v.Clause, v.Unasked = "closed", "FWP-STATE-13", true })
	never := seen(func(v *law.Seen) { v.Rule, v.Clause = "missing", "FWP-PUSH-04" })
	nothing := func(clause string) play.Result {
		r := at("a")
		r.Nothing, r.Marks = true, []scenarios.Mark{{Clause: clause}}
		return r
	}
	closed := marked("a")
	closed.Ending = scenarios.Fin
	general := at("a")
	general.Marks = []scenarios.Mark{{Clause: "FWP-FETCH-01"}}
	assumed := func(r play.Result, name string) play.Result {
		r.Assumed, r.Differences = true, []scenarios.Difference{{Path: ".jid", Name: name}}
		return r
	}
	refusal := func(conn string, after time.Duration) play.Result {
		return play.Result{Outcome: play.Mismatched, Refusal: true, Conn: conn, At: after}
	}
	beside := func(v law.Seen, results ...play.Result) *conformance.Evidence {
		return &conformance.Evidence{Began: began, Law: []law.Seen{v}, Results: results}
	}
	of := func(all ...law.Seen) *conformance.Evidence { return &conformance.Evidence{Began: began, Law: all} }
	lagged := play.Result{Outcome: play.Unsure, Reason: play.Lag, Conn: "a", At: time.Second}
	gone := of(value)
	gone.Dead = "gone"
	breach := of(value)
	breach.Breaches = []scenarios.Breach{{Conn: "a", At: time.Second}}
	rest := func(v law.Seen) *conformance.Evidence {
		e := of(v)
		e.Breaches = []scenarios.Breach{{Kind: scenarios.ExtraReply, Conn: "a", At: time.Second}}
		return e
	}
	crowd := func(clause string, v ...law.Seen) *conformance.Evidence {
		return &conformance.Evidence{Began: began, Law: v, Findings: []conformance.Finding{{Clause: clause}}}
	}
	plays := func(all ...*conformance.Evidence) []*conformance.Evidence { return all }
	for name, test := range map[string]struct {
		plays  []*conformance.Evidence
		lag    time.Duration
		broken []string // clauses, by lines of scripts
		want   []string
	}{
		"nothing":                       {plays: plays(of())},
		"one":                           {plays: plays(of(plain)), want: []string{reply}},
		"the same twice":                {plays: plays(of(plain, plain), of(plain)), want: []string{reply}},
		"two rules":                     {plays: plays(of(plain, value)), want: []string{field, reply}},
		"a recommendation":              {plays: plays(of(should)), want: []string{"law/reply FWP-ACK-02 warn"}},
		"behind a departure":            {plays: plays(beside(plain, marked("b")))},
		"a value behind a departure":    {plays: plays(beside(value, at("b"))), want: []string{field}},
		"behind a value":                {plays: plays(beside(plain, assumed(marked("b"), ""))), want: []string{reply}},
		"behind another name":           {plays: plays(beside(plain, assumed(at("b"), "$jid")))},
		"a set-up line that is refused": {plays: plays(beside(plain, refusal("a", time.Second))), want: []string{reply}},
		"a set-up line that shows it":   {plays: plays(beside(plain, at("a"))), want: []string{reply}},
		"a line about a general clause": {plays: plays(beside(plain, general)), want: []string{reply}},
		"a field of one that did not come": {
			plays: plays(beside(missing, nothing("FWP-WU-03"))), want: []string{"law/missing FWP-STATE-09 fail"},
		},
		"a field of one that never came":   {plays: plays(beside(never, nothing("FWP-WU-03")))},
		"a line about why it did not come": {plays: plays(beside(missing, nothing("FWP-WU-07")))},
		"a line behind the end of its connection": {
			plays: plays(beside(ended, closed)), want: []string{"law/closed FWP-STATE-13 fail"},
		},
		"a line ahead of the end":            {plays: plays(beside(ended, marked("a")))},
		"a line about no job":                {plays: plays(beside(missing, nothing("FWP-FETCH-05")))},
		"a field of one that came":           {plays: plays(beside(missing, marked("a")))},
		"doubtful, at such a line":           {plays: plays(beside(doubtful, general), of(doubtful))},
		"behind such a line":                 {plays: plays(beside(plain, refusal("a", 0)))},
		"before such a line":                 {plays: plays(beside(plain, refusal("a", time.Hour))), want: []string{reply}},
		"beside such a line":                 {plays: plays(beside(plain, refusal("b", time.Second)))},
		"a value of a set-up line":           {plays: plays(beside(value, assumed(at("a"), ""))), want: []string{field}},
		"a value that a line has reported":   {plays: plays(beside(value, marked("a")))},
		"behind a line that lag may explain": {plays: plays(beside(plain, lagged), beside(plain, lagged)), lag: time.Second},
		"a value that a breach has reported": {plays: plays(breach)},
		"a reply whose rest is a breach":     {plays: plays(rest(plain)), want: []string{reply}},
		"in doubt, and its rest":             {plays: plays(rest(doubtful), rest(doubtful))},
		"behind a property's finding":        {plays: plays(crowd("FWP-STATE-05", plain))},
		"a value behind it":                  {plays: plays(crowd("FWP-STATE-05", value)), want: []string{field}},
		"a value that it has reported":       {plays: plays(crowd("FWP-WU-03", value))},
		"from a server that ended":           {plays: plays(gone)},
		"a time, once":                       {plays: plays(of(timed))},
		"a time, twice":                      {plays: plays(of(timed), of(afterwards)), want: []string{late}},
		"a time, of two plays at once":       {plays: plays(of(timed), of(timed))},
		"a time on a late machine":           {plays: plays(of(timed), of(timed)), lag: time.Second},
		"behind a refusal, once":             {plays: plays(of(behind))},
		"behind a refusal, twice":            {plays: plays(of(behind), of(behind)), want: []string{refused}},
		"behind a refusal, and without":      {plays: plays(of(behind, plain), of(behind)), want: []string{reply}},
		"behind a refusal, and a line's":     {plays: plays(of(behind), of(behind)), broken: []string{"FWP-ACK-02"}},
		"in doubt, once":                     {plays: plays(of(doubtful))},
		"in doubt, and nothing else":         {plays: plays(of(doubtful), of(doubtful)), want: []string{order}},
		"in doubt beside a line's finding":   {plays: plays(of(doubtful), of(doubtful)), broken: []string{"FWP-HI-01"}},
		"in doubt beside another":            {plays: plays(of(doubtful, value), of(doubtful)), want: []string{field}},
	} {
		s := newRunState(&Runner{Protocol: fwpsuite.Protocol()})
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
	late := law.Seen{
		Violation: law.Violation{Rule: "late", Clause: "FWP-STATE-04", Got: "3 s"}, Conn: "a", At: began, Timed: true,
	}
	field := law.Seen{Violation: law.Violation{Rule: "field", Clause: "FWP-WU-03", JID: "j"}, Conn: "a", At: began}
	of := func(said string, all ...law.Seen) *conformance.Evidence {
		line := reports.Line{Conn: "a", From: reports.FromServer, Text: said}
		return &conformance.Evidence{Began: began, Law: all, Conversation: []reports.Line{line}}
	}
	doubtful, own := late, late
	doubtful.Doubtful, own.Own = true, "FWP-ACK-02"
	for name, test := range map[string]struct {
		first, second *conformance.Evidence
		check         string // of the second play
		broken        []string
		want          string
	}{
		"unsteady":               {of("late", late), of("in time"), "a", nil, "inconclusive"},
		"twice":                  {of("late", late), of("late", late), "a", nil, "fail"},
		"never played again":     {of("late", late), of("in time"), "b", nil, ""},
		"content":                {of("altered", field), of("right"), "a", nil, "fail"},
		"in doubt":               {of("late", doubtful), of("in time"), "a", nil, "inconclusive"},
		"in doubt, and more":     {of("late", doubtful), of("in time"), "a", []string{"FWP-WU-03"}, ""},
		"behind another command": {of("late", own), of("in time"), "a", nil, ""},
	} {
		s := newRunState(&Runner{Protocol: fwpsuite.Protocol()})
		s.law.take(conformance.Description{ID: "a"}, test.first, 0)
		s.law.take(conformance.Description{ID: test.check}, test.second, 0)
		got := ""
		for _, c := range s.lawChecks(test.broken) {
			got += c.Verdict.String()
			if c.Verdict != reports.Inconclusive {
				continue
			}
			var said []string
			for _, l := range c.Conversation {
				said = append(said, l.Text)
			}
			assert.Equal(t, []string{"late", playedAgain, "in time"}, said, name)
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
		v      law.Seen
		at     int
		want   string
		marked int
	}{
		"a value":              {law.Seen{Violation: job, Conn: "a", Alone: true}, 7, "PUSH j, FETCH, j", 3},
		"a reply":              {law.Seen{Violation: job, Conn: "a"}, 7, "HELLO, OK, PUSH j, restart, FETCH, j", 6},
		"no job":               {law.Seen{Conn: "b"}, 3, "PUSH j, OK, PUSH k, OK", 4},
		"a time without a job": {law.Seen{Conn: "a", Timed: true}, 2, "HELLO, OK, PUSH j, OK", 0},
		"no message":           {law.Seen{Conn: "b", Alone: true}, 6, "INFO", 0},
	} {
		lines, marked := events(all, test.v, time.Duration(test.at)*time.Second)
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
	l := lawful{found: map[lawKey]*lawFinding{}}
	content := law.Seen{Violation: law.Violation{Rule: "field"}}
	timed := law.Seen{Violation: law.Violation{Rule: "late"}, Timed: true}
	for i, step := range []struct {
		seen  law.Seen
		late  time.Duration
		again purpose
	}{
		{content, time.Hour, toCount},
		{timed, time.Second, toMeasure},
		{timed, machine.Room - 1, toMeasure},
		{timed, machine.Room, toMeasure},
		{timed, 0, noReplay},
	} {
		e := &conformance.Evidence{Law: []law.Seen{step.seen}}
		assert.Equal(t, step.again, l.take(conformance.Description{ID: strconv.Itoa(i)}, e, step.late), i)
	}
}

// TestAFindingOfContentIsPlayedAgain: at once if a replay shows it, and three times at most.
func TestAFindingOfContentIsPlayedAgain(t *testing.T) {
	t.Parallel()
	seen := law.Seen{Violation: law.Violation{Rule: "field", Clause: "FWP-WU-03"}}
	for name, test := range map[string]struct {
		plays string // of the check: x shows it, o shows something else; of another one: X, O
		again string // after each play
		told  string
	}{
		"shown again":        {"xx", "yn", "seen in 2 plays"},
		"shown late":         {"xox", "yyn", "seen in 2 plays; shown in 1 of 2 replays"},
		"not shown again":    {"xooo", "yyyn", "seen in 1 play; shown in 0 of 3 replays"},
		"shown by another":   {"xX", "yn", "seen in 2 plays"},
		"known from another": {"xXo", "ynn", "seen in 2 plays; shown in 0 of 1 replay"},
		"not played again":   {"xO", "yn", ""},
	} {
		l := lawful{found: map[lawKey]*lawFinding{}}
		again := ""
		for _, p := range test.plays {
			e := &conformance.Evidence{}
			if strings.ContainsRune("xX", p) {
				e.Law = []law.Seen{seen}
			}
			id := map[bool]string{true: "other", false: "check"}[p < 'a']
			again += map[bool]string{true: "y", false: "n"}[l.take(conformance.Description{ID: id}, e, 0) != noReplay]
		}
		assert.Equal(t, test.again, again, name)
		assert.Equal(t, test.told, l.found[lawKey{"field", "FWP-WU-03"}].often(0), name)
	}
}

// TestAMissingJobIsPlayedAgain: how often a check is played of which a line got nothing where a job was due, and the
// verdicts of these plays that its result has.
func TestAMissingJobIsPlayedAgain(t *testing.T) {
	t.Parallel()
	line := func(o play.Outcome, nothing bool) *conformance.Evidence {
		marks := []scenarios.Mark{{Clause: "FWP-BEAT-01"}}
		return &conformance.Evidence{Results: []play.Result{{Outcome: o, Marks: marks, Nothing: nothing}}}
	}
	missing, other, met := line(play.Mismatched, true), line(play.Mismatched, false), line(play.Matched, false)
	dead := line(play.Mismatched, true)
	dead.Dead = "gone"
	late := line(play.Mismatched, true)
	late.Took = conformance.QuickPatience + 1
	counted := reports.CountVerdicts
	type plays []*conformance.Evidence
	for name, test := range map[string]struct {
		plays plays
		again string // after each play
		alone []reports.Count
	}{
		"another reply":   {plays{other}, "n", nil},
		"of a dead one":   {plays{dead}, "n", nil},
		"it takes long":   {plays{late}, "n", nil},
		"missing again":   {plays{missing, missing}, "yn", counted(reports.Fail)},
		"something else":  {plays{missing, other}, "yn", counted(reports.Fail)},
		"never again":     {plays{missing, met, met, met}, "yyyn", counted(reports.Pass, reports.Pass, reports.Pass)},
		"what was passed": {plays{met}, "n", nil},
	} {
		script, err := scenarios.Parse(fwpsuite.Protocol().Dialect, "a/check", []byte("title: x\n"+
			"connect as consumer\nclause FWP-BEAT-01\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"))
		require.NoError(t, err)
		s := newRunState(&Runner{Protocol: fwpsuite.Protocol(), Checks: conformance.Scripts(script)})
		one := s.newTask(0, 0)
		again := ""
		for _, e := range test.plays {
			before := len(s.again)
			one.evidence, one.began = e, time.Now()
			s.record(one)
			again += map[bool]string{true: "y", false: "n"}[len(s.again) > before]
		}
		assert.Equal(t, test.again, again, name)
		assert.Equal(t, test.alone, s.results[0][0].Alone, name)
		breach := test.plays[0].Results[0].Outcome == play.Mismatched && test.plays[0] != dead
		assert.Equal(t, breach, s.results[0][0].Verdict.Breach(), name)
	}
}

// TestWhatWaitsForASecondPlayGetsIt: whatever else the first one has found.
func TestWhatWaitsForASecondPlayGetsIt(t *testing.T) {
	t.Parallel()
	began := time.Now()
	broken := play.Result{Outcome: play.Mismatched, Marks: []scenarios.Mark{{Clause: "FWP-BEAT-01"}}}
	late := play.Result{Outcome: play.Unsure, Reason: play.Lag, Cause: "late", Transient: true}
	seen := law.Seen{
		Violation: law.Violation{Rule: "late", Clause: "FWP-STATE-04"}, Conn: "a", At: began, Timed: true, Alone: true,
	}
	for name, test := range map[string]struct {
		e     conformance.Evidence
		again bool
	}{
		"nothing":                        {conformance.Evidence{}, false},
		"a finding":                      {conformance.Evidence{Results: []play.Result{broken}}, false},
		"lag":                            {conformance.Evidence{Results: []play.Result{late}}, true},
		"lag behind a finding":           {conformance.Evidence{Results: []play.Result{broken, late}}, false},
		"a late reply behind a finding":  {conformance.Evidence{Results: []play.Result{broken, late}, Unproven: true}, true},
		"a time of the law":              {conformance.Evidence{Law: []law.Seen{seen}}, true},
		"a time of the law by a finding": {conformance.Evidence{Law: []law.Seen{seen}, Results: []play.Result{broken}}, true},
	} {
		script, err := scenarios.Parse(fwpsuite.Protocol().Dialect, "a/check", []byte("title: x\n"+
			"connect as consumer\nclause FWP-BEAT-01\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"))
		require.NoError(t, err)
		s := newRunState(&Runner{Protocol: fwpsuite.Protocol(), Checks: conformance.Scripts(script)})
		one := s.newTask(0, 0)
		test.e.Began, one.evidence, one.began = began, &test.e, began
		s.record(one)
		assert.Equal(t, test.again, len(s.again) == 1, name)
		if s.record(one); len(test.e.Law) > 0 {
			assert.Len(t, s.again, 1, "%s: two plays have shown it", name)
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
		f := lawFinding{Seen: law.Seen{Violation: law.Violation{Rule: "field", Clause: "FWP-WU-03"}}, about: test.about}
		assert.Equal(t, test.want, f.shrink(func(check, finding string) string { return "shrink " + check + " " + finding }))
	}
}
