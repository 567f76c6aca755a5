package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

func TestDisconnectsFollowTheirShare(t *testing.T) {
	t.Parallel()
	const turns = 100_000
	w := plan.Workload{Disconnects: 0.05}
	j := w.Jobs("r", 1)
	assert.True(t, j.Disconnects())
	var n, atOnce float64
	endings := map[plan.Ending]float64{}
	for turn := range int64(turns) {
		d, isEnding := j.Disconnect(int(turn%7), turn, plan.AtPush)
		repeat, isSame := j.Disconnect(int(turn%7), turn, plan.AtPush)
		if d != repeat || isEnding != isSame {
			require.Fail(t, "not the same twice", "turn %d: %v, %v", turn, d, repeat)
		}
		if !isEnding {
			continue
		}
		n++
		endings[d.Ending]++
		assert.LessOrEqual(t, d.After, 20*time.Millisecond)
		if d.After == 0 {
			atOnce++
		}
	}
	assert.InDelta(t, 0.05, n/turns, 0.005)
	assert.InDelta(t, 0.5, atOnce/n, 0.05)
	for _, e := range []plan.Ending{plan.Close, plan.Reset, plan.HalfClose} {
		assert.InDelta(t, 1./3, endings[e]/n, 0.05, e)
	}
	assert.False(t, new(plan.Workload).Jobs("r", 1).Disconnects())
}

func TestDisconnectsStayInTheirPhases(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		at   []plan.Phase
		want string
	}{
		"default":     {want: "greeting hello idle push ack beat info"},
		"as they say": {at: []plan.Phase{plan.AtFetch, plan.AtFail}, want: "fetch fail"},
	}
	for name, test := range cases {
		w := plan.Workload{Disconnects: 0.5, DisconnectAt: test.at}
		j := w.Jobs("r", 1)
		var got []string
		for at := plan.AtGreeting; at <= plan.AtInfo; at++ {
			for turn := range int64(100) {
				if _, isEnding := j.Disconnect(0, turn, at); isEnding {
					got = append(got, at.String())
					break
				}
			}
		}
		assert.Equal(t, test.want, strings.Join(got, " "), name)
	}
}
