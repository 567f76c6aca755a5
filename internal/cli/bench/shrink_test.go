package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/disrupt"
)

// The fewest disruptions that lose a job are found, and how often they do is said.
func TestShrinkASchedule(t *testing.T) {
	t.Parallel()
	var all []disrupt.Disruption
	for i, action := range []disrupt.Action{
		disrupt.Pause, disrupt.Kill, disrupt.Partition, disrupt.Restart, disrupt.Slow, disrupt.KillServer, disrupt.Reset,
	} {
		all = append(all, disrupt.Disruption{Action: action, At: time.Duration(i) * 10 * time.Second, For: time.Second})
	}
	has := func(part []disrupt.Disruption, a disrupt.Action) bool {
		return slices.ContainsFunc(part, func(d disrupt.Disruption) bool { return d.Action == a })
	}
	for name, test := range map[string]struct {
		limit time.Duration
		loses func(run int, part []disrupt.Disruption) bool
		err   error
		want  string
	}{
		"two": {time.Hour, func(_ int, part []disrupt.Disruption) bool {
			return has(part, disrupt.Partition) && has(part, disrupt.KillServer)
		}, nil, "# of 7 disruptions these 2 lose a job: again in 5 of 5 runs"},
		"seldom": {time.Hour, func(run int, part []disrupt.Disruption) bool {
			return run%2 == 0 && len(part) == len(all)
		}, nil, "these 7 lose a job: again in "},
		"no time": {3 * time.Minute, func(int, []disrupt.Disruption) bool { return true }, nil, "of 0 runs"},
		"none":    {time.Hour, func(int, []disrupt.Disruption) bool { return false }, nil, ""},
		"failed":  {time.Hour, nil, errors.New("no server"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &shrinking{log: func(string, ...any) {}}
				s.lost = func(_ context.Context, part []disrupt.Disruption) (int64, error) {
					time.Sleep(time.Minute) // of the bubble
					if test.err == nil && test.loses(s.runs, part) {
						return 3, nil
					}
					return 0, test.err
				}
				found, err := s.search(t.Context(), all, test.limit)
				require.Equal(t, test.err, err)
				assert.Contains(t, found, test.want)
				if name == "two" {
					assert.Contains(t, found, "\n- {at: 20s, do: partition, for: 1s}\n- {at: 50s, do: kill-server, for: 1s}\n")
				}
				assert.Equal(t, test.want == "", found == "")
			})
		})
	}
}

// A schedule that is written is read as the same.
func TestDisruptionsAreWritten(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"{at: 20s, do: kill, for: 2s}", "{at: 1m0s, do: reset}", "{at: 40s, do: partition, for: 5s, direction: to-clients}",
		"{at: 1m0s, do: slow, for: 10s, delay: 50ms, jitter: 20ms, rate: 65536, segment: 100}",
	} {
		all, err := disrupt.Parse("x", []byte("- "+line+"\n"))
		require.NoError(t, err)
		assert.Equal(t, line, all[0].YAML())
	}
}
