package suite

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	"github.com/fwpsuite/fwp/scenarios"
)

// role is what a peer is to the broker.
type role uint8

const (
	client role = iota
	worker
	scheduler
	formerPeer // it has sent KBAI
)

// conn is one connection.
type conn struct {
	role             role
	roleBeforeKBAI   role // before its KBAI
	kbaiAt           time.Time
	queues           []string // of a worker
	oddQueues        []string // those of them whose weight is no percentage
	informUncertain  bool     // of a worker: whether the broker has understood its INFORM is open
	hasForeignInform bool     // it has sent an INFORM of another version
	isNameless       bool     // it has no identity
	namesQueues      bool     // of a scheduler: its INFORM names queues
	isReady          bool     // of a worker: it has sent a READY since its last REQUEST
	deliveries       int      // REQUESTs that it got
	lastRequest      *message // the last one of them
	hasAcked         bool     // it has sent an ACK since the last one
	hasReplied       bool     // it has sent a REPLY since the last one
	outstanding      []*message
	lastSent         time.Time // when it sent its last message
	lastHeard        time.Time // when the broker sent it the last one, or it has sent its INFORM
	lastBeat         time.Time // when the last HEARTBEAT came, zero for none
	isSilent         bool      // it answers no HEARTBEATs
	wasIdle          bool      // it has sent nothing for long since its last REQUEST
	isUnframed       bool      // what is sent on it is not known to be messages
	hasSent          bool      // it has sent a message
	mayBeClosed      bool      // the broker may close it
	acks             acks
}

// message is a REQUEST, SCHEDULE or UNSCHEDULE that was sent.
type message struct {
	emqp.Message
	from              int
	at                time.Time
	isRequired        bool         // it has to reach a peer
	isDone            bool         // it has reached one, or is not followed any more
	repliedEarly      bool         // a worker has sent the REPLY before it got the REQUEST
	isAfterDisconnect bool         // the broker had been sent a DISCONNECT
	isAmbiguous       bool         // it may be another one that the worker got
	isUnjudged        bool         // what comes of it is not judged
	isAnswered        bool         // its client has got the REPLY
	hasWaited         bool         // no worker of its queue was ready for it
	to                map[int]bool // of an UNSCHEDULE: the schedulers that have not got it
	isReached         bool         // a scheduler has got it
}

// reply is a REPLY that a worker has sent.
type reply struct {
	emqp.Message
	worker     int
	at         time.Time
	to         []int // the clients of which one gets it
	isRequired bool  // one of them has to
	isDone     bool
}

// emqpLaw follows the clients and workers of a broker. The document does not say which REQUEST of a queue comes first,
// to which of its workers it goes, and whether a worker needs a READY for it: a worker of the queue may get any, at any
// time, and has to get one if it has sent a READY since its last one: whether READYs are counted, or a worker is ready
// or not, is open. Where a worker goes without a KBAI, what becomes of its queues is open from then on.
type emqpLaw struct {
	terms            law.Terms
	conns            map[int]*conn
	messages         []*message
	replies          []*reply
	foreignIDs       []string                     // ids of messages of another version
	sentIDs          map[string]time.Time         // ids of all messages that were sent, and when
	hashes           map[string][sha256.Size]byte // a hash of each message of the broker, by its id
	unknownQueues    map[string]bool              // queues of which nothing is known any more
	kbaiTimes        map[string]time.Time         // when a worker of a queue has sent KBAI last
	lastClause       string                       // the clause by which the last message is served
	passedCommands   map[string]bool              // whether a SCHEDULE has reached a scheduler, and an UNSCHEDULE two
	isUnbounded      bool                         // bytes were sent that may be any messages
	hasLostScheduler bool                         // a scheduler went without KBAI: where a SCHEDULE goes is open
	schedulerKBAIAt  time.Time                    // when a scheduler has sent KBAI last
	// REQUESTs that have reached a worker in spite of what may keep them from it
	causeCounts       map[cause]int
	disturbanceClause string           // the clause of the last message that is to change nothing for others
	isLeaving         bool             // the broker was sent a DISCONNECT
	leftAt            time.Time        // when
	clock             law.Clock        // of the broker
	beats             map[role]*rhythm // of the broker's HEARTBEATs
	pendingKBAIs      map[int]bool     // connections that have not got their KBAI then
}

