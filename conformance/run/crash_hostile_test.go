package run_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// mortals starts servers that end at deadly commands, and counts them.
type mortals struct {
	mu      sync.Mutex
	started []*mortalTarget
	ended   int
}

func (m *mortals) start() (run.Server, func(), error) {
	time.Sleep(time.Second) // several checks wait for the server, in virtual time
	m.mu.Lock()
	defer m.mu.Unlock()
	target := &mortalTarget{memoryTarget: *newTarget()}
	m.started = append(m.started, target)
	s := fakes.NewServer(fakes.Config{Hook: target.hook(bareFail), Listen: target.Listen})
	server := run.Server{
		Target: target, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedRestart}, Ended: target.ended,
		Fresh: m.start,
	}
	return server, func() {
		s.Close()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.ended++
	}, nil
}

// Where servers can be started, hostile checks have one of their own, which ends as often as they end it: what waits
// meanwhile on the other one is played once, and the end of a known process is not waited for.
func TestHostileChecksEndNoServerOfOthers(t *testing.T) {
	t.Parallel()
	const deaths = 20
	sources := copies(deaths, "deadly", deadlyScript)
	sources["hostile"] = hostileTwin
	maps.Copy(sources, copies(5, "sleeps", sleeping))
	all := scripts(t, sources)
	synctest.Test(t, func(t *testing.T) {
		m := new(mortals)
		server, end, _ := m.start()
		defer end()
		report := runnerOn(server, all).Run(t.Context())
		want := map[string]string{"hostile": "pass"}
		for i := range 5 {
			want[fmt.Sprintf("sleeps%02d", i)] = "pass"
		}
		for i := range deaths {
			want[fmt.Sprintf("deadly%02d", i)] = "crash"
		}
		assert.Equal(t, want, verdictsOf(report))
		for _, c := range report.Checks {
			if c.Verdict == reports.Pass && c.ID != "hostile" {
				assert.Equal(t, 1, c.Attempts, c.ID)
			}
		}
		assert.Len(t, m.started, 2)
		assert.Equal(t, 1, m.ended, "the one for hostile checks")
		assert.Zero(t, m.started[0].restarts.Load(), "of the one for others")
		assert.Less(t, report.Took, (deaths+10)*2*time.Second)
	})
}
