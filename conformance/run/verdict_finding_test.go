package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// TestEndOf: two ends of a process are one if they have the reason and the place in common, whatever else was printed.
func TestEndOf(t *testing.T) {
	t.Parallel()
	const (
		went   = "the process of the server ended: exit status 2; its last output:\n"
		python = "  Traceback (most recent call last):\n"
	)
	for name, test := range map[string]struct{ ending, want string }{
		"nothing":  {"", ""},
		"a signal": {"the process of the server ended: signal: killed; it printed nothing", ""},
		"a panic": {
			went + "  panic: runtime error: index out of range [5] with length 3\n  goroutine 7 [running]:\n" +
				"  panic({0x7a, 0x1})\n      /usr/lib/go/src/runtime/panic.go:792 +0x132\n" +
				"  main.(*Server).serve(0xc00010c000, {0x1, 0x2})\n      /src/server.go:17 +0x1d\n  main.main()\n",
			"panic: runtime error: index out of range [N] with length N at main.(*Server).serve",
		},
		"a fatal error": {
			went + "  fatal error: concurrent map writes\n  goroutine 19 [running]:\n" +
				"  internal/runtime/maps.fatal({0x1, 0x15})\n" +
				"  example.com/q.(*Queue).Push(0xc0, {0x0})\n",
			"fatal error: concurrent map writes at example.com/q.(*Queue).Push",
		},
		"a panic without a place": {went + "  panic: no 7", "panic: no N"},
		"a panic of Rust": {
			went + "  thread 'tokio-1' (12) panicked at src/main.rs:10:5:\n  index out of bounds\n  note: run with `X`",
			"panic at src/main.rs:10:5",
		},
		"an exception of Ruby": {
			went + "  /app/server.rb:3:in 'Server#ack': undefined method 'x' for nil (NoMethodError)\n" +
				"  \tfrom /app/server.rb:9:in '<main>'",
			"NoMethodError at /app/server.rb:3:in 'Server#ack'",
		},
		"an exception of JavaScript": {
			went + "  /app/server.js:10\n      throw new Error('x')\n      ^\n\n  Error: x\n" +
				"      at ack (/app/server.js:10:11)\n      at Socket.emit (node:events:5:2)\n\n  Node.js v22.1.0",
			"Error at ack (/app/server.js:10:11)",
		},
		"an exception that was caught before": {
			went + "  TypeError: a\n      at log (/app/a.js:1:2)\n  Error: b\n      at ack (/app/b.js:3:4)\n",
			"Error at ack (/app/b.js:3:4)",
		},
		"an exception of Java": {
			went + "  Exception in thread \"main\" java.lang.IllegalStateException: no\n" +
				"  \tat org.q.Server.ack(Server.java:17)\n",
			"java.lang.IllegalStateException at org.q.Server.ack(Server.java:17)",
		},
		"an exception of .NET": {
			went + "  Unhandled exception. System.IO.IOException: no\n     at Q.Ack(Job job) in /app/Q.cs:line 5\n",
			"System.IO.IOException at Q.Ack(Job job) in /app/Q.cs:line 5",
		},
		"an exception without a place": {went + "  listening\n  ConnectionError: no", ""},
		"an exception": {
			went + python + "    File \"/src/router.py\", line 10, in <module>\n      r.start()\n" +
				"    File \"/src/classes.py\", line 367, in recv\n      [m.decode() for m in msg]\n" +
				"  UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte",
			"UnicodeDecodeError at /src/classes.py\", line 367, in recv",
		},
		"the last of two exceptions": {
			went + python + "    File \"/src/a.py\", line 1, in a\n  KeyError: 'x'\n" +
				python + "    File \"/src/b.py\", line 2, in b\n  ValueError: no",
			"ValueError at /src/b.py\", line 2, in b",
		},
		"words alone": {went + "  listening\n  an Error: of nothing", ""},
	} {
		assert.Equal(t, test.want, deathReason(test.ending), name)
	}
}

// TestTheLawBesideAMessage: bytes behind a reply that is wrong for certain are no finding, and a line about a message
// rests on what the law says that the message rests on.
func TestTheLawBesideAMessage(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for conn, isSame := range map[string]bool{"a": true, "b": false} {
		occurrence := law.Occurrence{Conn: "a", At: began.Add(time.Second)}
		occurrence.Clause, occurrence.Premises = "FWP-ACK-01", []string{"FWP-ACK-02"}
		v := &resultBuilder{
			state:    newRunState(&Runner{Suite: fwpsuite.Protocol()}),
			evidence: &conformance.Evidence{Began: began, Law: []law.Occurrence{occurrence}},
		}
		v.addBreach(scenarios.Breach{Kind: scenarios.ExtraReply, Conn: conn, At: time.Second})
		assert.Equal(t, isSame, len(v.check.Findings) == 0, "bytes on %s", conn)
		v.check.Findings = nil
		v.addFinding(reports.Fail, scenarios.ClauseMark{Clause: "FWP-WU-03"}, play.Result{Conn: conn, At: time.Second})
		assert.Equal(t, isSame, len(v.check.Findings[0].Premises) > 0, "a line on %s", conn)
	}
	s := newRunState(&Runner{Suite: fwpsuite.Protocol()})
	occurrence := law.Occurrence{
		Violation: law.Violation{Rule: "reply", Clause: "FWP-ACK-01", Premises: []string{"FWP-ACK-02"}}, At: began,
	}
	s.law.take(conformance.Description{ID: "a"}, &conformance.Evidence{Began: began, Law: []law.Occurrence{occurrence}}, 0)
	assert.Equal(t, []string{"FWP-ACK-02"}, s.lawChecks(nil)[0].Findings[0].Premises)
}
