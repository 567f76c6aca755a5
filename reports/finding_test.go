package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repetitive is a report in which many checks find the same.
func repetitive() *Report {
	r := &Report{}
	add := func(check, clause, got string) {
		r.Checks = append(r.Checks, Check{ID: check, Verdict: Fail, Findings: []Finding{{
			Clause: clause, Verdict: Fail, Evidence: Evidence{
				Expected: "a job", Actual: got, Conversation: []Line{{From: FromClient, Text: "FETCH fwp-" + check}},
			},
		}}})
	}
	for i := range 54 {
		add(fmt.Sprintf("fetch/number-%d", i), "FWP-FETCH-01", fmt.Sprintf("a null bulk string after %d ms", 2000+i))
	}
	add("fetch/other", "FWP-FETCH-01", "an error")
	add("mine-1", "", "an error")
	add("mine-2", "", "an error")
	r.Checks[0].Findings = append(r.Checks[0].Findings, r.Checks[0].Findings[0])
	return r
}

func TestSymptomsThatAreAlikeAreShownOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, repetitive().Page(PageOptions{}).WriteText(&out, TextOptions{}))
	text := out.String()
	assert.Contains(t, text, "FINDINGS: 3 (3 fail)", "one clause, and two checks that name none")
	assert.Contains(t, text, "fetch/number-0 +54")
	assert.Equal(t, 4, strings.Count(text, "FETCH fwp-"), "the first of each symptom, and whatever names no clause")
	assert.Contains(t, text, "also in   fetch/number-1, fetch/number-2,")
	for i := range 54 {
		assert.Contains(t, text, fmt.Sprintf("fetch/number-%d", i))
	}
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, len(line), textWidth+1, line)
	}
	out.Reset()
	require.NoError(t, repetitive().Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
	assert.Equal(t, 57, strings.Count(out.String(), "FETCH fwp-"), "the same twice in one place is one symptom")
	assert.NotContains(t, out.String(), "also in ")
}

// TestATerminalShowsTheFirstFindings: the end of a report of many findings fits a screen, and nothing is lost.
func TestATerminalShowsTheFirstFindings(t *testing.T) {
	t.Parallel()
	r := &Report{}
	for i := range 20 {
		r.Checks = append(r.Checks, Check{ID: fmt.Sprintf("check-%02d", i), Verdict: Fail, Findings: []Finding{{
			Clause: fmt.Sprintf("X-%02d", i), Verdict: Fail, Evidence: Evidence{Actual: fmt.Sprintf("got-%c", 'a'+rune(i))},
		}}})
	}
	for name, test := range map[string]struct {
		options        PageOptions
		lines, details int
		isAtTheEnd     bool
	}{
		"a terminal":           {PageOptions{ForTerminal: true}, 15, 10, true},
		"with all details":     {PageOptions{ForTerminal: true, AllDetails: true}, 20, 20, true},
		"verbose":              {PageOptions{ForTerminal: true, Verbose: true}, 20, 20, true},
		"a file with pictures": {PageOptions{}, 20, 20, false},
	} {
		var out bytes.Buffer
		require.NoError(t, r.Page(test.options).WriteText(&out, TextOptions{}))
		text := out.String()
		_, list, _ := strings.Cut(text, "FINDINGS: 20 (20 fail)")
		list, _, _ = strings.Cut(list, "\n\n")
		assert.Equal(t, test.lines, strings.Count(list, "  fail  X-"), name)
		assert.Equal(t, test.details, strings.Count(text, "got-"), name)
		isShort := test.lines < 20
		assert.Equal(t, isShort, strings.Contains(text, "and 5 more; --details all lists them"), name)
		assert.Equal(t, isShort, strings.Contains(text, "10 more findings\n  --details all shows what was expected"), name)
		assert.Equal(t, test.isAtTheEnd, strings.Index(text, "FINDINGS") > strings.Index(text, "TOTALS"), name)
	}
}

