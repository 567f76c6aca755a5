package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/plan"
)

// recordHistory has a scene keep a history. The time that is turned by hand goes faster
// than that of the recorder, which must not take it for the future.
func recordHistory(c *Config) {
	c.History = history.NewRecorder()
	c.EngineStart = c.History.Begin().Add(-time.Hour)
}

// recordedLines is what a connection has recorded, in words, with the times of the engine.
func recordedLines(s *scene, c *conn) []string {
	var list []string
	at := func(t time.Duration) time.Duration { return t - s.shard.callLog.start }
	for _, e := range s.shard.callLog.recorder.History().Events {
		if e.Client != int(c.number) {
			continue
		}
		line := fmt.Sprintf("%v %s%s %v", at(e.Call), e.Op, strings.TrimRight(" "+e.JID, " "), e.Outcome)
		if e.Outcome != history.NoReply {
			line += fmt.Sprintf(" %v", at(e.Return))
		}
		list = append(list, line)
	}
	return list
}

func TestProducerHistory(t *testing.T) {
	t.Parallel()
	load := producers(1)
	load.Delay = plan.Range{Min: time.Minute, Max: time.Minute}
	s := newScene(t, load, recordHistory)
	s.connect()
	p := &s.shard.producers[0].conn
	s.pass(time.Second - time.Millisecond)
	s.start()
	s.pass(time.Second)
	s.data(p, okLine)
	s.pass(time.Second)
	s.data(p, "-ERR no\r\n")
	s.pass(time.Second)
	s.end(p, nil)
	assert.Equal(t, []string{
		"2s PUSH " + s.jid(0) + " ok 3s", "3s PUSH " + s.jid(1) + " refused 4s", "4.0025s PUSH " + s.jid(2) + " open",
	}, recordedLines(s, p))
	first := s.shard.callLog.recorder.History().Events[0]
	assert.Equal(t, s.jobs.Queues()[0], first.Queue)
	assert.EqualValues(t, 25, *first.Retry)
	assert.EqualValues(t, 1800, *first.ReserveFor)
	assert.Equal(t, time.Minute, first.At-first.Call)
	assert.Empty(t, first.Worker)
}

func TestWorkerHistory(t *testing.T) {
	t.Parallel()
	foreign := "$44\r\n" + `{"jid":"somebody","jobtype":"t","queue":"x"}` + "\r\n"
	cases := map[string]struct {
		replies []string // by the server, a second apart
		want    []string
	}{
		"a job":      {[]string{"100", okLine}, []string{"2s FETCH %s ok 3s", "3s ACK %s ok 4s"}},
		"refused":    {[]string{"100", "-ERR\r\n"}, []string{"2s FETCH %s ok 3s", "3s ACK %s refused 4s"}},
		"none":       {[]string{"$-1\r\n", "$-1\r\n"}, []string{"2s FETCH empty 3s", "3s FETCH empty 4s"}},
		"no ACK":     {[]string{"100", ""}, []string{"2s FETCH %s ok 3s", "3s ACK %s open"}},
		"no FETCH":   {[]string{""}, []string{"2s FETCH open"}},
		"error":      {[]string{"-ERR\r\n"}, []string{"2s FETCH refused 3s"}},
		"nonsense":   {[]string{"100", ":1\r\n"}, []string{"2s FETCH %s ok 3s", "3s ACK %s open"}},
		"unreadable": {[]string{"$1\r\n}\r\n"}, []string{"2s FETCH open"}},
		"stranger":   {[]string{foreign, okLine}, []string{"2s FETCH somebody ok 3s", "3s FAIL somebody ok 4s"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, consumers(1), recordHistory)
			s.connect()
			s.pass(time.Second - time.Millisecond)
			s.start()
			c := &s.shard.workers[0].conns[0].conn
			for _, reply := range test.replies {
				s.pass(time.Second)
				switch reply {
				case "":
					s.end(c, nil)
				case "100":
					s.data(c, s.body(100))
				default:
					s.data(c, reply)
				}
			}
			for i := range test.want {
				test.want[i] = strings.ReplaceAll(test.want[i], "%s", s.jid(100))
			}
			assert.Equal(t, test.want, recordedLines(s, c))
			for _, e := range s.shard.callLog.recorder.History().Events {
				if e.Op == history.Fetch {
					assert.Equal(t, s.shard.workers[0].id, e.Worker)
					assert.Equal(t, s.jobs.Queues(), e.Queues)
				}
			}
		})
	}
}

// A pool's heartbeat has nothing to record; its other connections are one worker.
func TestHistoryClients(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	load.Topology = plan.Topology{Kind: plan.Pool, Fetchers: 1, Reporters: 1, Concurrency: 2}
	s := newScene(t, load, recordHistory)
	for _, d := range s.shard.workers[0].conns {
		assert.Equal(t, d.duties != dutyBeat, d.history != nil)
	}
	for _, c := range newScene(t, load).shard.conns {
		assert.Nil(t, c.history, "there is no history")
	}
}

// The jobtype and the args have no place in a history; that they are wrong has.
func TestAlteredJobHistory(t *testing.T) {
	t.Parallel()
	s, w := newWorkScene(t, consumers(1), recordHistory)
	c := &w.conns[0].conn
	s.data(c, strings.Replace(s.body(100), `"queue":"fwpbench-run-0"`, `"queue":"fwpbench-run-1"`, 1))
	s.data(c, okLine)
	s.data(c, strings.Replace(s.body(101), `"args":["run"`, `"args":["nur"`, 1))
	var fetches []history.Event
	for _, e := range s.shard.callLog.recorder.History().Events {
		if e.Op == history.Fetch {
			fetches = append(fetches, e)
		}
	}
	assert.Len(t, fetches, 2)
	assert.Equal(t, "fwpbench-run-1", fetches[0].Queue)
	assert.Empty(t, fetches[0].Body)
	assert.Equal(t, "fwpbench-run-0", fetches[1].Queue)
	assert.Equal(t, "args: the args are not from a job of this run", fetches[1].Body)
}

// Where the record breaks off, what is in flight is recorded to its end, and the history says from when on calls may be
// missing.
func TestHistoryLimit(t *testing.T) {
	t.Parallel()
	s := newScene(t, producers(1), recordHistory, func(c *Config) { c.MaxCalls = 2 })
	s.connect()
	s.start()
	for range 4 {
		s.pass(time.Second)
		s.data(&s.shard.producers[0].conn, okLine)
	}
	h := s.shard.callLog.recorder.History()
	s.shard.Complete(h)
	assert.Len(t, h.Events, 2)
	assert.Equal(t, []history.Outcome{history.OK, history.OK}, []history.Outcome{h.Events[0].Outcome, h.Events[1].Outcome})
	assert.Positive(t, h.CutAt)
}
