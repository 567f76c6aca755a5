package workload_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/workload"
)

func TestDisconnectsFollowTheirShare(t *testing.T) {
	t.Parallel()
	const turns = 100_000
	w := workload.Workload{Disconnects: 0.05}
	j := w.Jobs("r", 1)
	assert.True(t, j.Disconnects())
	var n, atOnce float64
	endings := map[workload.Ending]float64{}
	for turn := range int64(turns) {
		d, ends := j.Disconnect(int(turn%7), turn, workload.AtPush)
		again, same := j.Disconnect(int(turn%7), turn, workload.AtPush)
		if d != again || ends != same {
			require.Fail(t, "not the same twice", "turn %d: %v, %v", turn, d, again)
		}
		if !ends {
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
	for _, e := range []workload.Ending{workload.Close, workload.Reset, workload.HalfClose} {
		assert.InDelta(t, 1./3, endings[e]/n, 0.05, e)
	}
	assert.False(t, new(workload.Workload).Jobs("r", 1).Disconnects())
}

func TestDisconnectsStayInTheirPhases(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		at   []workload.Phase
		want string
	}{
		"default":     {want: "greeting hello idle push ack beat info"},
		"as they say": {at: []workload.Phase{workload.AtFetch, workload.AtFail}, want: "fetch fail"},
	}
	for name, test := range cases {
		w := workload.Workload{Disconnects: 0.5, DisconnectAt: test.at}
		j := w.Jobs("r", 1)
		var got []string
		for at := workload.AtGreeting; at <= workload.AtInfo; at++ {
			for turn := range int64(100) {
				if _, ends := j.Disconnect(0, turn, at); ends {
					got = append(got, at.String())
					break
				}
			}
		}
		assert.Equal(t, test.want, strings.Join(got, " "), name)
	}
}

func TestSomeJobsHaveAQueueOfTheirOwn(t *testing.T) {
	t.Parallel()
	const jobs = 4000
	w := workload.Workload{QueuePerJob: 0.1, Payload: workload.Constant(5)}
	j := w.Jobs("r", 1)
	own := 0.
	for k := range int64(jobs) {
		body := j.AppendBody(nil, k, 0, 0, time.Time{})
		var job struct{ JID, Queue string }
		require.NoError(t, json.Unmarshal(body, &job))
		assert.Equal(t, string(j.AppendQueue(nil, k)), job.Queue)
		assert.Equal(t, j.QueueOf(k) == workload.OwnQueue, job.Queue == job.JID)
		d, err := j.Read(body)
		require.NoError(t, err)
		assert.Equal(t, j.QueueOf(k), d.Queue)
		if d.Queue == workload.OwnQueue {
			own++
			_, err := j.Read([]byte(strings.Replace(string(body), `"queue":"`+job.JID, `"queue":"`+j.Queues()[0], 1)))
			wrong := new(workload.WrongError)
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, "queue", wrong.Part)
		}
	}
	assert.InDelta(t, 0.1, own/jobs, 0.02)
	none := new(workload.Workload).Jobs("r", 1)
	assert.True(t, j.HasOwnQueues())
	assert.False(t, none.HasOwnQueues())
}
