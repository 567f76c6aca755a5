package workercheck

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/monitor"
)

func TestWhatIsWrongByItselfNeedsNoOtherPlay(t *testing.T) {
	t.Parallel()
	cases := []struct {
		breach  string
		certain bool
	}{
		{monitor.LineEnd, true},
		{monitor.LineForm, true},
		{monitor.LineSyntax, true},
		{monitor.LineUTF8, true},
		{monitor.HelloNotFirst, true},
		{monitor.HelloVersion, true},
		{monitor.WorkerFields, true},
		{monitor.PasswordMissing, true},
		{monitor.EndWithJobs, true},
		{monitor.BeatInterval, false},
		{monitor.BeatMissing, false},
		{monitor.FetchAfterQuiet, false},
	}
	for _, c := range cases {
		t.Run(c.breach, func(t *testing.T) {
			t.Parallel()
			b := &bed{harness: &Harness{}, situation: &Situation{}}
			found, sure := b.monitored([]monitor.Result{
				{Rule: monitor.Rule{Breach: c.breach}, Breaches: 1, Examples: []monitor.Breach{{}}},
			})
			if assert.Len(t, found, 1) && c.certain {
				assert.Empty(t, b.doubtful(found, sure))
			} else {
				assert.Equal(t, []string{conformance.ClauseOf(c.breach)}, b.doubtful(found, sure))
			}
		})
	}
}