// A script leads where generated commands show the same; and what generated commands find has no place, so that two
// clauses are two symptoms.
func TestGeneratedChecksComeLast(t *testing.T) {
	t.Parallel()
	generated := func(clause string) Finding {
		return Finding{Clause: clause, Verdict: Fail, Evidence: Evidence{
			Expected: "-", Actual: "<close>", NoScriptReason: "there was no time", Shrink: "fwpcheck explore",
			Conversation: []Line{{From: FromClient, Text: "HELLO 5"}, {From: FromServer, Text: "<close>"}}, MarkedLine: 2,
		}}
	}
	scripted := func(line int, actual string) Finding {
		return Finding{Clause: "FWP-B", Verdict: Fail, Evidence: Evidence{Line: line, Expected: "an error", Actual: actual}}
	}
	r := &Report{Checks: []Check{
		{ID: "explore/a", Verdict: Fail, Findings: []Finding{generated("FWP-A"), generated("FWP-B")}},
		{ID: "hello/b", File: "hello/b", Verdict: Fail, Findings: []Finding{scripted(3, "+OK"), scripted(5, "+OK")}},
	}}
	var out bytes.Buffer
	require.NoError(t, r.Page(PageOptions{}).WriteText(&out, TextOptions{}))
	text := out.String()
	assert.Regexp(t, `fail  FWP-B +hello/b \+1\n +fail  FWP-A +explore/a`, strings.ReplaceAll(text, "  fail", " fail"))
	assert.Contains(t, text, "also in   line 5\n")
	assert.Contains(t, text, "script    none: there was no time\n")
	assert.Contains(t, text, "shrink    fwpcheck explore\n")
	assert.Equal(t, 2, strings.Count(text, "C:  HELLO 5"), "each with what was said before it")
	assert.Equal(t, 3, strings.Count(text, "\nfail  FWP-"), text)
}

func TestASymptomHasAllClausesThatItBreaks(t *testing.T) {
	t.Parallel()
	at := func(clause string, v Verdict, line int) Finding {
		return Finding{Clause: clause, Verdict: v, Evidence: Evidence{Check: "a", Line: line, Actual: "+OK"}}
	}
	r := &Report{Checks: []Check{
		{ID: "a", Verdict: Fail, Findings: []Finding{at("A", Warn, 3), at("B", Fail, 3), at("A", Fail, 9)}},
		{ID: "b", Verdict: Warn, Clauses: []ClauseVerdict{{ID: "A", Verdict: Warn}}},
	}, Clauses: []Clause{{ID: "A", Verdict: Inconclusive}, {ID: "B", Verdict: Fail}, {ID: "C", Verdict: Pass}}}
	output := r.jsonReport(ExitOptions{})
	assert.Equal(t, []RunFinding{
		{Clause: "B", Verdict: Fail, Checks: []string{"a"}, SymptomIndexes: []int{0}},
		{Clause: "A", Verdict: Fail, Checks: []string{"a", "b"}, SymptomIndexes: []int{0, 1, 2}},
	}, output.RunFindings)
	assert.Equal(t, []string{"B", "A"}, output.Symptoms[0].Clauses)
	assert.Equal(t, Counts{
		Findings: map[Verdict]int{Fail: 2}, Clauses: map[Verdict]int{Fail: 2, Pass: 1}, Checks: map[Verdict]int{Fail: 1},
	}, output.Counts,
		"a clause with a finding counts as that, whatever another check says")
	assert.Equal(t, "2 findings: 2 fail", output.Words)
}

