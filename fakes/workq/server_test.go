package workq_test

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/workq"
)

const (
	id1 = "6ba7b810-9dad-41d1-80b4-00c04fd430c1"
	id2 = "6ba7b810-9dad-41d1-80b4-00c04fd430c2"
	id3 = "6ba7b810-9dad-41d1-80b4-00c04fd430c3"
)

// client is one connection.
type client struct {
	t  *testing.T
	nc net.Conn
	in *workq.Reader
}

// serving plays with a server in virtual time.
func serving(t *testing.T, hook func(*fakeworkq.Event), play func(dial func() *client)) {
	t.Helper()
	configured(t, fakeworkq.Config{Hook: hook}, play)
}

func configured(t *testing.T, config fakeworkq.Config, play func(dial func() *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		s := fakeworkq.NewServer(config)
		go s.Serve(place.MustListen())
		defer s.Close()
		play(func() *client {
			nc := place.MustDial()
			return &client{t, nc, workq.NewReader(nc, 4<<20)}
		})
	})
}

// ask sends text, in which a line ends with /, and returns the reply in the same way.
func (c *client) ask(text string) string {
	c.t.Helper()
	c.send(text)
	return c.reply()
}

func (c *client) send(text string) {
	c.t.Helper()
	_, err := c.nc.Write([]byte(strings.ReplaceAll(text, "/", "\r\n") + "\r\n"))
	require.NoError(c.t, err)
}

func (c *client) reply() string {
	c.t.Helper()
	r, err := c.in.Read()
	if err != nil {
		return err.Error()
	}
	text := strings.ReplaceAll(string(workq.AppendReply(nil, r)), "\r\n", "/")
	return strings.NewReplacer(id1, "1", id2, "2", id3, "3").Replace(strings.TrimSuffix(text, "/"))
}

func TestAJobIsAddedLeasedAndCompleted(t *testing.T) {
	t.Parallel()
	serving(t, nil, func(dial func() *client) {
		c, other := dial(), dial()
		assert.Equal(t, "+OK", c.ask("add "+id1+" ping 1000 60000 4 -max-attempts=3/pong"))
		assert.Equal(t, "-CLIENT-ERROR there is a job with this id", c.ask("add "+id1+" ping 1000 60000 4/pong"))
		assert.Equal(t, "+OK 1/1 12/name ping/ttr 1000/ttl 60000/payload-size 4/payload pong/max-attempts 3/attempts 0/"+
			"max-fails 0/fails 0/priority 0/state 0/created 2000-01-01T00:00:00Z", c.ask("inspect job "+id1))
		assert.Equal(t, "+OK 1/ping 2/ready-len 1/scheduled-len 0", c.ask("inspect queues 0 10"))
		assert.Equal(t, "-TIMEOUT", c.ask("result "+id1+" 100"))
		assert.Equal(t, "+OK 1/1 ping 1000 4/pong", c.ask("lease other ping 1000"))
		assert.Equal(t, "+OK", other.ask("complete "+id1+" 2/ok"))
		assert.Equal(t, "-NOT-FOUND", c.ask("complete "+id1+" 2/ok"))
		assert.Equal(t, "+OK 1/1 1 2/ok", c.ask("result "+id1+" 0"))
		assert.Equal(t, "+OK", c.ask("delete "+id1))
		assert.Equal(t, "-NOT-FOUND", c.ask("result "+id1+" 0"))
		assert.Equal(t, "+OK 1/server 3/active-clients 2/evicted-jobs 0/started 2000-01-01T00:00:00Z",
			c.ask("inspect server"))
	})
}

func TestPriorityAndTime(t *testing.T) {
	t.Parallel()
	serving(t, nil, func(dial func() *client) {
		c := dial()
		assert.Equal(t, "+OK", c.ask("add "+id1+" ping 1000 60000 0/"))
		assert.Equal(t, "+OK", c.ask("add "+id2+" ping 1000 60000 0 -priority=-1/"))
		assert.Equal(t, "+OK", c.ask("add "+id3+" ping 1000 60000 0 -priority=1 -max-attempts=1/"))
		assert.Equal(t, "+OK 1/3 ping 1000 0/", c.ask("lease ping 0"))
		assert.Equal(t, "+OK 1/1 ping 1000 0/", c.ask("lease ping 0"))
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "+OK 1/1 ping 1000 0/", c.ask("lease ping 0"), "requeued")
		assert.Equal(t, "+OK 1/2 ping 1000 0/", c.ask("lease ping 0"))
		assert.Equal(t, "-TIMEOUT", c.ask("lease ping 500"))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, "-NOT-FOUND", c.ask("inspect job "+id1))
		assert.Contains(t, c.ask("inspect server"), "evicted-jobs 2")
	})
}

func TestFails(t *testing.T) {
	t.Parallel()
	serving(t, nil, func(dial func() *client) {
		c := dial()
		assert.Equal(t, "+OK", c.ask("add "+id1+" ping 1000 60000 0 -max-fails=2/"))
		for range 2 {
			assert.Equal(t, "+OK 1/1 ping 1000 0/", c.ask("lease ping 0"))
			assert.Equal(t, "+OK", c.ask("fail "+id1+" 3/bad"))
		}
		assert.Equal(t, "+OK 1/1 0 3/bad", c.ask("result "+id1+" 0"))
		assert.Equal(t, "-TIMEOUT", c.ask("lease ping 0"))
	})
}

