package emqp_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// step is a message that a peer sends, or a time that passes. Peers c and d are clients, s and t schedulers, w and x
// workers.
type step struct {
	peer   string
	frames [][]byte
	after  time.Duration
}

func says(peer string, m emqp.Message) step      { return step{peer: peer, frames: m.Frames()} }
func raw(peer string, frames ...string) (s step) { s.peer, s.frames = peer, bytesOf(frames); return s }
func pass(d time.Duration) step                  { return step{after: d} }

func bytesOf(frames []string) (all [][]byte) {
	for _, f := range frames {
		all = append(all, []byte(f))
	}
	return all
}

// talk is a conversation of peers with a broker.
type talk []step

// play returns what the peers receive, in virtual time, as reports print it.
func (k talk) play(t *testing.T, config fakeemqp.Config) (received string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		front, back := memnet.NewPlace(), memnet.NewPlace()
		broker, log := fakeemqp.Start(config, front.MustListen(), back.MustListen()), transcript.NewLog()
		ctx, cancel := context.WithCancel(context.Background())
		peers := map[string]*zmtp.Dealer{}
		for _, name := range []string{"c", "d", "s", "t", "w", "x"} {
			place := front
			if name == "w" || name == "x" {
				place = back
			}
			var err error
			peers[name], err = zmtp.NewDealer(ctx, place.MustDial(), zmtp.Config{Identity: "peer-" + name})
			require.NoError(t, err)
			go func() {
				for parts, err := peers[name].Receive(ctx); err == nil; parts, err = peers[name].Receive(ctx) {
					log.Add(name, transcript.Server, fmt.Appendf(nil, "[\"%s\"]\r\n", bytes.Join(parts, []byte(`", "`))))
				}
				log.Add(name, transcript.ServerEnd, []byte("close"))
			}()
			synctest.Wait()
		}
		for _, s := range k {
			time.Sleep(s.after)
			if s.peer != "" {
				_ = peers[s.peer].Send(ctx, s.frames...)
			}
			synctest.Wait()
		}
		time.Sleep(5 * time.Second)
		cancel()
		synctest.Wait()
		for _, p := range peers {
			p.Close()
		}
		broker.Close()
		received = transcript.Text(log.Events())
	})
	return received
}

// headers returns the headers of a text.
func headers(text string) emqp.Headers {
	h, _ := emqp.ParseHeaders(text) // those of this file can be parsed
	return h
}

func works(peer string, credit int, names ...string) (k talk) {
	var queues []emqp.Queue
	for i, name := range names {
		queues = append(queues, emqp.Queue{Weight: 10 - i, Name: name})
	}
	k = talk{says(peer, emqp.InformWorker("u-1-inform-"+peer, queues...))}
	for i := range credit {
		k = append(k, says(peer, emqp.Ready(fmt.Sprintf("u-1-ready-%s%d", peer, i))))
	}
	return k
}

func requestsReply(peer string, n int, queue, headerText, message string) step {
	return says(peer, emqp.Request(fmt.Sprintf("u-1-%s%d", peer, n), queue, headers(headerText), message))
}

func join(parts ...talk) (k talk) {
	for _, p := range parts {
		k = append(k, p...)
	}
	return k
}

const wants = emqp.ReplyRequested

