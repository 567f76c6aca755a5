package emqp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// place is a broker on a network in memory.
type place struct {
	t *testing.T
	*fakeemqp.Broker
	front, back memnet.Place
}

// inBubble runs a test with a broker, in virtual time: with two sockets unless the config is for one.
func inBubble(t *testing.T, config fakeemqp.Config, test func(t *testing.T, p *place)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &place{t: t, front: memnet.NewPlace(), back: memnet.NewPlace()}
		p.Broker = fakeemqp.Start(config, p.front.MustListen(), p.back.MustListen())
		test(t, p)
		p.Close()
		p.Close()
	})
}

// end is one peer of the broker.
type end struct {
	t *testing.T
	*zmtp.Dealer
	sentCount int
}

func (p *place) dial(at memnet.Place, identity string) *end {
	d, err := zmtp.NewDealer(p.t.Context(), at.MustDial(), zmtp.Config{Identity: identity})
	require.NoError(p.t, err)
	p.t.Cleanup(d.Close)
	return &end{t: p.t, Dealer: d}
}

func (p *place) client() *end { return p.dial(p.front, "client") }

func queue(weight int, name string) emqp.Queue { return emqp.Queue{Weight: weight, Name: name} }

// worker is one whose INFORM was acknowledged, with credit.
func (p *place) worker(identity string, credit int, queues ...emqp.Queue) *end {
	w := p.dial(p.back, identity)
	w.send(emqp.InformWorker("inform", queues...))
	w.expect("ACK inform")
	for range credit {
		w.send(emqp.Ready("ready"))
	}
	synctest.Wait()
	return w
}

func (e *end) send(m emqp.Message) { require.NoError(e.t, e.Send(e.t.Context(), m.Frames()...)) }

// request sends a REQUEST and takes the ACK.
func (e *end) request(queue, headers, message string) {
	e.sentCount++
	id := fmt.Sprint("request-", e.sentCount)
	h, err := emqp.ParseHeaders(headers)
	require.NoError(e.t, err)
	e.send(emqp.Request(id, queue, h, message))
	e.expect("ACK " + id)
}

// next returns the next message: its command and fields, of a REQUEST the message alone.
func (e *end) next() string {
	parts, err := e.Receive(e.t.Context())
	require.NoError(e.t, err)
	m, err := emqp.Parse(parts)
	require.NoError(e.t, err)
	switch m.Command {
	case emqp.REQUEST, emqp.SCHEDULE, emqp.UNSCHEDULE:
		return m.Command + " " + string(m.Fields[2])
	}
	return strings.TrimSpace(m.Command + " " + string(bytes.Join(m.Fields, []byte(" "))))
}

func (e *end) expect(want ...string) {
	e.t.Helper()
	for _, w := range want {
		require.Equal(e.t, w, e.next())
	}
}

// expectNone reports what is received for a while, which should be nothing.
func (e *end) expectNone(d time.Duration) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), d)
	defer cancel()
	parts, err := e.Receive(ctx)
	require.ErrorIs(e.t, err, context.DeadlineExceeded, "%q", parts)
}

// READY is credit: a worker gets as many messages as it has sent READYs, in the order of the weights and of time.
func TestCredit(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{}, func(t *testing.T, p *place) {
		c := p.client()
		for i := range 2 {
			c.request("low", "", fmt.Sprint("low ", i))
			c.request("high", "", fmt.Sprint("high ", i))
			c.request("other", "", "of no worker")
		}
		w := p.worker("w", 3, queue(1, "low"), queue(40, "high"))
		w.expect("REQUEST high 0", "REQUEST high 1", "REQUEST low 0")
		w.expectNone(time.Second)
		assert.Equal(t, map[string]int{"low": 1, "other": 2}, p.Counts().Waiting)
		w.send(emqp.Ready("r"))
		w.expect("REQUEST low 1")
		w.send(emqp.Ready("r"))
		c.request("high", "", "at once")
		w.expect("REQUEST at once")
	})
}

