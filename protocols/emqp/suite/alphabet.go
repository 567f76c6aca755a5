package suite

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// maker makes up messages.
type maker struct {
	*explore.Draw
	law   *emqpLaw
	build explore.Builder

	ids       int          // that were used, $id1 and on
	first     int          // the number of the first of the queues that are used now
	control   int          // of the control's queues
	consumer  map[int]bool // connections to the back end
	beatConns map[int]bool // connections to which HEARTBEATs are shown
}

// queues is how many are used at a time.
const queues = 3

// The numbers of connections and queues of the control.
const (
	controlClient = iota
	controlWorker
	controlQueue = 900000
)

func alphabet(d *explore.Draw, l explore.Law) explore.Generator {
	m := newMaker(d, l)
	moves := append(m.workerMoves(), append(m.clientMoves(), m.newRouteMaker().move(m.isClient))...)
	return explore.Generator{Open: m.open, Control: m.controlSteps, Moves: append(moves, m.endMoves()...)}
}

func newMaker(d *explore.Draw, l explore.Law) *maker {
	return &maker{
		Draw: d, law: l.(*emqpLaw), build: explore.Builder{Dialect: emqpscript.Dialect{}}, first: 1,
		consumer: map[int]bool{}, beatConns: map[int]bool{},
	}
}

