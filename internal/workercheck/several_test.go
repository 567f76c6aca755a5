package workercheck

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/reports"
)

// several is a launcher of programs that have two workers each, with a worker id of its own.
type several struct{ *InProcess }

func (l several) Launch(e Environment) (Process, error) {
	e.Concurrency = max(1, e.Concurrency/2)
	first, err := l.InProcess.Launch(e)
	if err != nil {
		return nil, err
	}
	second, err := l.InProcess.Launch(e)
	if err != nil {
		first.Kill()
		return nil, err
	}
	p := &both{first, second, make(chan struct{})}
	go func() {
		<-first.Over()
		<-second.Over()
		close(p.over)
	}()
	return p, nil
}

// both is such a program.
type both struct {
	Process
	second Process
	over   chan struct{}
}

func (p *both) Over() <-chan struct{} { return p.over }
func (p *both) Kill()                 { p.Process.Kill(); p.second.Kill(); <-p.over }
func (p *both) Signal(name string)    { p.Process.Signal(name); p.second.Signal(name) }

// TestSeveralWorkersInAProcess: what one worker of a process was told binds this one, and no other.
func TestSeveralWorkersInAProcess(t *testing.T) {
	t.Parallel()
	h := inMemory(nil, false)
	h.Launcher = several{h.Launcher.(*InProcess)}
	report := played(t, h, []string{"C", "K"}, []string{"quiet/*", "terminate/*", "beat/eventful", "fetch/*", "signal/*"})
	decided := 0
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			assert.False(t, cv.Verdict.Breach(), "%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why)
			if cv.Verdict == reports.Pass {
				decided++
			}
		}
	}
	assert.Greater(t, decided, 20)
}