// Workers take turns; what a REQUEST has in its frames reaches its worker as it is.
func TestTurns(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{}, func(t *testing.T, p *place) {
		c, a, b := p.client(), p.worker("a", 2, queue(1, "q")), p.worker("b", 2, queue(1, "q"))
		for i := range 4 {
			c.request("q", "timeout:3", fmt.Sprint(i))
		}
		parts, err := a.Receive(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "|eMQP/1.0|REQUEST|request-1|q|timeout:3|0", string(bytes.Join(parts, []byte("|"))))
		b.expect("REQUEST 1", "REQUEST 3")
		a.expect("REQUEST 2")
	})
}

// A REPLY goes to the client that wants one, in the order of the requests.
func TestReply(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{}, func(t *testing.T, p *place) {
		client, other, w := p.client(), p.dial(p.front, "two"), p.worker("w", 3, queue(1, "q"))
		client.request("q", "", "without")
		other.request("q", "reply-requested", "second")
		client.request("q", "reply-requested", "third")
		w.expect("REQUEST without", "REQUEST second", "REQUEST third")
		w.send(emqp.Reply("r1", "of second"))
		w.send(emqp.Reply("r2", "of third"))
		w.send(emqp.Reply("r3", "of none"))
		other.expect("REPLY of second")
		client.expect("REPLY of third")
		client.expectNone(time.Second)
	})
}

// Between other commands there are HEARTBEATs, and whoever is silent gets nothing more.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	config := fakeemqp.Config{Interval: 3 * time.Second, Timeout: 10 * time.Second}
	inBubble(t, config, func(t *testing.T, p *place) {
		begin := time.Now()
		w, c := p.worker("w", 2, queue(1, "q")), p.client()
		assert.Contains(t, w.next(), "HEARTBEAT ")
		assert.Equal(t, 3*time.Second, time.Since(begin))
		time.Sleep(2 * time.Second)
		c.request("q", "", "acts as a heartbeat")
		w.expect("REQUEST acts as a heartbeat")
		assert.Contains(t, w.next(), "HEARTBEAT ")
		assert.Equal(t, 8*time.Second, time.Since(begin))
		w.send(emqp.Heartbeat("h", time.Now()))
		time.Sleep(9 * time.Second)
		assert.Equal(t, 1, p.Counts().Workers)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Zero(t, p.Counts().Workers)
		c.request("q", "", "waits")
		assert.Equal(t, map[string]int{"q": 1}, p.Counts().Waiting)
		c.expectNone(time.Hour) // clients get no HEARTBEATs
	})
}

// SCHEDULE goes to one scheduler and UNSCHEDULE to all; both wait while there is none.
func TestSchedulers(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{}, func(t *testing.T, p *place) {
		c := p.client()
		c.send(emqp.Schedule("s1", "q", nil, "early"))
		c.expect("ACK s1")
		inform := func(name string) *end {
			s := p.dial(p.front, name)
			s.send(emqp.InformScheduler("i"))
			s.expect("ACK i")
			return s
		}
		a := inform("a")
		a.expect("SCHEDULE early")
		time.Sleep(time.Second)
		b := inform("b")
		time.Sleep(time.Second)
		c.send(emqp.Schedule("s2", "q", nil, "one"))
		c.expect("ACK s2")
		a.expect("SCHEDULE one")
		b.expectNone(time.Second)
		c.send(emqp.Unschedule("u", "", nil, "all"))
		c.expect("ACK u")
		a.expect("UNSCHEDULE all")
		b.expect("UNSCHEDULE all")
		c.send(emqp.PublishBare("p", "topic", "for whom"))
		c.expect("ACK p")
	})
}

// After DISCONNECT all that are connected get KBAI, and then nothing; a worker that sends KBAI gets nothing more.
func TestEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{}, func(t *testing.T, p *place) {
		c, v, w := p.client(), p.worker("v", 1, queue(1, "q")), p.worker("w", 1, queue(1, "q"))
		v.send(emqp.Kbai("k"))
		synctest.Wait()
		for i := range 2 {
			c.request("q", "", fmt.Sprint(i))
		}
		w.expect("REQUEST 0")
		v.expectNone(time.Second)
		c.send(emqp.Disconnect("d"))
		c.expect("KBAI")
		w.expect("KBAI")
		w.send(emqp.Ready("r"))
		w.expectNone(time.Hour)
	})
}