// TestDeaths: crashes for one reason are one finding, that of the clause which one of them names, if one does. Two
// clauses are two findings; what shows under four is about none of them.
func TestDeaths(t *testing.T) {
	t.Parallel()
	died := func(check, clause, death string) Check {
		return Check{ID: check, Verdict: Crash, Findings: []Finding{{
			Clause: clause, Verdict: Crash, Statement: "the server died in " + check, Evidence: Evidence{Check: check,
				Death: death},
		}}}
	}
	r := &Report{Checks: []Check{
		died("a", "", "panic at x"), died("b", "", "panic at y"), died("c", "A", "panic at x"), died("d", "", "panic at x"),
		died("e", "B", "panic at x"), died("f", "", "panic at y"), died("g", "", ""), died("h", "", ""),
		died("i", "C", "fatal"), died("j", "D", "fatal"), died("k", "E", "fatal"), died("l", "F", "fatal"),
	}}
	var lines []string
	for _, b := range r.jsonReport(ExitOptions{}).RunFindings {
		lines = append(lines, b.Clause+": "+b.Statement+": "+strings.Join(b.Checks, " "))
	}
	assert.Equal(t, []string{
		"A: the server died in c: a c d", ": the server died in b: b f", "B: the server died in e: e",
		": the server died in g: g", ": the server died in h: h", ": the server died: fatal: i j k l",
	}, lines)
}

func TestACloseWeighsLessThanAReply(t *testing.T) {
	t.Parallel()
	checkOf := func(check string, e Evidence) Check {
		return Check{ID: check, Verdict: Fail, Findings: []Finding{{Clause: "FWP-AUTH-06", Verdict: Fail, Evidence: e}}}
	}
	r := &Report{Checks: []Check{
		checkOf("closes", Evidence{Expected: "an error", Actual: "the connection was closed", ConnectionEnd: "orderly"}),
		checkOf("serves", Evidence{Expected: "an error", Actual: "+OK"}),
	}}
	assert.Equal(t, "serves", r.Findings()[0].Check)
}

func TestDifferencesInsideRepliesAreToldApart(t *testing.T) {
	t.Parallel()
	r := &Report{}
	for i, expected := range []string{"[2147483648]", "[9007199254740993]", "[9007199254740993]"} {
		r.Checks = append(r.Checks, Check{ID: fmt.Sprintf("integers-%d", i), Verdict: Fail, Findings: []Finding{{
			Clause: "FWP-WU-03", Verdict: Fail, Evidence: Evidence{
				Expected: expected, Actual: `${"args":[1]}`, Differences: []string{".args[0]: expected another"},
			},
		}}})
	}
	var out bytes.Buffer
	require.NoError(t, r.Page(PageOptions{}).WriteText(&out, TextOptions{}))
	assert.Equal(t, 2, strings.Count(out.String(), "expected  ["))
}

func TestSignature(t *testing.T) {
	t.Parallel()
	signatureOf := func(expected, actual string, differences ...string) string {
		return (&Finding{Evidence: Evidence{Expected: expected, Actual: actual, Differences: differences}}).Signature()
	}
	assert.Equal(t, "+OK instead of an error", signatureOf("an error", "+OK"))
	assert.Equal(t, "no new connection", signatureOf("", "no new connection\nat all"))
	assert.Empty(t, signatureOf("an error", ""))
	assert.Equal(t, ".retry: expected #, got #", signatureOf("x", "y", ".retry: expected 25, got 0"))
	first := signatureOf("a job", `${"jid":"fwp112021521970b0-2-jid-2","at":"2026-11-20T23:23:38.98Z"} after 2.003 s`)
	second := signatureOf("a job", `${"jid":"fwp1120232337b6fb-128-jid-17","at":"2026-11-21T01:23:38+01:00"} after 998ms`)
	assert.Equal(t, `${"jid":"$jid","at":"#time"} after #time instead of a job`, first)
	assert.Equal(t, first, second)
	assert.Equal(t, `"\r$jid\r\n" instead of no CR`, signatureOf("no CR", `"\rfwp1121055207a06a-200-jid-2\r\n"`),
		"behind an escape")
	assert.Equal(t, "patience ended after #time", signatureOf("", "patience ended after 2m31.066s"))
	long := signatureOf("x", strings.Repeat("é", 1000))
	assert.Equal(t, strings.Repeat("é", 80)+" instead of x", long)
}

