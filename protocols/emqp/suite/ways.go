package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/scenarios"
)

// The connections of the ways.
const (
	firstClient = 20 + iota
	firstWorker
	secondClient
	secondWorker
	leaver // a client that leaves, or that sends what must not disturb others
	schedulerOne
	schedulerTwo
	leavingClient
	leavingWorker
	stayingWorker
	leavingScheduler // the first of several
)

// Values returns eMQP as [Alphabet] does, with nothing but messages that reach their peers in each way that there is:
// so each bucket of values soon comes back once.
func Values() *explore.Alphabet {
	s := Alphabet()
	s.Generate = func(d *explore.Draw, l explore.Law) explore.Generator {
		m := newMaker(d, l)
		w := m.newRouteMaker()
		return explore.Generator{
			Open:  func(conn int) explore.Step { return m.build.Open(conn, scenarios.Producer, "") },
			Moves: []explore.Move{w.move(func(int) bool { return true })},
			Done:  func() bool { return w.hasSentAll() && w.wayCount >= minWays && w.parting == nil },
		}
	}
	return s
}

// minWays is how many ways there are at least in an exploration of values, and squadWays how many of them the same
// workers see.
const minWays, squadWays = 160, 24

// routeMaker makes up ways of messages from the client to a worker or scheduler, and back.
type routeMaker struct {
	*maker

	wayCount      int
	squadWay      int            // in which way the workers were called last
	queues        [2][]string    // the queues of the workers, as frames of lines
	commandCounts map[string]int // how many messages there were of a command

	parting *parting // that is under way, nil if none is

	peers, capitals int // identities that were made, and those among them that differ in a capital
}

func (m *maker) newRouteMaker() *routeMaker {
	return &routeMaker{maker: m, commandCounts: map[string]int{}}
}

// move is the next way, whatever connection it is asked for.
func (w *routeMaker) move(fits func(int) bool) explore.Move {
	return explore.Move{Name: "way", Weight: 0.3, Fits: fits, Make: w.next}
}

// next returns the steps of the next way. What a connection sends at once is not looked at one by one, but for a READY,
// whose REQUEST comes first: a broker need not count READYs.
func (w *routeMaker) next(int) []explore.Step {
	steps := w.way()
	for i := range len(steps) - 1 {
		do, next := steps[i].Sends(), steps[i+1].Sends()
		steps[i].Ahead = do != nil && next != nil && next.Ending == scenarios.Open && steps[i].Conn() == steps[i+1].Conn() &&
			!strings.Contains(steps[i].Text(), quote(emqp.READY))
	}
	return steps
}

// way returns the steps of the next way.
func (w *routeMaker) way() []explore.Step {
	w.wayCount++
	if w.squadWay == 0 || w.wayCount-w.squadWay >= squadWays || !w.isSquadConnected() {
		w.squadWay = w.wayCount
		return w.callSquad()
	}
	all := []func() []explore.Step{
		w.workersWait, w.requestsWait, w.severalWait, w.clientLeaves, w.replyTogether, w.replyInTurn, w.replyReversed,
		w.replyUnrequested,
		w.disturb, w.scheduleSeveral, w.crowd,
	}
	return slices.Concat(w.heartbeats(), w.partingSteps(), all[w.Deal("way", len(all))]())
}

// hasSentAll reports whether each message was sent once in a REQUEST.
func (w *routeMaker) hasSentAll() bool { return w.commandCounts[emqp.REQUEST] >= len(messages()) }

// isSquadConnected reports whether the workers and clients of the ways are connected.
func (w *routeMaker) isSquadConnected() bool {
	return w.isWorker(firstWorker) && w.isWorker(secondWorker) && w.isClient(firstClient) && w.isClient(secondClient)
}

// heartbeats are HEARTBEATs of all that have informed, now and then: a broker that sends other messages sends none,
// which would be answered. (Heartbeating)
func (w *routeMaker) heartbeats() (steps []explore.Step) {
	const period = 6
	for _, conn := range []int{firstWorker, secondWorker, schedulerOne, schedulerTwo} {
		if w.wayCount%period == 0 && w.isInformed(conn) {
			steps = append(steps, w.build.Line(conn, "%s", w.message(emqp.HEARTBEAT, w.timestamp())))
		}
	}
	return steps
}

