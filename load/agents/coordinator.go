package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/fwpsuite/fwp/internal/lag"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/results"
)

// Config is a run by agents. What has no zero value named here is needed.
type Config struct {
	Conn    *nats.Conn
	Token   string // which agents have to know
	Version string // of the program, which that of each agent has to be
	Plan    Plan
	// Connecting is how long opening all connections takes, as the load is planned.
	Connecting time.Duration
	// Within is how long the agents may take to join; 0 is a minute.
	Within time.Duration

	// Report has what the report of the whole load does not get from those of the agents: Plan, Seed, Target, Version.
	Report     results.Load
	Thresholds []judge.Threshold
	// Crossed is what the report needs to know of jobs that cross, if Plan says that they do.
	Crossed load.Crossed

	// Watch, if set, is called with each second of the load, two to three seconds after it.
	Watch func(load.Moment)
	// Log, if set, is called with what happens.
	Log func(format string, args ...any)
}

// inbox is how many messages may wait: some seconds of a thousand agents.
const inbox = 8192

// coordinator is a run of which this process is the coordinator.
type coordinator struct {
	Config

	began       time.Time
	subjects    subjects
	roster      roster
	meter       lag.Meter // of this machine
	timeline    *timeline
	interrupted bool
	said        phase // the phase that was logged
	saidPushed  bool  // that no agent pushes any more was sent
}

// Coordinate runs a load by agents. It blocks until each agent has reported or is lost; every wait has an end. When ctx
// is done, all agents end their loads and report. A run that is no result is a report that says why; an error is one of
// the connection to the NATS server at the beginning, or of reports that cannot be added up.
func Coordinate(ctx context.Context, config Config) (*load.Result, error) {
	c := &coordinator{Config: config, began: time.Now(), subjects: subjectsOf(config.Token)}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	c.roster = roster{
		plan: c.Plan, version: c.Version, within: cmp.Or(c.Within, joinLimit), connecting: c.Connecting, phase: gathering,
	}
	c.timeline = newTimeline(c.Plan.Run, c.began, c.Watch)
	messages := make(chan *nats.Msg, inbox)
	end, err := c.subscribe(messages)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	defer end()
	c.loop(ctx, messages)
	return c.result()
}

// now is the coordinator's time.
func (c *coordinator) now() time.Duration { return time.Since(c.began) }

// subscribe has the agents' messages come to a channel, and returns what ends that. Questions for the time are answered
// at once, because each delay makes the answer less exact.
func (c *coordinator) subscribe(to chan *nats.Msg) (end func(), err error) {
	var all []*nats.Subscription
	end = func() {
		for _, s := range all {
			_ = s.Unsubscribe() // the connection may be closed, and one that failed is nil
		}
	}
	add := func(s *nats.Subscription, failed error) { all, err = append(all, s), cmp.Or(failed, err) }
	add(c.Conn.Subscribe(c.subjects.clock, func(m *nats.Msg) { c.reply(m, moment{c.now(), time.Now()}) }))
	for _, subject := range []string{c.subjects.join, c.subjects.tick, c.subjects.jobs + "*", c.subjects.done + "*"} {
		add(c.Conn.ChanSubscribe(subject, to))
	}
	if err == nil {
		err = flush(c.Conn)
	}
	if err != nil {
		end()
	}
	return end, err
}

// flush waits until what was sent is at the server.
func flush(conn *nats.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestLimit)
	defer cancel()
	return conn.FlushWithContext(ctx)
}

// loop follows the run until it is over.
func (c *coordinator) loop(ctx context.Context, messages chan *nats.Msg) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	measuring, stop := context.WithCancel(ctx)
	defer stop()
	go c.meter.Run(measuring)
	interrupt := ctx.Done()
	c.publish()
	for c.roster.phase != over {
		due := false
		select {
		case m := <-messages:
			c.receive(m)
		case <-beat.C:
			due = true
			c.receiveAll(messages) // messages of the time in which this process was held up count, before silence is judged
			c.roster.beat(c.meter.Lag(lately()))
			c.timeline.close(c.now())
		case <-interrupt:
			interrupt, c.interrupted = nil, true
			c.roster.stop(c.now(), "the user has interrupted the run")
		}
		c.roster.advance(c.now())
		if due || c.said != c.roster.phase || c.saidPushed != c.roster.pushed() {
			c.publish()
		}
	}
	c.timeline.close(c.now() + time.Hour)
	_ = flush(c.Conn) // that the run is over; who does not hear it hears nothing more, which ends it too
}

