package emqpsubject

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/emqpsuite"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
	"github.com/fwpsuite/fwp/zmtp"
)

// role is what a peer is to the broker.
type role uint8

const (
	client role = iota
	worker
	scheduler
	gone // it has sent KBAI
)

// conn is one connection.
type conn struct {
	role    role
	was     role // before its KBAI
	left    time.Time
	queues  []string // of a worker
	vague   bool     // of a worker: whether the broker has understood its INFORM is open
	credit  int      // of a worker: READYs without a REQUEST
	had     int      // REQUESTs that it got
	acked   bool     // it has sent an ACK since the last one
	replied bool     // it has sent a REPLY since the last one
	owes    []*message
	said    time.Time // when it sent its last message
	idled   bool      // it has sent nothing for long since its last REQUEST
	raw     bool      // what is sent on it is not known to be messages
	spoke   bool      // it has sent a message
	odd     bool      // the broker may close it
}

// message is a REQUEST, SCHEDULE or UNSCHEDULE that was sent.
type message struct {
	emqp.Message
	from   int
	at     time.Time
	firm   bool         // it has to reach a peer
	over   bool         // it has reached one, or is not followed any more
	early  bool         // a worker has sent the REPLY before it got the REQUEST
	late   bool         // the broker had been sent a DISCONNECT
	waited bool         // no worker of its queue was ready for it
	to     map[int]bool // of an UNSCHEDULE: the schedulers that have not got it
}

// reply is a REPLY that a worker has sent.
type reply struct {
	emqp.Message
	worker int
	to     []int // the clients of which one gets it
	firm   bool  // one of them has to
	over   bool
}

// law follows the clients and workers of a broker. The document does not say which REQUEST of a queue comes first, to
// which of its workers it goes, and whether a worker needs a READY for it: a worker of the queue may get any, at any
// time, and has to get one if it has sent a READY that no REQUEST has used up. Where a worker goes without a KBAI,
// what becomes of its queues is open from then on.
type law struct {
	terms     explore.Terms
	conns     map[int]*conn
	messages  []*message
	replies   []*reply
	foreign   []string             // ids of messages of another version
	open      map[string]bool      // queues of which nothing is known any more
	left      map[string]time.Time // when a worker of a queue has sent KBAI last
	last      string               // the clause by which the last message is served
	wild      bool                 // bytes were sent that may be any messages
	moved     bool                 // a scheduler has left: where a SCHEDULE goes is open
	disrupted string               // the clause of the last message that is to change nothing for others
	leaving   bool                 // the broker was sent a DISCONNECT
	leftAt    time.Time            // when
	farewells map[int]bool         // connections that have not got their KBAI then
}

func newLaw(t explore.Terms) *law {
	return &law{
		terms: t, conns: map[int]*conn{}, open: map[string]bool{}, left: map[string]time.Time{}, farewells: map[int]bool{},
	}
}

// prefix is that of all clauses.
const prefix = "EMQP-"

// most is how many messages are remembered that are over.
const most = 2000

func (l *law) Open(number int, at time.Time) { l.conns[number] = &conn{said: at} }
func (*law) Shut(int)                        {}
func (*law) Heartbeat(int, time.Time) string { return "" } // the connection answers those of the broker
func (*law) Value(int, string) string        { return "" }
func (l *law) Operated(o *scenarios.Operate) {
	if o.Action == scenarios.NeedRestart {
		l.forget()
	}
}

// Introduce returns "": INFORM is a message like others.
func (l *law) Introduce(number int, c *scenarios.Connect) string {
	l.conns[number].raw = c.Role == scenarios.Raw
	return ""
}

// forget ends the judging of all that was sent.
func (l *law) forget() {
	l.Unjudge("")
	l.leaving, l.moved = false, false
	clear(l.farewells)
}