// A connection that ends is as good as a KBAI, and its worker may come back.
func TestLost(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{}, func(t *testing.T, p *place) {
		c, w := p.client(), p.worker("w", 5, queue(1, "q"))
		w.Close()
		synctest.Wait()
		c.request("q", "", "waits")
		p.worker("w", 1, queue(1, "q")).expect("REQUEST waits")
	})
}

// What breaks the document changes nothing, and what is no worker's gets no messages.
func TestIgnored(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{MaxWaiting: 1}, func(t *testing.T, p *place) {
		c := p.client()
		for _, text := range []string{"", "|eMQP/1.0|REQUEST|i", "|eMQP/2.0|READY|i", "x|eMQP/1.0|READY|i", "\xff"} {
			require.NoError(t, c.Send(t.Context(), bytes.Split([]byte(text), []byte("|"))...))
		}
		c.send(emqp.Ready("r"))
		c.send(emqp.Heartbeat("h", time.Now()))
		c.send(emqp.Reply("r", "to whom"))
		c.request("q", "", "first")
		c.request("q", "", "no room")
		c.expectNone(time.Hour)
		assert.Equal(t, fakeemqp.Counts{Waiting: map[string]int{"q": 1}, Dropped: 1}, p.Counts())
	})
}

// One socket is enough for all.
func TestOneSocket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := memnet.NewPlace()
		p := &place{t, fakeemqp.Start(fakeemqp.Config{}, at.MustListen(), nil), at, at}
		defer p.Close()
		w := p.worker("w", 1, queue(1, "q"))
		p.client().request("q", "", "m")
		w.expect("REQUEST m")
	})
}

// The hook sees all messages, and can change, drop, repeat and delay them and close the connection.
func TestHook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hook func(e *fakeemqp.Event)
		want string
	}{
		"changed":  {func(e *fakeemqp.Event) { e.Frames[4] = []byte("another") }, "0s ACK another"},
		"dropped":  {func(e *fakeemqp.Event) { e.Drop = true }, "1h0m0s context deadline exceeded"},
		"repeated": {func(e *fakeemqp.Event) { e.Repeats = 1 }, "0s ACK inform, 0s ACK inform"},
		"delayed":  {func(e *fakeemqp.Event) { e.Delay = time.Minute }, "1m0s ACK inform"},
		"closed":   {func(e *fakeemqp.Event) { e.Drop, e.Disconnect = true, true }, "0s read: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := fakeemqp.Config{Timeout: time.Hour, Interval: time.Hour}
			config.Hook = func(e *fakeemqp.Event) {
				if e.IsFromBroker && e.Role == fakeemqp.Worker {
					c.hook(e)
				}
			}
			inBubble(t, config, func(t *testing.T, p *place) {
				begin, w := time.Now(), p.dial(p.back, "w")
				w.send(emqp.InformWorker("informed before", queue(1, "q")))
				w.expect("ACK informed before") // it is no worker yet
				w.send(emqp.InformWorker("inform", queue(1, "q")))
				var got []string
				for range strings.Count(c.want, ",") + 1 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					parts, err := w.Receive(ctx)
					cancel()
					words := fmt.Sprint(err)
					if err == nil {
						words = "ACK " + string(parts[4])
					}
					got = append(got, fmt.Sprint(time.Since(begin), " ", words))
				}
				assert.Equal(t, c.want, strings.Join(got, ", "))
			})
		})
	}
}

// A message that the hook drops is one that was never sent.
func TestHookReceived(t *testing.T) {
	t.Parallel()
	config := fakeemqp.Config{Hook: func(e *fakeemqp.Event) {
		e.Drop = !e.IsFromBroker && string(e.Frames[2]) == emqp.INFORM
		e.Disconnect = !e.IsFromBroker && string(e.Frames[2]) == emqp.KBAI
	}}
	inBubble(t, config, func(t *testing.T, p *place) {
		w := p.dial(p.back, "w")
		w.send(emqp.InformWorker("i", queue(1, "q")))
		w.expectNone(time.Second)
		w.send(emqp.Kbai("k"))
		_, err := w.Receive(t.Context())
		require.ErrorIs(t, err, io.EOF)
	})
}