// receiveAll handles the messages that are there.
func (c *coordinator) receiveAll(messages chan *nats.Msg) {
	for {
		select {
		case m := <-messages:
			c.receive(m)
		default:
			return
		}
	}
}

// publish sends the state of the run, and logs a new phase.
func (c *coordinator) publish() {
	s := c.roster.state()
	c.saidPushed = s.Pushed
	if c.said != s.Phase {
		c.said = s.Phase
		switch s.Phase {
		case connecting:
			c.Log("all %d agents have joined, and connect", c.Plan.Agents)
		case running:
			c.Log("all agents are ready: the load begins in %v", headStart)
		case stopping:
			c.Log("all agents end their loads: %s", s.Why)
		case gathering, over:
		}
	}
	post(c.Log, "publish the state of the run", s, func(data []byte) error {
		return c.Conn.Publish(c.subjects.state, data)
	})
}

// receive handles a message of an agent.
func (c *coordinator) receive(m *nats.Msg) {
	var err error
	switch m.Subject {
	case c.subjects.join:
		err = c.join(m)
	case c.subjects.tick:
		err = c.tick(m)
	default:
		err = c.take(m)
	}
	if err != nil {
		c.Log("a message that cannot be read (%s): %v", m.Subject, err)
	}
}

func (c *coordinator) join(m *nats.Msg) error {
	var j joining
	if err := json.Unmarshal(m.Data, &j); err != nil {
		return err
	}
	refused := c.roster.join(j)
	if refused != "" {
		c.Log("agent %s refused: %s", j.Name, refused)
	} else {
		c.Log("agent %s has joined (%d of %d)", j.Name, len(c.roster.members), c.Plan.Agents)
	}
	c.reply(m, answer{refused})
	return nil
}

func (c *coordinator) tick(m *nats.Msg) error {
	var t tick
	if err := json.Unmarshal(m.Data, &t); err != nil {
		return err
	}
	c.roster.heard(t)
	of := c.roster.find(t.Name)
	for i := range t.Seconds {
		set, err := c.timeline.add(t.Name, &t.Seconds[i])
		if err != nil {
			return err
		}
		if of != nil {
			of.add(set, &t.Seconds[i])
		}
	}
	return nil
}

// The headers of a piece of a report.
const (
	pieceHeader  = "Fwp-Piece"
	piecesHeader = "Fwp-Pieces"
)

// take takes a piece of a report, or of an account of jobs.
func (c *coordinator) take(m *nats.Msg) error {
	number, isReport := strings.CutPrefix(m.Subject, c.subjects.done)
	if !isReport {
		number = strings.TrimPrefix(m.Subject, c.subjects.jobs)
	}
	place, err := strconv.Atoi(number)
	if err != nil || place < 0 || place >= len(c.roster.members) {
		return fmt.Errorf("no agent has the place %q", m.Subject)
	}
	piece, _ := strconv.Atoi(m.Header.Get(pieceHeader))
	pieces, _ := strconv.Atoi(m.Header.Get(piecesHeader))
	of := c.roster.members[place]
	of.missed = 0
	switch {
	case !isReport:
		of.jobs.take(piece, pieces, m.Data)
	case of.sent.take(piece, pieces, m.Data):
		l := new(results.Load)
		if err := json.Unmarshal(of.sent.data, l); err != nil {
			return err
		}
		of.sent.data = nil
		c.roster.reported(place, l)
		c.Log("agent %s has reported", of.name)
	}
	c.reply(m, answer{})
	return nil
}

func (c *coordinator) reply(to *nats.Msg, with any) {
	post(c.Log, "reply to "+to.Subject, with, to.Respond)
}