func TestRunAndSchedule(t *testing.T) {
	t.Parallel()
	serving(t, nil, func(dial func() *client) {
		c, worker := dial(), dial()
		worker.send("lease ping 5000")
		c.send("run " + id1 + " ping 1000 1000 4/ping")
		assert.Equal(t, "+OK 1/1 ping 1000 4/ping", worker.reply())
		assert.Equal(t, "+OK", worker.ask("complete "+id1+" 4/pong"))
		assert.Equal(t, "+OK 1/1 1 4/pong", c.reply())
		assert.Equal(t, "-TIMEOUT", c.ask("run "+id2+" ping 1000 1000 4/ping"))
		assert.Equal(t, "-TIMEOUT", worker.ask("lease ping 0"))

		dueTime := time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339)
		assert.Equal(t, "+OK", c.ask("schedule "+id3+" ping 1000 2000 "+dueTime+" 0/"))
		assert.Contains(t, c.ask("inspect scheduled-jobs ping 0 10"), "+OK 1/3 13/")
		assert.Equal(t, "+OK 0", c.ask("inspect jobs ping 0 10"))
		begin := time.Now()
		assert.Equal(t, "+OK 1/3 ping 1000 0/", worker.ask("lease ping 5000"))
		assert.InDelta(t, 3, time.Since(begin).Seconds(), 1)
	})
}

// A job that comes at the moment at which its worker is gone is not lost.
func TestAWorkerThatIsGone(t *testing.T) {
	t.Parallel()
	serving(t, nil, func(dial func() *client) {
		c, worker := dial(), dial()
		worker.send("lease ping 5000")
		synctest.Wait()
		require.NoError(t, worker.nc.Close())
		synctest.Wait()
		assert.Equal(t, "+OK", c.ask("add "+id1+" ping 1000 60000 0/"))
		assert.Equal(t, "+OK 1/1 ping 1000 0/", c.ask("lease ping 0"))
	})
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	serving(t, nil, func(dial func() *client) {
		c := dial()
		assert.Equal(t, `-CLIENT-ERROR "1" is not a valid id`, c.ask("add 1 ping 1 1 4/pong"))
		assert.Equal(t, "-NOT-FOUND", c.ask("delete "+id1), "the block belongs to its line")
		assert.Equal(t, "-CLIENT-ERROR the block does not end with CRLF where its size says",
			c.ask("add "+id1+" ping 1 1 4/pong!"))
		assert.Equal(t, "EOF", c.reply())
	})
}

func TestHook(t *testing.T) {
	t.Parallel()
	serving(t, func(e *fakeworkq.Event) {
		switch {
		case e.Point == fakeworkq.Adding:
			e.Job.Payload = []byte("x")
		case e.Point == fakeworkq.Ran && e.Command.Verb == workq.Delete:
			e.Reply = workq.OK()
		}
	}, func(dial func() *client) {
		c := dial()
		assert.Equal(t, "+OK", c.ask("add "+id1+" ping 1000 60000 4/pong"))
		assert.Equal(t, "+OK 1/1 ping 1000 1/x", c.ask("lease ping 0"))
		assert.Equal(t, "+OK", c.ask("delete "+id2))
	})
}

func TestTwoReportsAtOnce(t *testing.T) {
	t.Parallel()
	var complete func()
	serving(t, func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Finished && e.Command.Verb == workq.Fail {
			complete() // the other report comes while the server is busy with this one
		}
	}, func(dial func() *client) {
		c, other := dial(), dial()
		complete = func() { assert.Equal(t, "+OK", other.ask("complete "+id1+" 0/")) }
		assert.Equal(t, "+OK", c.ask("add "+id1+" ping 1000 60000 4 -max-fails=9/pong"))
		assert.Equal(t, "+OK 1/1 ping 1000 4/pong", c.ask("lease ping 0"))
		assert.Equal(t, "-NOT-FOUND", c.ask("fail "+id1+" 0/"))
		assert.Equal(t, "-NOT-FOUND", c.ask("complete "+id1+" 0/"), "it has ended")
		assert.Equal(t, "-TIMEOUT", c.ask("lease ping 1"), "it is not tried again")
	})
}

func TestWhatIsLeftToAServer(t *testing.T) {
	t.Parallel()
	config := fakeworkq.Config{LineByLine: true, LastFirst: true, Reversed: true, RetainQueues: true}
	configured(t, config, func(dial func() *client) {
		c := dial()
		assert.Equal(t, `-CLIENT-ERROR "1" is not a valid id`, c.ask("add 1 ping 1 1 4/pong"))
		assert.Equal(t, `-CLIENT-ERROR "pong" is not a command`, c.reply(), "the block is a line of its own")
		assert.Contains(t, c.ask("add "+id1+" ping 1 1 4/pong!"), "-CLIENT-ERROR the block does not end")
		assert.Contains(t, c.reply(), "-CLIENT-ERROR", "so is the rest of a block")
		for _, id := range []string{id1, id2} {
			assert.Equal(t, "+OK", c.ask("add "+id+" ping 1000 60000 0/"))
		}
		assert.Contains(t, c.ask("inspect jobs ping 0 1"), "+OK 1/1 12/")
		assert.Equal(t, "+OK 1/2 ping 1000 0/", c.ask("lease ping 0"))
		assert.Equal(t, "+OK", c.ask("delete "+id1))
		assert.Equal(t, "+OK", c.ask("delete "+id2))
		assert.Equal(t, "+OK 1/ping 2/ready-len 0/scheduled-len 0", c.ask("inspect queues 0 9"))
	})
}