// callSquad has both workers come, with queues whose names are nearly alike, and two clients and two schedulers.
func (w *routeMaker) callSquad() []explore.Step {
	const short = 40 // bytes of a text that another one stands behind
	sizes := []int{1, 2, 3, 4, 7, 8, 9, 10, 16, 17, 31, 33}
	w.queues = [2][]string{}
	for range sizes[w.Deal("queues", len(sizes))] {
		w.first++
		name, text := fmt.Sprintf("$queue%d", w.first), w.value("queue", names())
		if len(text) < short {
			text += w.value("queue", names())
		}
		other := w.similarName(text)
		w.queues[0] = append(w.queues[0], frame(name, text))
		if other != text {
			w.queues[1] = append(w.queues[1], frame(name, other))
		}
	}
	w.first++
	w.queues[1] = append(w.queues[1], fmt.Sprintf(`"$queue%d"`, w.first))
	steps := []explore.Step{
		w.open(firstClient, scenarios.Producer), w.open(secondClient, scenarios.Producer),
	}
	w.first++
	shared := []string{fmt.Sprintf(`"$queue%d"`, w.first)}
	for i, conn := range []int{firstWorker, secondWorker} {
		if w.isWorker(conn) {
			steps = append(steps, w.build.Line(conn, "%s", w.message(emqp.KBAI)))
		}
		steps = append(steps, w.open(conn, scenarios.Consumer), w.inform(conn, append(slices.Clip(w.queues[i]), shared...)))
		if conn == firstWorker { // a REQUEST waits when the other one comes
			text := fmt.Sprintf(`"$id%d text"`, w.ids+1)
			steps = append(steps, w.build.Line(firstClient, "%s", w.message(emqp.REQUEST, shared[0], `""`, text)))
		}
	}
	steps = append(steps, w.sendReady(secondWorker))
	if w.Terms.Alone && len(w.law.schedulers()) == 0 { // it may wait for one
		steps = append(steps, w.send(firstClient, emqp.SCHEDULE, w.queues[0][0], `"nohaste"`))
	}
	for _, conn := range []int{schedulerOne, schedulerTwo} {
		if w.Terms.Alone && !w.hasRole(conn, scheduler) {
			steps = append(steps, w.informScheduler(conn)...)
		}
	}
	return steps
}

// informScheduler has a scheduler come. Its queues are not used. (eMQP / Scheduler)
func (w *routeMaker) informScheduler(conn int) []explore.Step {
	queues := []string{`"[]"`, `"[[10,\"default\"]]"`, `"unused"`, `"[[10, 'a'], [20, 'b']]"`, `" "`}
	queue := `""`
	if conn != schedulerOne {
		queue = queues[w.Deal("queues of a scheduler", len(queues))]
	}
	return []explore.Step{
		w.open(conn, scenarios.Producer), w.build.Line(conn, "%s", w.message(emqp.INFORM, queue, `"scheduler"`)),
	}
}

// inform has a worker announce queues, each with a weight of its own or all with one.
func (w *routeMaker) inform(conn int, queues []string) explore.Step {
	all, isUniform, weight := make([]string, len(queues)), w.Deal("weights", 2) == 0, ""
	for i, q := range queues {
		if weight == "" || !isUniform {
			weight = w.value("weight", weights())
		}
		all[i] = fmt.Sprintf(`[%s,\"%s\"]`, weight, q[1:len(q)-1])
	}
	return w.build.Line(conn, "%s", w.message(emqp.INFORM, `"[`+strings.Join(all, ",")+`]"`, `"worker"`))
}

// send is a REQUEST, SCHEDULE or UNSCHEDULE, all frames of which are drawn.
func (w *routeMaker) send(conn int, command, queue, headers string) explore.Step {
	w.commandCounts[command]++
	return w.build.Line(conn, "[%s]", strings.Join([]string{
		`""`, `"eMQP/1.0"`, quote(command), w.oddID(), queue, headers, w.text(command),
	}, ", "))
}

