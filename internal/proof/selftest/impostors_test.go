package selftest

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// impostor is a server that gives the same answer whatever it is asked.
type impostor struct {
	greeting string // a line, or nothing
	welcome  string // the answer to HELLO, if it has one of its own
	answer   string // to everything else: a line, "close", or nothing
}

func (i impostor) serve(nc net.Conn) {
	defer nc.Close()
	if i.greeting != "" {
		write(nc, i.greeting)
	} else if i.answer == "close" {
		return
	}
	for in := bufio.NewScanner(nc); in.Scan(); {
		answer := i.answer
		if strings.HasPrefix(in.Text(), "HELLO") && i.welcome != "" {
			answer = i.welcome
		}
		if answer == "close" {
			return
		}
		write(nc, answer)
	}
}

func write(nc net.Conn, line string) {
	if line != "" {
		_, _ = nc.Write([]byte(line + "\r\n")) // the read that follows will fail too
	}
}

// TestImpostors plays the suite on servers that are none: whatever they always say,
// they pass nothing but what they do, and do not die of anything. Without FWP_SLOW=1 each
// has an eighteenth of the scripts.
func TestImpostors(t *testing.T) {
	t.Parallel()
	const (
		open      = `+HI {"v":2}`
		protected = `+HI {"v":2,"i":3,"s":"0f3c5d7a9b1e2468"}`
		hi        = "FWP-HI-01 FWP-HI-02 FWP-HI-03"
		welcome   = hi + " FWP-HI-04" // taken back only if the HELLO fails that goes with it
		secret    = welcome + " FWP-HI-05"
	)
	tests := map[string]struct {
		impostor
		clauses string
	}{
		"closes":                      {impostor{answer: "close"}, ""},
		"silent":                      {impostor{}, ""},
		"OK":                          {impostor{answer: "+OK"}, ""},
		"ERR":                         {impostor{answer: "-ERR no"}, ""},
		"HI, closes":                  {impostor{greeting: open, answer: "close"}, hi},
		"HI, silent":                  {impostor{greeting: open}, hi},
		"HI, OK":                      {impostor{greeting: open, answer: "+OK"}, welcome},
		"HI, ERR":                     {impostor{greeting: open, answer: "-ERR no"}, hi},
		"HI, HELLO, closes":           {impostor{open, "+OK", "close"}, welcome},
		"HI, HELLO, silent":           {impostor{open, "+OK", ""}, welcome},
		"HI, HELLO, ERR":              {impostor{open, "+OK", "-ERR no"}, welcome},
		"protected HI, closes":        {impostor{greeting: protected, answer: "close"}, hi},
		"protected HI, silent":        {impostor{greeting: protected}, hi},
		"protected HI, OK":            {impostor{greeting: protected, answer: "+OK"}, secret},
		"protected HI, ERR":           {impostor{greeting: protected, answer: "-ERR no"}, hi},
		"protected HI, HELLO, closes": {impostor{protected, "+OK", "close"}, secret},
		"protected HI, HELLO, silent": {impostor{protected, "+OK", ""}, secret},
		"protected HI, HELLO, ERR":    {impostor{protected, "+OK", "-ERR no"}, secret},
	}
	scripts := suite(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scripts := scripts
			if !golden.IsSlow() {
				scripts = sample(18, name, scripts)
			}
			for _, script := range scripts {
				check := test.run(t, script)
				assert.NotEqual(t, reports.Crash, check.Verdict, "%s: it is as it was", script.Describe().ID)
				for _, clause := range check.Clauses {
					if clause.Verdict == reports.Pass && clause.Level.BreachVerdict() == reports.Fail {
						assert.Contains(t, strings.Fields(test.clauses), clause.ID, script.Describe().ID)
					}
				}
			}
		})
	}
}

// run plays one script, in virtual time.
func (i impostor) run(t *testing.T, script conformance.Check) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		begin, place := time.Now(), memnet.NewPlace()
		var group store.Group
		go group.Serve(place.MustListen(), i.serve)
		defer group.Close()
		runner := &run.Runner{
			Suite:  fwpsuite.Protocol(),
			Checks: []conformance.Check{script}, Servers: []run.Server{i.offer(place)}, Virtual: true,
		}
		report := runner.Run(t.Context())
		assert.Empty(t, report.Internal)
		check = mergeRuns(report, script.Describe().ID)
		assert.Less(t, time.Since(begin), time.Hour, "%s did not come to its end", script.Describe().ID)
	})
	return check
}

// offer offers everything, although no operator can do it.
func (i impostor) offer(place memnet.Place) run.Server {
	offers := []scenarios.Need{scenarios.NeedAlone, scenarios.NeedFlush, scenarios.NeedSignals}
	if strings.Contains(i.greeting, `"s"`) {
		offers := append(offers, scenarios.NeedPassword)
		return run.Server{Target: dialer{place}, Password: "correct horse", Offers: offers}
	}
	return run.Server{Target: dialer{place}, Offers: append(offers, scenarios.NeedOpen)}
}

type dialer struct{ memnet.Place }

func (dialer) Signal(context.Context, string, string) error { return nil }
