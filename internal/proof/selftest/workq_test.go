package selftest

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	workqsuite "github.com/fwpsuite/fwp/protocols/workq/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// workqChecks are the checks of Workq; without FWP_SLOW=1 some of them, for each name others.
func workqChecks(t *testing.T, name string) []conformance.Check {
	t.Helper()
	scripts, err := workqsuite.Protocol().Scripts()
	require.NoError(t, err)
	all := conformance.Scripts(scripts...)
	if golden.IsSlow() {
		return all
	}
	return slices.DeleteFunc(sample(8, name, all), func(c conformance.Check) bool {
		return strings.Contains(c.Describe().ID, "large") // megabytes
	})
}

// TestNoWorkqServers plays the suite of Workq on what is no Workq server: it ends, and passes nothing. Without
// FWP_SLOW=1 each has an eighth of the checks.
func TestNoWorkqServers(t *testing.T) {
	t.Parallel()
	impostorOf := func(answer string) func(net.Conn) { return impostor{answer: answer}.serve }
	byVerb := func(answers map[string]string) func(net.Conn) {
		return func(nc net.Conn) {
			defer nc.Close()
			for in := bufio.NewScanner(nc); in.Scan(); {
				verb, _, _ := strings.Cut(in.Text(), " ")
				write(nc, answers[verb])
			}
		}
	}
	tests := map[string]func(net.Conn){
		"closes":            impostorOf("close"),
		"silent":            impostorOf(""),
		"OK":                impostorOf("+OK"),
		"OK without a sign": impostorOf("OK"),
		"OK 0":              impostorOf("+OK 0"),
		"OK 1":              impostorOf("+OK 1"),
		"client error":      impostorOf("-CLIENT-ERROR no"),
		"server error":      impostorOf("-SERVER-ERROR no"),
		"not found":         impostorOf("-NOT-FOUND"),
		"timeout":           impostorOf("-TIMEOUT"),
		"echo": func(nc net.Conn) {
			defer nc.Close()
			_, _ = io.Copy(nc, nc)
		},
		"a greeting":       impostor{greeting: `+HI {"v":2}`, answer: "-ERR unknown command"}.serve,
		"HTTP":             impostorOf("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"),
		"another protocol": impostorOf("UNKNOWN_COMMAND"),
		"random":           noise("", ""),
		"never a job": byVerb(map[string]string{
			"add": "+OK", "schedule": "+OK", "lease": "-TIMEOUT", "run": "-TIMEOUT", "result": "-TIMEOUT",
			"complete": "-NOT-FOUND", "fail": "-NOT-FOUND", "delete": "+OK", "inspect": "-NOT-FOUND",
		}),
	}
	for name, serve := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := againstWorkq(t, serve, workqChecks(t, name))
			for _, check := range report.Checks {
				checkPasses(t, check, "")
				assert.NotEqual(t, reports.Crash, check.Verdict, check.ID)
			}
			checkBroken(t, report, "", "")
		})
	}
}

// againstWorkq plays checks on what serves connections like this.
func againstWorkq(t *testing.T, serve func(net.Conn), checks []conformance.Check) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		begin, place := time.Now(), memnet.NewPlace()
		var group store.Group
		go group.Serve(place.MustListen(), serve)
		report = (&run.Runner{
			Suite: workqsuite.Protocol(), Checks: checks, Virtual: true,
			Servers: []run.Server{{
				Target: dialer{place}, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone},
			}},
		}).Run(t.Context())
		group.Close()
		assert.Empty(t, report.Internal)
		assert.Less(t, time.Since(begin), time.Hour, "the suite hung")
	})
	return report
}