// open opens a connection of a worker to be, or of any other client. That has HEARTBEATs shown, since none may come
// before its INFORM.
func (m *maker) open(conn int) explore.Step {
	workers := 0
	for n := range m.law.conns {
		workers += b2i(m.consumer[n] && n != controlWorker)
	}
	m.consumer[conn] = workers == 0 || m.IntN(2) == 0
	if m.consumer[conn] {
		return m.build.Open(conn, scenarios.Consumer, "")
	}
	m.beatConns[conn] = m.IntN(2) == 0
	if m.beatConns[conn] {
		return m.build.Open(conn, scenarios.Producer, `{"heartbeats":true}`)
	}
	return m.build.Open(conn, scenarios.Producer, "")
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// move is a message of one kind.
func (m *maker) move(name string, weight float64, fits func(int) bool, text func(conn int) string) explore.Move {
	return explore.Move{Name: name, Weight: weight, Fits: fits, Make: func(conn int) []explore.Step {
		return []explore.Step{m.build.Line(conn, "%s", text(conn))}
	}}
}

// message is a line with a message.
func (m *maker) message(command string, fields ...string) string {
	all := append([]string{`""`, `"eMQP/1.0"`, `"` + command + `"`, m.id()}, fields...)
	return "[" + strings.Join(all, ", ") + "]"
}

// id is a name that no message had.
func (m *maker) id() string {
	m.ids++
	return fmt.Sprintf("$id%d", m.ids)
}

// queue is one of those that are used now: where one is no longer judged, others are.
func (m *maker) queue() string {
	for n := range queues {
		if m.law.unknownQueues[m.Fill(fmt.Sprintf("$queue%d", m.first+n))] {
			m.first += queues
			break
		}
	}
	return fmt.Sprintf("$queue%d", m.first+m.IntN(queues))
}

// What a connection may be for a move.

func (m *maker) hasRole(conn int, r role) bool {
	c := m.law.conns[conn]
	return c != nil && c.role == r && !c.mayBeClosed
}

func (m *maker) isClient(conn int) bool   { return m.hasRole(conn, client) && !m.consumer[conn] }
func (m *maker) isWorker(conn int) bool   { return m.hasRole(conn, worker) }
func (m *maker) isInformed(conn int) bool { return m.isWorker(conn) || m.hasRole(conn, scheduler) }
func (m *maker) isOther(conn int) bool    { return m.law.conns[conn] != nil && !m.isInformed(conn) }

// workerMoves are the moves of workers.
func (m *maker) workerMoves() []explore.Move {
	isNew := func(conn int) bool { return m.hasRole(conn, client) && m.consumer[conn] }
	ready := func(int) string { return m.message(emqp.READY) }
	return []explore.Move{
		m.move("inform", 8, isNew, m.inform),
		m.move("inform, another form", 0.2, isNew, m.informOtherForm),
		m.move("ready", 6, func(conn int) bool { return m.isWorker(conn) && !m.law.conns[conn].isReady }, ready),
		m.move("ready again", 1, func(conn int) bool { return m.isWorker(conn) && m.law.conns[conn].isReady }, ready),
		m.move("reply", 3, func(conn int) bool { return m.isWorker(conn) && len(m.law.conns[conn].outstanding) > 0 },
			m.reply),
		m.move("reply, not asked for", 0.1, func(conn int) bool {
			return m.isWorker(conn) && len(m.law.conns[conn].outstanding) == 0
		}, m.reply),
		m.move("acknowledge", 0.5, func(conn int) bool { return m.isWorker(conn) && m.ids > 0 }, func(int) string {
			return m.message("ACK", fmt.Sprintf("$id%d", 1+m.IntN(m.ids)))
		}),
		m.move("heartbeat", 0.4, m.isInformed, func(int) string { return m.message("HEARTBEAT", m.timestamp()) }),
	}
}

func (m *maker) inform(int) string {
	all := make([]string, 0, queues)
	from := m.IntN(queues)
	m.queue() // it looks for the first
	for n := range 1 + m.IntN(2) {
		all = append(all, fmt.Sprintf(`[%d,\"$queue%d\"]`, 10*(1+m.IntN(4)), m.first+(from+n)%queues))
	}
	return m.message("INFORM", `"[`+strings.Join(all, ",")+`]"`, `"worker"`)
}

func (m *maker) informOtherForm(int) string {
	if m.Terms.Alone && m.IntN(2) == 0 {
		return m.message("INFORM", `"[40, 'email']"`, `"worker"`) // the document's example
	}
	m.ids++
	name := fmt.Sprintf("$queue%d", controlQueue+controlQueue/10+m.ids)
	form := []string{`"[40, '%s']"`, `"[40, \"%s\"]"`, `"[[40, \"%s\"]]"`, `"[40, \"%s\"], [10, \"%[1]s\"]"`}[m.IntN(4)]
	return m.message("INFORM", fmt.Sprintf(form, name), `"worker"`)
}

// sendMalformed is a malformed message, on a connection of its own, of a peer that has not said what it is, or of a
// worker of a queue of its own, which waits for its READY or for a REQUEST.
func (m *maker) sendMalformed(conn int) []explore.Step {
	steps := []explore.Step{explore.End(conn, scenarios.Closed), m.build.Open(conn, scenarios.Consumer, "")}
	state := m.Deal("malformed worker", 3)
	if state > 0 {
		m.ids++
		steps = append(steps, m.build.Line(conn, "%s", m.message(emqp.INFORM,
			fmt.Sprintf(`"[[10,\"$queue%d\"]]"`, controlQueue+controlQueue/10+m.ids), `"worker"`)))
	}
	if state > 1 {
		steps = append(steps, m.build.Line(conn, "%s", m.message(emqp.READY)))
	}
	text := "[" + m.queue() + "]" // the shortest
	if m.Deal("length of malformed worker", 2) == 0 {
		text = m.malformed()
	}
	return append(steps, m.build.Line(conn, "%s", text), end(m, conn), m.open(conn))
}

func (m *maker) reply(int) string {
	id := m.id()
	return fmt.Sprintf(`["", "eMQP/1.0", "REPLY", %s, %s]`, id, m.text(emqp.REPLY))
}

// clientMoves are the moves of clients and schedulers.
func (m *maker) clientMoves() []explore.Move {
	isAlone := func(conn int) bool { return m.isClient(conn) && m.Terms.Alone }
	return []explore.Move{
		m.move("request", 7, m.isClient, func(int) string { return m.request("REQUEST", m.headers()) }),
		m.move("request, any text", 1, m.isClient, func(int) string {
			return m.message(emqp.REQUEST, m.queue(), `""`, m.text(emqp.REQUEST))
		}),
		m.move("publish", 0.5, m.isClient, func(int) string {
			if m.IntN(2) == 0 {
				return m.message("PUBLISH", m.queue(), `"text"`)
			}
			return m.request("PUBLISH", `""`)
		}),
		m.move("inform a scheduler", 1.5, func(conn int) bool {
			return isAlone(conn) && !m.beatConns[conn] && len(m.law.schedulers()) < 2 //nolint:mnd // two are enough
		}, func(int) string { return m.message("INFORM", `""`, `"scheduler"`) }),
		m.move("schedule", 0.6, isAlone, func(int) string {
			return m.request("SCHEDULE", []string{`""`, `"nohaste"`, `"nohaste:True"`}[m.IntN(3)])
		}),
		m.move("unschedule", 0.4, isAlone, func(int) string {
			if m.IntN(4) == 0 {
				return m.message("UNSCHEDULE", `""`, `""`, fmt.Sprintf(`"$id%d text"`, m.ids+1))
			}
			return m.request("UNSCHEDULE", `""`)
		}),
		m.move("malformed", 0.7, m.isClient, func(int) string { return m.malformed() }),
		m.move("another version", 0.2, m.isClient, func(int) string {
			version := []string{"eMQP/9.9", "eMQP/1.1", "emqp/1.0"}[m.IntN(3)]
			return strings.Replace(m.request("REQUEST", `""`), "eMQP/1.0", version, 1)
		}),
		m.move("ping", 0.2, m.isOther, func(int) string { return `PING "\x00\x00abc"` }),
	}
}

// request is a message to a queue, with its own id in its text.
func (m *maker) request(command, headers string) string {
	id := m.id()
	texts := []string{" text", "  ", ` {\"a\":\"ä\"}`, " '\\\"x", " \\\\", ` { \"a\" : 1 }`}
	text := id + texts[m.IntN(len(texts))*b2i(m.Uses("texts"))]
	return fmt.Sprintf(`["", "eMQP/1.0", "%s", %s, %s, %s, "%s"]`, command, id, m.queue(), headers, text)
}

// headers are those of a REQUEST, which often asks for a reply.
func (m *maker) headers() string {
	switch m.IntN(3) {
	case 0:
		return `""`
	case 1:
		return m.requestHeaders()
	}
	return m.requestHeaders(emqp.ReplyRequested)
}

// endMoves are the moves that end a connection, or the broker.
func (m *maker) endMoves() []explore.Move {
	const kbaiWait = 400 * time.Millisecond // for the broker to know of a KBAI
	kbai := func(conn int) []explore.Step {
		return []explore.Step{m.build.Line(conn, "%s", m.message("KBAI")), explore.Wait(kbaiWait)}
	}
	end := func(conn int) explore.Step { return explore.End(conn, scenarios.Closed) }
	return []explore.Move{
		{Name: "leave", Weight: 0.15, Pause: 80, Fits: m.isWorker, Make: kbai},
		{Name: "leave and end", Weight: 0.15, Pause: 80, Fits: m.isWorker, Make: func(conn int) []explore.Step {
			return append(kbai(conn), end(conn))
		}},
		{Name: "scheduler leaves", Weight: 0.02, Pause: 200, Make: kbai, Fits: func(conn int) bool {
			return m.hasRole(conn, scheduler)
		}},
		{Name: "worker ends", Weight: 0.04, Pause: 50, Fits: m.isWorker, Make: func(conn int) []explore.Step {
			return []explore.Step{explore.End(conn, []scenarios.Ending{scenarios.Closed, scenarios.Reset}[m.IntN(2)])}
		}},
		{Name: "client ends", Weight: 0.5, Fits: m.isOther, Make: func(conn int) []explore.Step {
			return []explore.Step{end(conn)}
		}},
		{Name: "bytes", Weight: 0.2, Fits: m.isClient, Make: m.sendBytes},
		{Name: "malformed, to the port of workers", Weight: 0.7, Fits: m.isClient, Make: m.sendMalformed},
		{Name: "disconnect", Weight: 0.02, Pause: 500, Fits: m.mayDisconnect, Make: func(conn int) []explore.Step {
			return []explore.Step{
				m.build.Line(conn, "%s", m.message("DISCONNECT")), explore.Wait(kbaiWait),
				m.build.Line(conn, "%s", m.message("REQUEST", m.readyQueue(), `""`, `"text"`)),
				explore.Disrupt(target.Restart),
			}
		}},
	}
}

// readyQueue is a queue of which a worker has sent a READY, if there is one.
func (m *maker) readyQueue() string {
	for _, n := range m.Free() {
		if c := m.law.conns[n]; m.isWorker(n) && c.isReady {
			return "$" + strings.TrimPrefix(c.queues[0], m.Terms.NamePrefix+"-")
		}
	}
	return m.queue()
}

// mayDisconnect reports whether a client may end the broker, which is started again then.
func (m *maker) mayDisconnect(conn int) bool { return m.Restarts && m.Round > 200 && m.isClient(conn) }

// sendBytes sends what no client would, on a connection of its own, and then asks whether others are served.
func (m *maker) sendBytes(conn int) []explore.Step {
	tokens := m.build.Tokenize(m.handshake())
	for range 1 + m.IntN(4) {
		at := m.IntN(len(tokens))
		switch m.IntN(3) {
		case 0:
			tokens = tokens.Put(at, at+1)
		case 1:
			tokens = tokens.Put(at, at+1, string([]byte{byte(m.IntN(256))}))
		default:
			tokens = tokens.Put(at, at, string([]byte{byte(m.IntN(256))}))
		}
	}
	send := m.build.Bytes(conn, tokens.String())
	send.Ahead = true
	port := []string{"", `{"backend":true}`}[m.Deal("port of bytes", 2)]
	return append([]explore.Step{
		explore.End(conn, scenarios.Closed), m.build.Open(conn, scenarios.Raw, port), send, end(m, conn),
		m.open(conn),
	}, m.controlSteps()...)
}

func end(m *maker, conn int) explore.Step {
	return explore.End(conn, []scenarios.Ending{scenarios.Closed, scenarios.Reset}[m.IntN(2)])
}

// handshake is a greeting, a READY and a REQUEST for a queue that no worker has.
func (m *maker) handshake() string {
	return "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x01NULL" + strings.Repeat("\x00", 48) +
		"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER" +
		"\x01\x00\x01\x08eMQP/1.0\x01\x07REQUEST\x01\x04\x01wild\x01\x04wild\x01\x00\x00\x04wild"
}

// controlSteps has a REQUEST of one client reach one worker, both of which do nothing else.
func (m *maker) controlSteps() []explore.Step {
	steps := []explore.Step{
		m.build.Open(controlClient, scenarios.Producer, ""), m.build.Open(controlWorker, scenarios.Consumer, ""),
	}
	if !m.isWorker(controlWorker) {
		m.control++
		steps = append(steps, m.build.Line(controlWorker, "%s", m.message("INFORM",
			fmt.Sprintf(`"[[10,\"$queue%d\"]]"`, controlQueue+m.control), `"worker"`)))
	}
	m.consumer[controlWorker] = true
	return append(steps,
		m.build.Line(controlWorker, "%s", m.message("READY")),
		m.build.Line(controlClient, "%s", m.message("REQUEST", fmt.Sprintf("$queue%d", controlQueue+m.control), `""`,
			fmt.Sprintf(`"$id%d control"`, m.ids+1))),
	)
}