// talks are the conversations in which variations show.
var talks = map[string]talk{
	"queues": join(works("w", 9, "a-u-1", "b,1", "cü", "d", "e "), works("x", 9, "a-u-2"), talk{
		requestsReply("c", 1, "a-u-1", "", "to a"), requestsReply("c", 2, "b,1", "", "to b,1"), requestsReply("c", 3, "cü", "", "to cü"),
		requestsReply("c", 4, "d", "", "to d"),
		requestsReply("c", 5, "e", "", "to e"), requestsReply("c", 6, "A-u-1", "", "to A"), requestsReply("c", 7, "b,2", "", "to b,2"),
		requestsReply("c", 8, "cö", "", "to cö"),
		requestsReply("c", 9, "a-u-2", "", "to the other"), requestsReply("c", 10, "a-u-1", "", "again"),
		requestsReply("c", 11, "a-u-1", "", "in turn"),
	}),
	"two": join(works("w", 2, "q"), works("x", 2, "q"), talk{
		requestsReply("c", 1, "q", wants, "1"), requestsReply("c", 2, "q", wants, "2"), says("w", emqp.Reply("u-1-r1", "a")),
		says("x", emqp.Reply("u-1-r2", "b")), requestsReply("c", 3, "q", "", "3"), says("w", emqp.Kbai("u-1-bye")),
		requestsReply("c", 4, "q", "", "4"),
		requestsReply("c", 5, "q", "", "5"), says("x", emqp.Ready("u-1-more")), pass(8 * time.Second),
	}, works("w", 1, "q"), talk{requestsReply("c", 6, "q", "", "6"), pass(20 * time.Second)}),
	"beats": join(works("w", 1, "q"), talk{
		says("s", emqp.InformScheduler("u-1-s")), requestsReply("c", 1, "q", wants, "1"), pass(4 * time.Second),
		says("w", emqp.Heartbeat("u-1-b1", time.Unix(1, 0))), says("s", emqp.Heartbeat("u-1-b2", time.Unix(1, 0))),
		pass(4 * time.Second),
		says("w", emqp.Ack("u-1-ack", "x")), pass(4 * time.Second), says("w", emqp.Heartbeat("u-1-b3", time.Unix(1, 0))),
		says("w", emqp.Ready("u-1-more")), pass(4 * time.Second), says("w", emqp.Reply("u-1-r1", "late")),
		requestsReply("c", 2, "q", "", "2"),
		says("c", emqp.Publish("u-1-p", "topic", nil, "text")), pass(4 * time.Second),
	}),
	"acks": join(works("w", 1, "q"), talk{
		pass(4 * time.Second), says("w", emqp.Heartbeat("u-1-b", time.Unix(1, 0))), pass(8 * time.Second),
		says("w", emqp.Ack("u-1-ack", "x")), pass(4 * time.Second), requestsReply("c", 1, "q", "", "1"),
	}),
	"asked": join(works("w", 2, "q"), talk{
		requestsReply("c", 1, "q", wants, "1"), says("w", emqp.Reply("u-1-r1", "to c")),
		requestsReply("d", 1, "q", wants, "2"), says("w", emqp.Reply("u-1-r2", "to d")),
	}),
	"schedules": {
		says("s", emqp.InformScheduler("u-1-s")), says("t", emqp.InformScheduler("u-1-t")),
		says("c", emqp.Schedule("u-1-1", "q", headers("interval:5"), "text")),
		says("c", emqp.Unschedule("u-1-2", "q", nil, "text")),
		says("c", emqp.Unschedule("u-1-3", "", nil, "text")), says("s", emqp.Kbai("u-1-bye")),
		says("c", emqp.Unschedule("u-1-4", "q", nil, "text")), says("c", emqp.Schedule("u-1-5", "q", nil, "to the other")),
		pass(4 * time.Second),
	},
	"disconnect": join(works("w", 1, "q"), talk{
		says("s", emqp.InformScheduler("u-1-s")), says("c", emqp.Disconnect("u-1-d")), requestsReply("c", 1, "q", "", "1"),
		pass(4 * time.Second),
	}),
	"malformed": join(works("w", 9, "q", "p", "o", "n", "m"), talk{
		raw("c", "", "eMQP/9.9", emqp.REQUEST, "u-1-1", "q", "", "text"), requestsReply("c", 2, "q", "", "after the version"),
		raw("c", "", emqp.Version, "JUMP", "u-1-3", "p"), requestsReply("c", 4, "p", "", "after the command"),
		raw("c", "", "o"), requestsReply("c", 5, "o", "", "after the short one"),
		says("c", emqp.Publish("u-1-6", "n", nil, "text")), requestsReply("c", 7, "n", "", "after the PUBLISH"),
		says("c", emqp.PublishBare("u-1-8", "m", "text")), requestsReply("c", 9, "m", "", "after the bare PUBLISH"),
	}),
}