// State names the state of a connection.
func (l *law) State(number int) string {
	c := l.conns[number]
	switch {
	case c == nil:
		return "closed"
	case c.role == gone:
		return "after KBAI"
	case c.role == worker && c.credit > 0:
		return "ready worker"
	case c.role == worker:
		return "worker"
	case c.role == scheduler:
		return "scheduler"
	}
	return "client"
}

// Unjudge ends the judging of a message, of all if it is empty.
func (l *law) Unjudge(id string) {
	for _, x := range l.messages {
		x.over = x.over || id == "" || x.ID == id
	}
	for _, r := range l.replies {
		r.over = r.over || id == "" || r.ID == id
	}
	if id != "" {
		return
	}
	l.messages, l.replies, l.disrupted = nil, nil, ""
	for _, c := range l.conns {
		c.owes = nil
		for _, name := range c.queues {
			l.open[name] = true
		}
	}
}

// Close follows the end of a connection. It is a breach if the broker ended that of a worker or scheduler without
// reason.
func (l *law) Close(number int, byServer bool, _ time.Time) *explore.Violation {
	c := l.conns[number]
	delete(l.conns, number)
	delete(l.farewells, number)
	if c == nil {
		return nil
	}
	l.absent(number)
	if c.role == scheduler || c.was == scheduler {
		l.moved = true
	}
	if c.role == worker {
		for _, name := range c.queues {
			l.open[name] = true
		}
	}
	if !byServer || c.odd || l.leaving || c.role != worker && c.role != scheduler {
		return nil
	}
	return &explore.Violation{
		Clause: prefix + "SOCK-08", Rule: "closed", Expected: "an open connection", Got: "<close>",
	}
}

// absent records that a connection gets no message any more. Another one may have its number later.
func (l *law) absent(number int) {
	for _, x := range l.messages {
		if delete(x.to, number); x.from == number {
			x.from = none
		}
	}
	for _, r := range l.replies {
		before := len(r.to)
		r.to = slices.DeleteFunc(r.to, func(n int) bool { return n == number })
		r.firm = r.firm && len(r.to) == before
	}
}

// none is the number of no connection.
const none = -1

// Clause returns the clause that is broken by what the player itself sees.
func (*law) Clause(rule string) string {
	kind, detail, _ := strings.Cut(rule, ":")
	switch kind {
	case explore.RuleGrammar:
		return emqpsuite.Protocol().ClauseOf("grammar:" + detail)
	case explore.RuleCut:
		return prefix + "SOCK-03"
	case explore.RuleCrash:
		return prefix + "FRAME-07"
	}
	return prefix + "SOCK-02"
}

// Escapes reports whether bytes may end the broker, or reach the schedulers of others. One message that the document
// allows is one that was made so.
func (l *law) Escapes(segments ...[]byte) bool {
	all := slices.Concat(segments...)
	if item, err := emqpdialect.ParseSent(all); err == nil && item.Kind == zmtp.IsMessage {
		if _, err := emqp.Parse(item.Parts); err == nil {
			return false
		}
	}
	text := string(all)
	return strings.Contains(text, emqp.DISCONNECT) || !l.terms.Alone && strings.Contains(text, emqp.SCHEDULE)
}

// Sent follows what a client sends.
func (l *law) Sent(number int, all []byte, wild bool, at time.Time) explore.Sent {
	const many, idle = 1 << 20, 8 * time.Second
	c := l.conns[number]
	c.idled = c.idled || at.Sub(c.said) > idle
	c.said = at
	if wild || c.raw {
		l.wild, c.odd = true, true
		l.disrupted = prefix + "FRAME-07"
		return explore.Sent{Clause: l.disrupted, Most: many}
	}
	item, err := emqpdialect.ParseSent(all)
	if err == nil && item.Kind == zmtp.IsCommand && item.Command.Name == zmtp.PING {
		return explore.Sent{Clause: l.last, Owed: 1, Judged: true} // it ends no broker: what was sent before may
	}
	var m emqp.Message
	if err == nil {
		m, err = emqp.Parse(item.Parts)
	}
	if err != nil {
		return l.malformed(c, item.Parts)
	}
	c.spoke = true
	l.last = prefix + l.sent(number, c, m, at)
	return explore.Sent{Clause: l.last, Ends: m.Command == emqp.DISCONNECT}
}