// request is a REQUEST to a queue of a worker, 0 or 1.
func (w *routeMaker) request(conn, worker int) explore.Step {
	return w.requestTo(w.queues[worker], conn)
}

// requestTo is a REQUEST to one of some queues.
func (w *routeMaker) requestTo(queues []string, conn int, headers ...string) explore.Step {
	return w.send(conn, emqp.REQUEST, queues[w.IntN(len(queues))], w.requestHeaders(headers...))
}

// requestReply is a REQUEST to the first worker that asks for a reply.
func (w *routeMaker) requestReply(conn int) explore.Step {
	return w.requestTo(w.queues[0], conn, emqp.ReplyRequested)
}

func (w *routeMaker) sendReady(conn int) explore.Step {
	return w.build.Line(conn, "%s", w.message(emqp.READY))
}

func (w *routeMaker) sendReply(conn int) explore.Step {
	w.commandCounts[emqp.REPLY]++
	return w.build.Line(conn, "%s", w.message(emqp.REPLY, w.text(emqp.REPLY)))
}

// oddID is an id with what a peer may be tempted to change behind its name: capitals, digits, blanks, length.
func (w *routeMaker) oddID() string {
	w.ids++
	name := fmt.Sprintf("%s$id%d", []string{"", "0", " ", "00x"}[w.IntN(4)], w.ids)
	return frame(name, w.value("id", names()))
}

// messageCount is a number of messages that go a way together.
func (w *routeMaker) messageCount() int {
	sizes := []int{2, 3, 4, 5, 8, 9, 16, 17, 33}
	return sizes[w.Deal("several", len(sizes))]
}

// workersWait has a REQUEST of each worker come when it is ready, as the other one is.
func (w *routeMaker) workersWait() []explore.Step {
	return []explore.Step{
		w.sendReady(firstWorker), w.sendReady(secondWorker), w.request(firstClient, 0), w.request(secondClient, 1),
	}
}

// requestsWait has a REQUEST of each worker wait for it.
func (w *routeMaker) requestsWait() []explore.Step {
	return []explore.Step{
		w.request(firstClient, 0), w.request(firstClient, 1), w.sendReady(secondWorker), w.sendReady(firstWorker),
	}
}

// severalWait has several REQUESTs wait, of which two say the same: of one client one behind the other, or of two.
func (w *routeMaker) severalWait() (steps []explore.Step) {
	n := w.messageCount()
	same := w.queues[0][:1+w.IntN(2)*(len(w.queues[0])-1)]
	isTwice := w.Deal("twice", 2) == 0
	for i := range n {
		steps = append(steps, w.requestTo(same, []int{firstClient, secondClient}[i%2]))
		if i == 0 && isTwice {
			steps = append(steps, w.repeat(firstClient, steps[0]))
		}
	}
	if !isTwice {
		steps = append(steps, w.repeat(secondClient, steps[0]))
	}
	for range n + 1 {
		steps = append(steps, w.sendReady(firstWorker))
	}
	return steps
}

// clientLeaves has a client leave before its REQUESTs are passed on.
func (w *routeMaker) clientLeaves() []explore.Step {
	return []explore.Step{
		w.build.Open(leaver, scenarios.Producer, ""), w.request(leaver, 0), w.request(leaver, 1),
		explore.End(leaver, scenarios.Closed), w.sendReady(firstWorker), w.sendReady(secondWorker),
	}
}

// replyTogether has a worker reply to several REQUESTs of a client when it has all of them.
func (w *routeMaker) replyTogether() (steps []explore.Step) {
	n := min(w.messageCount(), 9) //nolint:mnd // replies that are not told apart are enough then
	for range n {
		steps = append(steps, w.requestReply(firstClient), w.sendReady(firstWorker))
	}
	for range n {
		steps = append(steps, w.sendReply(firstWorker))
	}
	return steps
}