func newLaw(t law.Terms) *emqpLaw {
	return &emqpLaw{
		terms: t, conns: map[int]*conn{}, unknownQueues: map[string]bool{}, kbaiTimes: map[string]time.Time{},
		pendingKBAIs: map[int]bool{},
		sentIDs:      map[string]time.Time{}, hashes: map[string][sha256.Size]byte{}, causeCounts: map[cause]int{},
		passedCommands: map[string]bool{}, beats: map[role]*rhythm{worker: {}, scheduler: {}},
	}
}

// maxMessages is how many messages are remembered that are over, and how many REPLYs.
const maxMessages = 2000

func (l *emqpLaw) Open(number int, at time.Time) {
	l.conns[number] = &conn{lastSent: at}
}
func (l *emqpLaw) HalfClose(number int)          { l.conns[number].mayBeClosed = true }
func (*emqpLaw) Heartbeat(int, time.Time) string { return "" } // the connection answers those of the broker
func (*emqpLaw) Value(int, string) string        { return "" }
func (l *emqpLaw) Operated(action target.Action, _ string) {
	if !action.OnWorker() {
		l.terms.History.Restarted()
		l.forget()
	}
}

// Introduce returns "": INFORM is a message like others.
func (l *emqpLaw) Introduce(number int, c *scenarios.Connect) string {
	l.conns[number].isUnframed = c.Role == scenarios.Raw
	l.conns[number].isSilent = c.Hello != nil && strings.Contains(c.Hello.String(), `"silent":true`)
	l.conns[number].isNameless = c.Hello != nil && strings.Contains(c.Hello.String(), `"identity":""`)
	return ""
}

// forget ends the judging of all that was sent.
func (l *emqpLaw) forget() {
	l.StopJudging("")
	l.isLeaving, l.hasLostScheduler = false, false
	clear(l.pendingKBAIs)
	clear(l.hashes)
}

// State names the state of a connection.
func (l *emqpLaw) State(number int) string {
	c := l.conns[number]
	switch {
	case c == nil:
		return "closed"
	case c.role == formerPeer:
		return "after KBAI"
	case c.role == worker && c.isReady:
		return "ready worker"
	case c.role == worker:
		return "worker"
	case c.role == scheduler:
		return "scheduler"
	}
	return "client"
}

// StopJudging ends the judging of a message, of all if it is empty.
func (l *emqpLaw) StopJudging(id string) {
	for _, x := range l.messages {
		if id == "" || x.ID == id {
			x.isDone, x.isUnjudged = true, true
		}
		l.unknownQueues[x.text(0)] = l.unknownQueues[x.text(0)] || id == "" && x.Command == emqp.REQUEST
	}
	for _, r := range l.replies {
		r.isDone = r.isDone || id == "" || r.ID == id
	}
	if id != "" {
		return
	}
	l.messages, l.replies, l.disturbanceClause = nil, nil, ""
	for _, c := range l.conns {
		c.outstanding = nil
		for _, name := range c.queues {
			l.unknownQueues[name] = true
		}
	}
}

// Close follows the end of a connection. It is a breach if the broker ended that of a worker or scheduler without
// reason.
func (l *emqpLaw) Close(number int, byServer bool, _ time.Time) *law.Violation {
	c := l.conns[number]
	delete(l.conns, number)
	delete(l.pendingKBAIs, number)
	if c == nil {
		return nil
	}
	if byServer {
		l.recordUnread(number)
	}
	l.removeConn(number)
	l.hasLostScheduler = l.hasLostScheduler || c.role == scheduler
	if c.role == worker {
		for _, name := range c.queues {
			l.unknownQueues[name] = true
		}
	}
	if !byServer || c.mayBeClosed || l.isLeaving || c.role != worker && c.role != scheduler {
		return nil
	}
	return &law.Violation{
		Clause: prefix + "SOCK-08", Rule: explore.RuleClosed, Expected: "an open connection", Got: "<close>",
	}
}

