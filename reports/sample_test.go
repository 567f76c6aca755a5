package reports

import (
	"slices"
	"strings"
	"time"
)

// richReport returns a report in which everything that the writers know occurs at least once.
func richReport() *Report {
	return &Report{
		Head: Head{
			Schema: Schema, Version: "fwpcheck 0.1.0", Seed: 18446744073709551557,
			StartTime: time.Date(2026, 3, 9, 14, 5, 6, 789000000, time.UTC), Took: 12345678901 * time.Nanosecond,
		},
		Target: Target{URL: "tcp://127.0.0.1:7419", Chosen: "from --url", HI: `HI {"v":2}`, Subject: Subject{
			Name: "acme server", Version: "1.9.3", Reports: "faktory 1.9.3",
		}},

		Scripts: map[string]string{"push/rejected.fwp": strings.Repeat("# a line\n", 13) + "S: $-1\n"},
		Checks: []Check{
			passingCheck(), rejectedCheck(), paddedCheck(), dyingCheck(), slowCheck(), endReply(), noPassword(), noRestart(),
			{ID: "beat/regular", Title: "a consumer beats", Verdict: NotApplicable, Cause: "binds workers"},
			{ID: "flush/all", Title: "FLUSH clears everything", Verdict: NotSelected},
			{ID: "info/bulk", Title: "INFO is a bulk string", Verdict: NotRun},
		},
		Clauses: richClauses(),
	}
}

func richClauses() []Clause {
	return []Clause{
		{ID: "FWP-HI-01", Level: LevelPlain, Section: "Not Identified State", Verdict: Pass,
			Statement: "The server speaks first.", Checks: []string{"hi/first"}},
		{ID: "FWP-PUSH-03", Level: LevelPlain, Section: "PUSH Command", Verdict: Fail,
			Statement: "A PUSH that is answered with an error enqueues nothing, whatever was wrong with the work unit and " +
				"whatever the connection did before it.", Checks: []string{"push/rejected"}},
		{ID: "FWP-FRAME-03", Level: LevelShould, Section: "Server Protocol Sender and Client Protocol Receiver",
			Verdict: Warn, Statement: "A command with a syntax error is refused.", Checks: []string{"frame/space"}},
		{ID: "FWP-RESP-02", Level: LevelMust, Section: "Server Protocol Sender and Client Protocol Receiver", Verdict: Crash,
			Statement: "A command that fails is answered with a RESP error.", Checks: []string{"resp/long-line"}},
		{ID: "FWP-FETCH-05", Level: LevelPlain, Section: "FETCH Command", Verdict: Inconclusive,
			Checks: []string{"fetch/block"}},
		{ID: "FWP-END-01", Level: LevelPlain, Section: "END Command", Verdict: Observed, Checks: []string{"end/reply"}},
		{ID: "FWP-AUTH-02", Level: LevelPlain, Verdict: Skipped, Checks: []string{"auth/refused"}},
		{ID: "FWP-AUTH-04", Level: LevelPlain, Verdict: Skipped, Checks: []string{"auth/refused"}},
		{ID: "FWP-STATE-08", Level: LevelShould, Verdict: Skipped, Checks: []string{"restart/kept"}},
		{ID: "FWP-INFO-01", Level: LevelPlain, Verdict: NotRun, Checks: []string{"info/bulk"}},
		{ID: "FWP-FLUSH-02", Level: LevelPlain, Verdict: NotSelected, Checks: []string{"flush/all"}},
		{ID: "FWP-BEAT-06", Level: LevelMust, Verdict: NotApplicable, Checks: []string{"beat/regular"}},
		{ID: "FWP-BEAT-14", Level: LevelNote, Verdict: NotRun, Statement: "Nothing decides this one."},
	}
}

func passingCheck() Check {
	return Check{
		ID: "hi/first", Title: "the server speaks first", File: "hi/first.fwp", Verdict: Pass, Took: 1500 * time.Microsecond,
		Attempts: 1, Clauses: []ClauseVerdict{{ID: "FWP-HI-01", Level: LevelPlain, Verdict: Pass}},
	}
}

// rejectedCheck fails, and another clause that it decides is broken without evidence of its own.
func rejectedCheck() Check {
	return Check{
		ID: "push/rejected", Title: "a refused job is not enqueued", File: "push/rejected.fwp", Verdict: Fail,
		Took: 44 * time.Millisecond, Attempts: 1,
		Clauses: []ClauseVerdict{{ID: "FWP-PUSH-03", Level: LevelPlain, Verdict: Fail}},
		Findings: []Finding{{
			Clause: "FWP-PUSH-03", Level: LevelPlain, Verdict: Fail, Evidence: Evidence{
				File: "push/rejected.fwp", Line: 14, Col: 4, Width: 3, Source: "S: $-1", Expected: "a null bulk string",
				Actual: "a bulk string of 61 bytes:\n" +
					`{"jid":"0123456789abcdef","jobtype":"<b>&'\u001b","args":[9007199254740993]}`,
				Differences:   []string{`.args[0]: expected 1, got 9007199254740993`, `.queue: expected "default", got nothing`},
				ConnectionEnd: "the server reset the connection",
				Reproduce:     "fwpcheck run --check push/rejected --seed 7 --url tcp://127.0.0.1:7419",
				MarkedLine:    4,
			}}},
		Conversation: []Line{
			{At: 0, Conn: "producer", From: FromSuite, Text: "connected to 127.0.0.1:7419"},
			{At: 312 * time.Microsecond, Conn: "producer", From: FromServer, Text: `+HI {"v":2}`},
			{At: 1 * time.Millisecond, Conn: "producer", From: FromClient,
				Text: `PUSH {"jid":"0123456789abcdef"} \xc3\x28 … 1048500 bytes more`},
			{At: 2500 * time.Millisecond, Conn: "c", From: FromServer, Text: "$61"},
			{At: 61 * time.Second, From: FromSuite, Text: "the check ended", IsInternal: true},
		},
	}
}