// FuzzStable: a stable text stays as it is, so that what a user copies from a report still matches.
func FuzzStable(f *testing.F) {
	f.Add(`${"jid":"fwp112021521970b0-2-jid-2","at":"2026-11-20T23:23:38.98Z"} after 2.003 s, 7 of 1,000`)
	f.Fuzz(func(t *testing.T, s string) {
		stable := MaskVolatile(s)
		assert.Equal(t, stable, MaskVolatile(stable))
	})
}

// linesOf makes lines of "conn C: text".
func linesOf(lines ...string) []Line {
	var all []Line
	for _, line := range lines {
		conn, rest, _ := strings.Cut(line, " ")
		from, words, _ := strings.Cut(rest, " ")
		all = append(all, Line{Conn: strings.TrimPrefix(conn, "-"), Text: words, IsInternal: conn == "cleanup",
			From: map[string]string{"C:": FromClient, "S:": FromServer, "--": FromSuite}[from]})
	}
	return all
}

func TestTheEvidenceIsWhatLeadsToTheFinding(t *testing.T) {
	t.Parallel()
	all := linesOf("a S: +HI", "b S: +HI", "a C: HELLO", "a S: +OK", "b C: HELLO", "b S: +OK", "b C: INFO", "b S: ${}",
		"b C: PUSH fwp-jid-00001", "b S: +OK", "- -- the operator: restart", "a C: FETCH fwp-queue-01", "c C: BEAT",
		"a S: $fwp-jid-00001", "cleanup C: ACK fwp-jid-00001", "cleanup S: +OK")
	lines := func(e Evidence, o PageOptions) string {
		var texts []string
		for _, entry := range transcript(&e, all, o).Entries {
			words := entry.Line.Conn + entry.Line.Text
			if entry.Mark != "" {
				words += " !" + entry.Mark
			}
			if entry.Omitted > 0 {
				words = fmt.Sprint(entry.Omitted)
			}
			texts = append(texts, words)
		}
		return strings.Join(texts, "|")
	}
	assert.Equal(t, "a+HI|aHELLO|a+OK|bPUSH fwp-jid-00001|b+OK|the operator: restart|aFETCH fwp-queue-01|"+
		"a$fwp-jid-00001 !expected null|8", lines(Evidence{MarkedLine: 14, Expected: "null"}, PageOptions{}))
	assert.Contains(t, lines(Evidence{}, PageOptions{}), "cBEAT|", "without a mark, what leads to the end")
	assert.Equal(t, len(all), 1+strings.Count(lines(Evidence{MarkedLine: 14}, PageOptions{Verbose: true}), "|"))
	all = linesOf("- -- started", "a S: +HI", "a -- closed", "b S: +HI", "b -- closed", "- -- exited")
	assert.Equal(t, "started|b+HI|bclosed|exited|2", lines(Evidence{}, PageOptions{}), "the last connection")
	all = all[:0]
	assert.Empty(t, lines(Evidence{MarkedLine: 3}, PageOptions{}))
}

func TestALongConversationIsNarrowed(t *testing.T) {
	t.Parallel()
	lines := []string{"a S: +HI", "a C: HELLO"}
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("a C: PUSH fwp-jid-%05d %s", i, strings.Repeat("z", i%7)), "a S: +OK")
	}
	lines = append(lines, "a C: FETCH fwp-jid-00007")
	all := linesOf(lines...)
	entries := transcript(&Evidence{MarkedLine: len(all)}, all, PageOptions{}).Entries
	assert.LessOrEqual(t, len(entries), 2*exchangeLimit)
	assert.Contains(t, entries[2].Line.Text, "fwp-jid-00007", "what shares the rarest name")
	assert.Equal(t, "FETCH fwp-jid-00007", entries[len(entries)-2].Line.Text)
	assert.Positive(t, entries[len(entries)-1].Omitted)
}