// recordUnread records that the broker has ended a connection, and may not have read what was sent on it last.
func (l *emqpLaw) recordUnread(number int) {
	for _, x := range l.messages {
		x.isRequired = x.isRequired && x.from != number
	}
	for _, r := range l.replies {
		r.isRequired = r.isRequired && r.worker != number
	}
}

// removeConn records that a connection gets no message any more. Another one may have its number later.
func (l *emqpLaw) removeConn(number int) {
	for _, x := range l.messages {
		if delete(x.to, number); x.from == number {
			x.from = none
		}
	}
	for _, r := range l.replies {
		count := len(r.to)
		r.to = slices.DeleteFunc(r.to, func(n int) bool { return n == number })
		r.isRequired = r.isRequired && len(r.to) == count
	}
}

// none is the number of no connection.
const none = -1

// Clause returns the clause that is broken by what the player itself sees.
func (*emqpLaw) Clause(rule string) string {
	kind, _, _ := strings.Cut(rule, ":")
	switch kind {
	case explore.RuleGrammar:
		return ClauseOf(rule)
	case explore.RuleCut:
		return prefix + "SOCK-03"
	case explore.RuleCrash:
		return prefix + "FRAME-07"
	}
	return prefix + "SOCK-02"
}

// Escapes reports whether bytes may end the broker, or reach the schedulers of others. One message that the document
// allows is one that was made so.
func (l *emqpLaw) Escapes(segments ...[]byte) bool {
	all := slices.Concat(segments...)
	if item, err := emqpscript.ParseSent(all); err == nil && item.Kind == zmtp.IsMessage {
		if _, err := emqp.Parse(item.Parts); err == nil {
			return false
		}
	}
	text := string(all)
	return strings.Contains(text, emqp.DISCONNECT) || !l.terms.Alone && strings.Contains(text, emqp.SCHEDULE)
}

// text returns a frame behind the id, "" if there is none.
func (x *message) text(i int) string {
	if i < len(x.Fields) {
		return string(x.Fields[i])
	}
	return ""
}

// find returns the message that the broker passes on as another one: by its content, by its id, by the id that is in
// its text, or as one that has still to come with that queue and that text, whatever its headers are.
func (l *emqpLaw) find(m emqp.Message) (best *message) {
	byID := func(x *message) bool { return x.ID == m.ID }
	content := func(x *message) bool { return x.equals(m) }
	last := len(m.Fields) - 1
	named := func(x *message) bool { return mentions(m.Fields[last], x.ID) }
	for _, fits := range []func(*message) bool{
		func(x *message) bool { return byID(x) && content(x) },
		func(x *message) bool { return !x.isDone && content(x) }, byID, named, content,
		func(x *message) bool {
			return !x.isDone && x.text(0) == string(m.Fields[0]) && x.text(last) == string(m.Fields[last])
		},
	} {
		for _, x := range l.messages {
			if x.Command == m.Command && fits(x) {
				best = x
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// equals reports whether a message has the command and all frames behind the id of another one.
func (x *message) equals(m emqp.Message) bool {
	return x.Command == m.Command &&
		slices.EqualFunc(x.Fields, m.Fields, func(a, b []byte) bool { return string(a) == string(b) })
}

// mentions reports whether an id is in a text, and not only as the beginning of a longer one.
func mentions(text []byte, id string) bool {
	_, rest, ok := strings.Cut(string(text), id)
	return ok && strings.IndexAny(rest, "0123456789") != 0
}

// judgeZMTP is the answer to what belongs to ZMTP: a READY, an ERROR or a PONG.
func (l *emqpLaw) judgeZMTP(number int, m session.Message) law.Answer {
	state, name := l.State(number), strings.ToLower(string(m.Text))
	a := law.Answer{
		Reply: true, IsJudged: true, Normal: []string{name}, State: state, Outcome: name + " of the socket, " + state,
	}
	a.Rules.KeptRules = []string{"socket"}
	if b := judgeSocket(m); b != nil {
		a.Violation = b.violation(zmtp.READY, "", emqpscript.Dialect{}.Text(m))
	}
	return a
}
