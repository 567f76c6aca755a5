package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// A server may end some time after the command that ends it, when the next check has it: the check that sent the
// command is the crash. Where the command needs luck, both are named.
func TestAServerThatEndsLaterIsNoCrashOfTheNextCheck(t *testing.T) {
	t.Parallel()
	const later, deadlyEnd = 300 * time.Millisecond, "connect as consumer\nclause FWP-FAIL-02\nC bad: FAIL\nS: -\n"
	sources := copies(3, "next", "connect as consumer\nsilence 1s\nclause FWP-ACK-03\nC bad: ACK\nS: -\n")
	sources["deadly"] = deadlyEnd
	all := scripts(t, sources)
	for always, want := range map[bool]map[string]string{
		true:  {"deadly": "crash", "next00": "pass", "next01": "pass", "next02": "pass"},
		false: {"deadly": "pass", "next00": "pass", "next01": "pass", "next02": "pass", run.CrashCheck: "crash"},
	} {
		synctest.Test(t, func(t *testing.T) {
			deaths := 0
			m := &mortals{deadly: func(target *mortalTarget, e *fakes.Event) bool {
				if bareFail(e) && (always || deaths == 0) {
					deaths++
					time.AfterFunc(later, func() { target.dead.Store(true) })
				}
				return false
			}}
			server, end, _ := m.start()
			defer end()
			r := runnerOn(server, all)
			r.Parallel = 1
			report := r.Run(t.Context())
			assert.Equal(t, want, verdictsOf(report))
			for _, c := range report.Checks {
				if c.ID == run.CrashCheck {
					assert.Contains(t, c.Findings[0].Actual, "while these checks ran:\n  deadly\n  next0")
				}
			}
			assert.Equal(t, reports.ExitFindings, report.ExitCode(reports.ExitOptions{}))
		})
	}
}
