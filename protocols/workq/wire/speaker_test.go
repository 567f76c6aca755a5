package wire_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/loadtest"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/wire"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	workqwire "github.com/fwpsuite/fwp/protocols/workq/wire"
)

func runLoad(t *testing.T, protocol wire.Protocol, hook func(*fakeworkq.Event), change func(*plan.Workload)) (
	report *results.Load,
) {
	t.Helper()
	return loadtest.Run(t, protocol, change, func() (config load.Config, end func()) {
		place := memnet.NewPlace()
		server := fakeworkq.NewServer(fakeworkq.Config{Hook: hook})
		go server.Serve(place.MustListen())
		return load.Config{Dial: place.Dial}, server.Close
	})
}

func TestEachJobIsAccountedFor(t *testing.T) {
	t.Parallel()
	three, half := 3, 0.5
	tests := map[string]struct {
		protocol workqwire.Wire
		change   func(*plan.Workload)
		acked    int64
	}{
		"added": {acked: 80},
		"run":   {protocol: workqwire.Wire{Requests: true}, acked: 80},
		"scheduled": {change: func(w *plan.Workload) {
			w.Delay = plan.Range{Min: time.Second, Max: 2 * time.Second}
		}, acked: 80},
		"failed": {change: func(w *plan.Workload) { w.FailShare, w.Retry = half, &three }, acked: -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := runLoad(t, test.protocol, nil, test.change)
			assert.Empty(t, l.Unreachable)
			assert.Empty(t, l.Findings)
			assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
			assert.EqualValues(t, 80, l.Jobs.Pushed)
			assert.EqualValues(t, 80, l.Jobs.Delivered)
			if test.acked >= 0 {
				assert.Equal(t, test.acked, l.Jobs.Acked)
			}
		})
	}
}

// What a server does wrong shows in the account of the jobs, or as a breach.
func TestBugsShow(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]results.FindingKind{
		"add-lost": results.FindingLost, "add-payload-cut": results.FindingAltered,
		"line-size-less": results.FindingGrammar, "complete-other-answer": results.FindingReply,
		"lease-timeout-empty": results.FindingReply, "lease-short": results.FindingDuplicated,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := fakeworkq.Bugs()
			i := slices.IndexFunc(all, func(f fakeworkq.Bug) bool { return f.Name == name })
			require.GreaterOrEqual(t, i, 0)
			l := runLoad(t, workqwire.Wire{}, all[i].Hook(), func(w *plan.Workload) {
				w.Consumers = 40
				w.Work = plan.Range{Min: 300 * time.Millisecond, Max: 300 * time.Millisecond}
			})
			loadtest.CheckFinding(t, l, kind)
		})
	}
}

// A Workq server waits for its client, and is not taken for one of FWP.
func TestAClientOfAnotherProtocol(t *testing.T) {
	t.Parallel()
	l := runLoad(t, fwpwire.New(""), nil, nil)
	assert.Contains(t, l.Unreachable, "the server sent nothing for 10s instead of greeting")
}

func TestHear(t *testing.T) {
	t.Parallel()
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c4"
	tests := []struct {
		op   measure.Op
		in   string
		want wire.Kind
		err  string
	}{
		{measure.Ack, "+OK\r\n", wire.OK, ""},
		{measure.Ack, "OK\r\n", 0, "complete was answered with"},
		{measure.Fail, "OK\r\n", wire.OK, ""},
		{measure.Fail, "+OK 0\r\n", 0, "fail was answered with"},
		{measure.Ack, "-NOT-FOUND\r\n", wire.Refusal, ""},
		{measure.Ack, "-TIMEOUT\r\n", wire.Refusal, ""},
		{measure.Fetch, "-TIMEOUT\r\n", wire.Empty, ""},
		{measure.Fetch, "+OK 1\r\n" + id + " q 1 4\r\npong\r\n", wire.Job, ""},
		{measure.Fetch, "+OK 1\r\n" + id + " 1 4\r\npong\r\n", 0, "lease was answered with"},
		{measure.Fetch, "OK 1\r\n" + id + " q 1 4\r\npong\r\n", 0, "lease was answered with"},
		{measure.Fetch, "+OK\r\n", 0, "lease was answered with"},
		{measure.Fetch, "+OK 1\r\n" + id + " q 1 4\r\npon", 0, wire.ErrShort.Error()},
		{measure.Info, "+OK 0\r\n", wire.OK, ""},
		{measure.Info, "OK 0\r\n", wire.OK, ""},
		{measure.Info, "+OK\r\n", 0, "inspect was answered with"},
		{measure.Info, "HTTP\r\n", 0, "is no Workq reply"},
		{measure.Info, "+OK 1\r\n" + strings.Repeat("x", 17<<20), 0, wire.ErrTooLong.Error()},
	}
	for _, test := range tests {
		s := workqwire.Wire{}.Speaker("")
		switch test.op {
		case measure.Ack:
			s.Ack(nil, []byte("jid"))
		case measure.Fail:
			s.Fail(nil, []byte("jid"))
		case measure.Fetch:
			s.Fetch(nil, &wire.Queues{Names: []string{"q"}})
		default:
			s.Info(nil)
		}
		var e wire.Event
		n, err := s.Hear([]byte(test.in), &e)
		if test.err != "" {
			assert.ErrorContains(t, err, test.err, "%.40q", test.in)
			assert.Zero(t, n)
			continue
		}
		require.NoError(t, err, test.in)
		assert.Equal(t, len(test.in), n)
		assert.Equal(t, test.want, e.Kind, test.in)
	}
}

func TestAnIDIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	s := workqwire.Wire{}.Speaker("")
	line := string(s.Ack(nil, []byte("jid")))
	assert.Regexp(t, `^complete [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} 4\r\ndone\r\n$`, line)
	assert.Equal(t, line, string(s.Ack(nil, []byte("jid"))))
	assert.NotEqual(t, line, string(s.Ack(nil, []byte("jod"))))
	assert.Equal(t, "lease a b 2000\r\n", string(s.Fetch(nil, &wire.Queues{Names: []string{"a", "b"}})))
}