// malformed follows a message that the document does not allow: it changes nothing.
func (l *law) malformed(c *conn, frames [][]byte) explore.Sent {
	const version, id = 1, 3
	l.disrupted, c.odd = prefix+"FRAME-07", true
	if len(frames) > id && len(frames[id]) > 0 && string(frames[version]) != emqp.Version {
		l.foreign = append(l.foreign, string(frames[id]))
		return explore.Sent{Clause: prefix + "FRAME-06"}
	}
	return explore.Sent{Clause: l.disrupted}
}

// sent follows a message, and returns the clause by which it is served.
func (l *law) sent(number int, c *conn, m emqp.Message, at time.Time) string {
	switch m.Command {
	case emqp.INFORM:
		return l.inform(c, m)
	case emqp.READY:
		if c.role == worker {
			c.credit++
		}
		return "READY-01"
	case emqp.REQUEST:
		return l.request(number, m, at)
	case emqp.PUBLISH:
		l.disrupted = prefix + "PUB-01"
		return "PUB-01"
	case emqp.SCHEDULE, emqp.UNSCHEDULE:
		return l.schedule(number, m, at)
	case emqp.REPLY:
		c.replied = true
		l.reply(number, c, m)
		return "REPLY-04"
	case emqp.ACK:
		c.acked = true
		return "ACK-02"
	case emqp.KBAI:
		l.absent(number)
		return l.kbai(c, at)
	case emqp.DISCONNECT:
		l.Unjudge("")
		l.leaving, l.leftAt = true, at
		for n, other := range l.conns {
			if other.spoke && !other.odd && other.role != gone {
				l.farewells[n] = true
			}
		}
		return "DISC-01"
	}
	return "BEAT-05"
}

// inform follows an INFORM. Of one in another form than JSON, and of a second one, the document does not say what it
// does.
func (l *law) inform(c *conn, m emqp.Message) string {
	c.vague = c.vague || c.role != client
	if string(m.Fields[1]) == emqp.TypeScheduler {
		l.moved = l.moved || c.vague
		c.role = scheduler
		return "INF-04"
	}
	c.role = worker
	queues, _ := emqp.ParseQueues(string(m.Fields[0])) // Parse has checked it
	clause := "INF-01"
	if emqp.FormatQueues(queues...) != string(m.Fields[0]) {
		c.vague, clause = true, "INF-03"
		l.disrupted = prefix + clause
	}
	for _, q := range queues {
		c.queues = append(c.queues, q.Name)
		l.open[q.Name] = l.open[q.Name] || c.vague
	}
	return clause
}

// workersOf returns the connections of the workers of a queue.
func (l *law) workersOf(queue string) (all []int) {
	for _, n := range slices.Sorted(maps.Keys(l.conns)) {
		if c := l.conns[n]; c.role == worker && slices.Contains(c.queues, queue) {
			all = append(all, n)
		}
	}
	return all
}

// follow keeps a message, and forgets old ones.
func (l *law) follow(x *message) {
	if len(l.messages) >= 2*most {
		kept := slices.DeleteFunc(slices.Clone(l.messages[:most]), func(x *message) bool { return x.over })
		l.messages = append(kept, l.messages[most:]...)
	}
	l.messages = append(l.messages, x)
}

// request follows a REQUEST. One that no worker has named may be kept or not. One that is sent when a worker of its
// queue says KBAI may be on its way to that one.
func (l *law) request(from int, m emqp.Message, at time.Time) string {
	queue := string(m.Fields[0])
	all := l.workersOf(queue)
	crossed := at.Sub(l.left[queue]) <= l.terms.Slack
	x := &message{Message: m, from: from, at: at, firm: len(all) > 0 && !crossed}
	x.late = l.leaving && at.Sub(l.leftAt) > l.terms.Slack
	x.waited = !slices.ContainsFunc(all, func(n int) bool { return l.conns[n].credit > 0 })
	l.follow(x)
	if !utf8.Valid(m.Fields[2]) {
		return "REQ-05"
	}
	return "REQ-01"
}