// A job has times, which are no names: what was done with the job is shown, not only where its times stand.
func TestAJobIsFollowedByItsName(t *testing.T) {
	t.Parallel()
	job := func(i int) string {
		return fmt.Sprintf(`{"jid":"fwp-jid-%05d","created_at":"2026-11-21T12:29:38.4729%02dZ"}`, i, i)
	}
	lines := []string{"a S: +HI", "a C: HELLO"}
	for _, verb := range []string{"PUSH", "FETCH", "ACK"} {
		for i := range 10 {
			command, reply := map[string]string{
				"PUSH": "PUSH " + job(i), "FETCH": "FETCH q", "ACK": fmt.Sprintf(`ACK {"jid":"fwp-jid-%05d"}`, i),
			}[verb], "+OK"
			if verb == "FETCH" {
				reply = "$" + job(i)
			}
			lines = append(lines, "a C: "+command, "a S: "+reply)
		}
	}
	all := linesOf(append(lines, "a C: FETCH q", "a S: $"+job(2))...)
	var verbs []string
	for _, entry := range transcript(&Evidence{MarkedLine: len(all)}, all, PageOptions{}).Entries {
		if strings.Contains(entry.Line.Text, "fwp-jid-00002") {
			verbs = append(verbs, strings.Fields(entry.Line.Text)[0])
		}
	}
	assert.Equal(t, []string{"PUSH", "$" + job(2), "ACK", "$" + job(2)}, verbs)
}

func TestLinesThatAreAlikeAreCounted(t *testing.T) {
	t.Parallel()
	all := linesOf("a C: FETCH fwp-queue-01", "a S: null", "a S: null", "a S: null", "a S: +OK")
	entries := transcript(&Evidence{MarkedLine: 5, Expected: "x"}, all, PageOptions{}).Entries
	assert.Equal(t, 2, entries[2].Repeats)
	assert.Len(t, entries, 4)
}

func TestAbridged(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30)
	const cut = " … (9999 bytes in all, SHA-256 0123456789abcdef) … "
	for s, want := range map[string]string{
		"":                            "",
		"short\nlines":                "short\nlines",
		"a" + strings.Repeat("b", 99): "abbb...bbb",
		long:                          long[:160] + " ... " + long[260:],
		long[:150] + cut + long[:60]:  long[:150] + cut + long[20:60],
	} {
		assert.Equal(t, want, abridge(s))
	}
}

// What is no JSON is cut around the place.
func TestAnObjectIsCutAroundWhatIsWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30)
	for _, before := range []int{0, 90, 100, 110, 120, 150, 250, 300} {
		for _, after := range []int{0, 10, 40, 300} {
			line := `${"jid":"` + long[:before] + `","retry": Infinity,"x":"` + long[:after] + `é"}`
			for _, cut := range []string{abridge(line), knownJobs{}.shortLine(line, nil)} {
				assert.Contains(t, cut, `"retry": Infinity`, "%d %d", before, after)
				assert.LessOrEqual(t, len(cut), longest+20)
			}
		}
	}
}

// A check that is no script has one block for a clause.
func TestOneBlockForAClauseOfAGeneratedCheck(t *testing.T) {
	t.Parallel()
	r := Report{Checks: []Check{{ID: "gen", Verdict: Fail}}}
	for _, actual := range []string{"+OK", "-ERR no", "$-1"} {
		r.Checks[0].Findings = append(r.Checks[0].Findings,
			Finding{Clause: "X-01", Verdict: Fail, Evidence: Evidence{Actual: actual}})
	}
	text := TextOf(r.Page(PageOptions{}).Blocks...)
	assert.Equal(t, 2, strings.Count(text, "X-01"), text) // in the list, and in the details
	assert.Contains(t, text, "also in   2 more of this check (-v)")
	assert.Contains(t, TextOf(r.Page(PageOptions{Verbose: true}).Blocks...), "-ERR no")
}

