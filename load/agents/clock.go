package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/fwpsuite/fwp/load/results"
)

// questions is how often an agent asks for the coordinator's time: the quickest reply counts.
const questions = 32

// clock relates the time of an agent to that of the coordinator: at the moment here it was that late there. Moments of
// an agent are those of a clock that is never set, so its time of day may be anything.
type clock struct {
	here  time.Time
	there time.Duration
	wall  time.Duration // how far the agent's time of day is ahead
	bound time.Duration // how far there may be wrong
}

// local returns the agent's time of a moment of the coordinator.
func (c clock) local(t time.Duration) time.Time { return c.here.Add(t - c.there) }

// remote returns the coordinator's time of a moment of the agent.
func (c clock) remote(t time.Time) time.Duration { return c.there + t.Sub(c.here) }

// boundUntil returns how far the clock may be wrong until another measurement of it: its bound, or that of the other
// and what the clock has drifted meanwhile.
func (c clock) boundUntil(later clock) time.Duration {
	drift := (later.there - c.remote(later.here)).Abs()
	return max(c.bound, later.bound+drift)
}

// report returns what the report has of a clock.
func (c clock) report() *results.AgentClock {
	return &results.AgentClock{Offset: c.wall, Bound: c.bound}
}

// measureClock asks for the coordinator's time. now is the time of a clock that is never set, wall the time of day.
func measureClock(ask func() (moment, error), now, wall func() time.Time) (best clock, err error) {
	for i := range questions {
		before := now()
		m, err := ask()
		if err != nil {
			return best, fmt.Errorf("ask for the coordinator's time: %w", err)
		}
		took, day := now().Sub(before), wall()
		if half := took / 2; i == 0 || half < best.bound {
			best = clock{
				here: before.Add(half), there: m.Since, bound: half, wall: day.Round(0).Add(-half).Sub(m.Wall.Round(0)),
			}
		}
	}
	return best, nil
}

// post sends a value as JSON. What fails is logged under a name.
func post(log func(string, ...any), name string, value any, send func([]byte) error) {
	data, err := json.Marshal(value)
	if err == nil {
		err = send(data)
	}
	if err != nil {
		log("%s: %v", name, err)
	}
}

// requestLimit is how long the reply to a request may take.
const requestLimit = 3 * time.Second

// request sends a question and reads its reply.
func request(ctx context.Context, conn *nats.Conn, subject string, question, reply any) error {
	data, err := json.Marshal(question)
	if err != nil {
		return err
	}
	return requestMsg(ctx, conn, &nats.Msg{Subject: subject, Data: data}, reply)
}

// requestMsg is request for a message.
func requestMsg(ctx context.Context, conn *nats.Conn, msg *nats.Msg, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	got, err := conn.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return err
	}
	return json.Unmarshal(got.Data, reply)
}