// schedulers returns their connections.
func (l *law) schedulers() map[int]bool {
	all := map[int]bool{}
	for n, c := range l.conns {
		if c.role == scheduler && !c.vague {
			all[n] = true
		}
	}
	return all
}

// schedule follows a SCHEDULE or UNSCHEDULE.
func (l *law) schedule(from int, m emqp.Message, at time.Time) string {
	x := &message{Message: m, from: from, at: at, to: l.schedulers()}
	x.firm = l.terms.Alone && len(x.to) > 0
	if m.Command == emqp.UNSCHEDULE {
		l.follow(x)
		return "UNSCH-01"
	}
	x.firm = x.firm && !l.moved
	l.follow(x)
	return "SCHED-01"
}

// reply follows a REPLY of a worker. It names no REQUEST: where several want one, which of their clients gets it is
// open.
func (l *law) reply(number int, c *conn, m emqp.Message) {
	r := &reply{Message: m, worker: number, firm: true}
	for _, x := range c.owes {
		if x.from == none { // it may be for that one
			r.firm = false
			continue
		}
		r.to = append(r.to, x.from)
	}
	for _, x := range l.messages { // the REQUEST may be on its way
		h, _ := emqp.ParseHeaders(x.text(1))
		if !x.over && x.from != none && slices.Contains(c.queues, x.text(0)) && h.Has(emqp.ReplyRequested) {
			r.to = append(r.to, x.from)
			r.firm = r.firm && len(c.owes) > 0
		}
	}
	if len(r.to) > 0 {
		l.replies = append(l.replies[max(0, len(l.replies)-most):], r)
	}
}

// kbai follows the KBAI of a peer. What waits for its queues, and has no other worker, may be dropped.
func (l *law) kbai(c *conn, at time.Time) string {
	clause := "KBAI-01"
	if c.role == scheduler {
		clause, l.moved = "KBAI-02", true
		for _, x := range l.messages {
			x.firm = x.firm && x.Command == emqp.REQUEST
		}
	}
	c.was, c.role, c.left = c.role, gone, at
	for _, name := range c.queues {
		l.left[name] = at
		for _, x := range l.messages {
			if x.Command == emqp.REQUEST && string(x.Fields[0]) == name && !x.over {
				x.firm = false
			}
		}
	}
	return clause
}

// text returns a frame behind the id, "" if there is none.
func (x *message) text(i int) string {
	if i < len(x.Fields) {
		return string(x.Fields[i])
	}
	return ""
}

// find returns the message that the broker passes on as another one: by its content, by its id, or by the id that is
// in its text.
func (l *law) find(m emqp.Message) (best *message) {
	content := func(x *message) bool {
		return !x.over && slices.EqualFunc(x.Fields, m.Fields, func(a, b []byte) bool { return string(a) == string(b) })
	}
	named := func(x *message) bool {
		return mentions(m.Fields[len(m.Fields)-1], x.ID)
	}
	for _, fits := range []func(*message) bool{content, func(x *message) bool { return x.ID == m.ID }, named} {
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

// mentions reports whether an id is in a text, and not only as the beginning of a longer one.
func mentions(text []byte, id string) bool {
	_, behind, is := strings.Cut(string(text), id)
	return is && strings.IndexAny(behind, "0123456789") != 0
}

// ofZMTP is the answer to what belongs to ZMTP: a READY, an ERROR or a PONG.
func (l *law) ofZMTP(number int, m session.Message) explore.Answer {
	state, name := l.State(number), strings.ToLower(string(m.Text))
	return explore.Answer{
		Reply: true, Judged: true, Normal: []string{name}, State: state, Outcome: name + " of the socket, " + state,
	}
}