// A crash is listed with what was seen.
func TestACrashHasWords(t *testing.T) {
	t.Parallel()
	r := Report{Checks: []Check{{ID: "a", Verdict: Crash, Findings: []Finding{{Verdict: Crash, Evidence: Evidence{
		Actual: "the server's process ended (exit status 2) behind \"INFO\"; the last lines that it printed:\n  panic: x",
	}}}}}}
	text := TextOf(r.Page(PageOptions{}).Blocks...)
	assert.Contains(t, text, "crash  the server's process ended (exit status 2)")
	assert.NotContains(t, text, "(no clause)")
}

// What harms users comes first, whatever its verdict.
func TestHarmComesFirst(t *testing.T) {
	t.Parallel()
	r := Report{
		Checks: []Check{{ID: "a", Verdict: Fail, Clauses: []ClauseVerdict{
			{ID: "A-01", Verdict: Fail}, {ID: "A-02", Verdict: Fail}, {ID: "A-03", Verdict: Warn}, {ID: "A-04", Verdict: Warn},
		}}},
		Clauses: []Clause{{ID: "A-02", Harm: "no shutdown"}, {ID: "A-03", Harm: "jobs lost"}},
	}
	var ids []string
	for _, b := range runFindings(groupSymptoms(r.Findings())) {
		ids = append(ids, strings.TrimSpace(b.Harm+" "+b.Clause))
	}
	assert.Equal(t, []string{"jobs lost A-03", "no shutdown A-02", "A-01", "A-04"}, ids)
}

// A job is shown once, then what differs; no field is cut in two.
func TestAJobIsNotRepeated(t *testing.T) {
	t.Parallel()
	rest := `"jobtype":"x","args":[],"queue":"q","created_at":"2026-11-21T12:29:38Z","custom":{"a":"` + strings.Repeat("ab", 60) + `"}`
	jobs := knownJobs{}
	assert.Equal(t, `PUSH {"jid":"1","retry":1,"jobtype":"x","args":[],"queue":"q","created_at":"2026-11-21T12:29:38Z", … 1 more field}`,
		jobs.shortLine(`PUSH {"jid":"1","retry":1,`+rest+`}`, []string{"retry"}))
	assert.Equal(t, `${"jid":"1","retry":2, … 5 more fields as before}`, jobs.shortLine(`${"jid":"1","retry":2,`+rest+`}`, nil))
	assert.Equal(t, `${"jid":"2"}`, jobs.shortLine(`${"jid":"2"}`, nil))
	assert.Equal(t, `${"jid":`, jobs.shortLine(`${"jid":`, nil))
	assert.Equal(t, []string{"retry", "args"}, (&Evidence{
		Differences: []string{".retry: expected 25, got 0"}, Expected: `${"args":[]}`,
	}).fieldNames())
}

// Where this machine is why most has no result, the last line says so, and what to do.
func TestTheLastLineNamesTheMachine(t *testing.T) {
	t.Parallel()
	r := &Report{}
	for i, reason := range []ReasonCode{ReasonLag, ReasonLag, ReasonTime, ReasonSetUp, ReasonConnections} {
		r.Checks = append(r.Checks, Check{ID: fmt.Sprint(i), Verdict: Inconclusive, Reason: reason})
	}
	_, words := r.Outcome(ExitOptions{}).Values()
	assert.Contains(t, words,
		"this machine was late, which may be the reason for what was received (3 of 5); run it on a less")
	r.Checks = r.Checks[2:]
	_, words = r.Outcome(ExitOptions{}).Values()
	assert.NotContains(t, words, "machine")
}