func paddedCheck() Check {
	return Check{
		ID: "frame/space", Title: "a trailing space is refused", File: "frame/space.fwp", Verdict: Warn, Attempts: 1,
		Clauses: []ClauseVerdict{{ID: "FWP-FRAME-03", Level: LevelShould, Verdict: Warn, Cause: "the line was accepted"}},
		Findings: []Finding{{
			Clause: "FWP-FRAME-03", Level: LevelShould, Verdict: Warn, Evidence: Evidence{
				Line: 9, Col: 99, Width: 1, Source: "C(bad): INFO \t\x1b[2J", Expected: "an error", Actual: "+OK",
			},
		}},
	}
}

// dyingCheck has no finding of its own: its cause is all the evidence that there is.
func dyingCheck() Check {
	return Check{
		ID: "resp/long-line", Title: "a long line", Verdict: Crash, Attempts: 1,
		Clauses: []ClauseVerdict{{ID: "FWP-RESP-02", Level: LevelMust, Verdict: Crash,
			Cause: "no new connection was accepted within 5 s"}},
		Conversation: []Line{{At: time.Second, Conn: "c", From: FromClient, Text: "INFO"}},
	}
}

func slowCheck() Check {
	cause := "the reply came 40 ms too late, and the suite itself was measured to lag by up to 60 ms, which explains it " +
		"as well as a slow server does"
	return Check{
		ID: "fetch/block", Title: "FETCH waits two seconds", File: "fetch/block.fwp", Verdict: Inconclusive,
		Took:     2 * time.Second,
		Attempts: 3, Clauses: []ClauseVerdict{
			{ID: "FWP-FETCH-05", Level: LevelPlain, Verdict: Inconclusive, Cause: cause,
				Provide: "run on a machine that is less busy"},
			{ID: "FWP-FETCH-06", Level: LevelPlain, Verdict: Inconclusive, Cause: cause,
				Provide: "run on a machine that is less busy"},
		},
		Conversation: []Line{{At: 2040 * time.Millisecond, Conn: "c", From: FromServer, Text: "$-1"}},
	}
}

func endReply() Check {
	return Check{
		ID: "end/reply", Title: "END ends", Verdict: Observed, Attempts: 1,
		Clauses: []ClauseVerdict{
			{ID: "FWP-END-01", Level: LevelPlain, Verdict: Observed, Cause: "END was answered with +OK before the close"},
			{ID: "FWP-RETRY-06", Level: LevelDerived, Verdict: Observed, Cause: "retry -2 was refused"},
		},
	}
}

func noPassword() Check {
	give := "start the server with a password and put it into the URL, or leave out --url"
	return Check{
		ID: "auth/refused", Verdict: Skipped, Clauses: []ClauseVerdict{
			{ID: "FWP-AUTH-02", Level: LevelPlain, Verdict: Skipped, Cause: "the server asks for no password", Provide: give},
			{ID: "FWP-AUTH-04", Level: LevelPlain, Verdict: Skipped, Cause: "the server asks for no password", Provide: give},
		},
	}
}

func noRestart() Check {
	return Check{ID: "restart/kept", Verdict: Skipped, Clauses: []ClauseVerdict{
		{ID: "FWP-STATE-08", Level: LevelShould, Verdict: Skipped, Cause: "the server cannot be restarted from here"},
	}}
}

// expectedReport returns a report of a run that was held against a file of known findings.
func expectedReport() *Report {
	r := richReport()
	knownCheck, replayCheck, haltedCheck := rejectedCheck(), paddedCheck(), slowCheck()
	knownCheck.Findings[0].KnownLine = 7
	replayCheck.Replays = CountVerdicts(Pass)
	haltedCheck.Clauses[0].KnownLine, haltedCheck.Clauses[1].KnownLine = 9, 9
	r.Checks = []Check{passingCheck(), knownCheck, replayCheck, haltedCheck}
	r.Expectations = &Expectations{
		File: "fwpcheck.expect", Server: "faktory 1.9.4",
		StaleLines: []Expectation{{11, "hello/* FWP-HELLO-04 fails", "nothing was found"}},
		Notes: []Expectation{{12, "beat/quiet FWP-BEAT-02 flaky rate<=0.2 of=20",
			"no finding in 20 plays; is it still flaky?"}},
	}
	r.Clauses = slices.DeleteFunc(richClauses(), func(c Clause) bool { return c.Verdict == Crash || c.Verdict == NotRun })
	return r
}

// wellReport returns a report of a run in which everything held.
func wellReport() *Report {
	return &Report{
		Target: Target{Chosen: "the embedded server", HI: `HI {"v":2}`},
		Head:   Head{Took: 250 * time.Millisecond, Seed: 7},

		Checks:  []Check{passingCheck()},
		Clauses: richClauses()[:1],
	}
}