// replyInTurn has a worker reply to clients in turn.
func (w *routeMaker) replyInTurn() (steps []explore.Step) {
	for i := range w.messageCount() {
		client := []int{firstClient, secondClient}[i%2]
		steps = append(steps, w.sendReady(firstWorker), w.requestReply(client), w.sendReply(firstWorker))
		if i%3 == 0 { // one that asks for none, between them
			steps = append(steps, w.sendReady(firstWorker), w.request(client, 0))
		}
	}
	return steps
}

// replyReversed has two workers reply to one client, the one that was asked last first.
func (w *routeMaker) replyReversed() (steps []explore.Step) {
	return []explore.Step{
		w.sendReady(firstWorker), w.requestReply(firstClient), w.sendReady(secondWorker),
		w.requestTo(w.queues[1], firstClient, emqp.ReplyRequested),
		w.build.Line(firstWorker, "%s", w.message(emqp.HEARTBEAT, w.timestamp())),
		w.sendReply(secondWorker), w.sendReply(firstWorker),
	}
}

// replyUnrequested has a worker reply to a client that asks for a REPLY no more.
func (w *routeMaker) replyUnrequested() []explore.Step {
	return []explore.Step{
		w.sendReady(firstWorker), w.requestReply(firstClient), w.sendReply(firstWorker),
		w.sendReady(firstWorker), w.request(firstClient, 0), w.sendReply(firstWorker),
	}
}

// open opens a connection, as a peer with an identity of some kind, or with none. (ROUTER Addressing)
func (w *routeMaker) open(conn int, role scenarios.Role) explore.Step {
	w.peers++
	identity := fmt.Sprintf("%s-%d", w.Terms.NamePrefix, w.peers)
	switch w.Deal("identity", 8) {
	case 0, 1:
		return w.build.Open(conn, role, "") // one that is drawn
	case 2, 7: // often enough for two of them at a time
		identity = ""
	case 3:
		identity += strings.Repeat("x", longestIdentity-len(identity))
	case 4: // others differ from it in their last bytes alone
		identity = strings.Repeat("x", longestIdentity-len(identity)) + identity
	case 5: // or in a capital alone
		w.capitals++
		identity = fmt.Sprintf("%s-%c%d", w.Terms.NamePrefix, "aA"[w.capitals%2], w.capitals/2)
	case 6:
		identity += "\x00\x01\r\n é"
	}
	hello, _ := json.Marshal(map[string]string{"identity": identity}) // strings always can be
	return w.build.Open(conn, role, string(hello))
}

// longestIdentity is how many bytes the identity of a peer has at most. (ZMTP)
const longestIdentity = 255

// scheduleSeveral has the schedulers get what is scheduled, equal ones among it, and what was unscheduled in between:
// not while some leave, which might get it.
func (w *routeMaker) scheduleSeveral() (steps []explore.Step) {
	if !w.Terms.Alone || w.parting != nil {
		return w.workersWait()
	}
	headers := func() string { return []string{`""`, `"nohaste"`}[w.IntN(2)] }
	for i := range w.messageCount() {
		queue := w.queues[i%2][w.IntN(len(w.queues[i%2]))]
		step := w.send(firstClient, emqp.SCHEDULE, queue, headers())
		steps = append(steps, step, w.send(secondClient, emqp.UNSCHEDULE, queue, `""`))
		if i == 0 {
			frames := strings.SplitN(strings.Trim(step.Text(), "[]"), ", ", 7)
			undone := w.build.Line(firstClient, "%s", w.message(emqp.UNSCHEDULE, queue, `""`, frames[6]))
			steps = append(steps, w.repeat(secondClient, step), undone, w.repeat(firstClient, step))
		}
	}
	return steps
}

// repeat is a message with all frames of another one but its id.
func (w *routeMaker) repeat(conn int, s explore.Step) explore.Step {
	frames := strings.SplitN(strings.Trim(s.Text(), "[]"), ", ", 5)
	frames[3] = w.id()
	return w.build.Line(conn, "[%s]", strings.Join(frames, ", "))
}