// A conversation that is cut keeps what a client was told before it did something: the BEAT that was answered with
// quiet.
func TestACutConversationKeepsTheTurn(t *testing.T) {
	t.Parallel()
	line := func(conn, from, text string) Line { return Line{Conn: conn, From: from, Text: text} }
	suite := func(text string) Line { return Line{From: FromSuite, Text: text} }
	all := []Line{suite("the URL asks for TLS"), suite("started")}
	for _, conn := range []string{"c1", "c2"} {
		all = append(all, line(conn, FromServer, `+HI {"v":2}`), line(conn, FromClient, `HELLO {"wid":"worker1234"}`),
			line(conn, FromServer, "+OK"))
	}
	all = append(all, line("c2", FromClient, `BEAT {"wid":"worker1234"}`), line("c2", FromServer, `$17 {"state":"quiet"}`))
	for range 30 {
		all = append(all, line("c1", FromClient, "FETCH a"), line("c1", FromServer, "$-1"))
	}
	for name, end := range map[string]Line{"a close": line("c1", FromSuite, "closed by the client"),
		"an end": suite("exited")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conversation := transcript(&Evidence{MarkedLine: len(all) + 1}, append(slices.Clone(all), end), PageOptions{})
			var texts []string
			for _, e := range conversation.Entries {
				texts = append(texts, e.Line.Text)
			}
			assert.Contains(t, texts, `$17 {"state":"quiet"}`)
			assert.Contains(t, texts, end.Text)
			assert.Contains(t, texts, "the URL asks for TLS")
			assert.Less(t, len(texts), 20)
		})
	}
}

func TestExceptionPlace(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"": "",
		"Traceback (most recent call last):\n  File \"/s/main.py\", line 9, in run\n    f()\n" +
			"  File \"/s/job.py\", line 51, in f\nKeyError: 'jid'": "/s/job.py:51",
		"panic: nil map\n\ngoroutine 7 [running]:\n/usr/lib/go/src/runtime/panic.go:77 +0x1\nmain.f()\n\t/s/main.go:33 +0x1d": "/s/main.go:33",
		"TypeError: x is undefined\n    at push (/s/server.mjs:12:7)\n    at node:net:5":                                      "/s/server.mjs:12",
		"server.rb:8:in `push': undefined method (NoMethodError)\n\tfrom server.rb:40:in `<main>'":                            "server.rb:8",
		"10:12:01 queue.go:33: pushed": "", // a line of a log
		"listening\nready":             "",
	} {
		e := Evidence{Printed: strings.Split(printed, "\n")}
		assert.Equal(t, want, e.exceptionPlace(), printed)
	}
}

// TestOneException: what a server does at one place of its source is one block for a terminal, which ends with the place.
func TestOneException(t *testing.T) {
	t.Parallel()
	traceback := func(line int) []string {
		return []string{"Traceback (most recent call last):", fmt.Sprintf(`  File "s.py", line %d, in f`, line), "KeyError: 'jid'"}
	}
	r := &Report{}
	for i, line := range []int{51, 51, 51, 8, 0} {
		f := Finding{Clause: fmt.Sprintf("X-%02d", i), Verdict: Fail, Evidence: Evidence{Actual: fmt.Sprintf("got-%c", 'a'+rune(i))}}
		if line > 0 {
			f.Printed = traceback(line)
		}
		r.Checks = append(r.Checks, Check{ID: fmt.Sprintf("check-%d", i), Verdict: Fail, Findings: []Finding{f}})
	}
	show := func(o PageOptions) string {
		var out bytes.Buffer
		require.NoError(t, r.Page(o).WriteText(&out, TextOptions{}))
		return out.String()
	}
	text := show(PageOptions{ForTerminal: true})
	assert.Equal(t, 3, strings.Count(text, "got-"), text)
	assert.Contains(t, text, "also      fail X-01 in check-1\n            fail X-02 in check-2\n")
	assert.NotContains(t, text, "also in", "it is for the same clauses")
	assert.Contains(t, text, "begin at  s.py:51: the server failed there beside 3 findings\n")
	assert.NotContains(t, text, "s.py:8: the server failed", "one finding is no more than itself")
	for _, o := range []PageOptions{{}, {ForTerminal: true, Verbose: true}} {
		assert.Equal(t, 5, strings.Count(show(o), "got-"), "each has an entry that it is linked to by")
	}
}
