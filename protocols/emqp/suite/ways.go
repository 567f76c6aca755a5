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

// Values returns eMQP as [New] does, with nothing but messages that reach their peers in each way that there is: so
// each bucket of values soon comes back once.
func Values() *explore.Subject {
	s := Subject()
	s.Alphabet = func(d *explore.Draw, l explore.Law) explore.Alphabet {
		m := newMaker(d, l)
		w := m.wayfarer()
		return explore.Alphabet{
			Open:  func(conn int) explore.Step { return m.build.Open(conn, scenarios.Producer, "") },
			Moves: []explore.Move{w.move(func(int) bool { return true })},
			Done:  func() bool { return w.allSeen() && w.ways >= leastWays && w.parting == nil },
		}
	}
	return s
}

// leastWays is how many ways there are at least in an exploration of values, and squadLasts how many of them the same
// workers see.
const leastWays, squadLasts = 160, 24

// wayfarer makes up ways of messages from the client to a worker or scheduler, and back.
type wayfarer struct {
	*maker

	ways  int
	squad int            // in which way the workers were called last
	mine  [2][]string    // the queues of the workers, as frames of lines
	seen  map[string]int // how many messages there were of a command

	parting *parting // that is under way, nil if none is

	peers, capitals int // identities that were made, and those among them that differ in a capital
}

func (m *maker) wayfarer() *wayfarer { return &wayfarer{maker: m, seen: map[string]int{}} }

// move is the next way, whatever connection it is asked for.
func (w *wayfarer) move(fits func(int) bool) explore.Move {
	return explore.Move{Name: "way", Weight: 0.3, Fits: fits, Make: w.next}
}

// next returns the steps of the next way. What a connection sends at once is not looked at one by one, but for a READY,
// whose REQUEST comes first: a broker need not count READYs.
func (w *wayfarer) next(int) []explore.Step {
	steps := w.way()
	for i := range len(steps) - 1 {
		do, next := steps[i].Sends(), steps[i+1].Sends()
		steps[i].Ahead = do != nil && next != nil && next.Ending == scenarios.Open && steps[i].Conn() == steps[i+1].Conn() &&
			!strings.Contains(steps[i].Text(), quoted(emqp.READY))
	}
	return steps
}

// way returns the steps of the next way.
func (w *wayfarer) way() []explore.Step {
	w.ways++
	if w.squad == 0 || w.ways-w.squad >= squadLasts || !w.squadIsThere() {
		w.squad = w.ways
		return w.call()
	}
	all := []func() []explore.Step{
		w.atOnce, w.waiting, w.together, w.fromLeaver, w.answered, w.answeredInTurn, w.answeredCrosswise, w.unasked,
		w.disturbed, w.scheduled, w.crowd,
	}
	return slices.Concat(w.beats(), w.goodbyes(), all[w.Deal("way", len(all))]())
}

// allSeen reports whether each message was sent once in a REQUEST.
func (w *wayfarer) allSeen() bool { return w.seen[emqp.REQUEST] >= len(messages()) }

// squadIsThere reports whether the workers and clients of the ways are connected.
func (w *wayfarer) squadIsThere() bool {
	return w.isWorker(firstWorker) && w.isWorker(secondWorker) && w.isClient(firstClient) && w.isClient(secondClient)
}

// beats are HEARTBEATs of all that have informed, now and then: a broker that sends other messages sends none, which
// would be answered. (Heartbeating)
func (w *wayfarer) beats() (steps []explore.Step) {
	const often = 6
	for _, conn := range []int{firstWorker, secondWorker, schedulerOne, schedulerTwo} {
		if w.ways%often == 0 && w.isInformed(conn) {
			steps = append(steps, w.build.Line(conn, "%s", w.message(emqp.HEARTBEAT, w.stamp())))
		}
	}
	return steps
}

// call has both workers come, with queues whose names are nearly alike, and two clients and two schedulers.
func (w *wayfarer) call() []explore.Step {
	const short = 40 // bytes of a text that another one stands behind
	sizes := []int{1, 2, 3, 4, 7, 8, 9, 10, 16, 17, 31, 33}
	w.mine = [2][]string{}
	for range sizes[w.Deal("queues", len(sizes))] {
		w.first++
		name, text := fmt.Sprintf("$queue%d", w.first), w.value("queue", names())
		if len(text) < short {
			text += w.value("queue", names())
		}
		other := w.alike(text)
		w.mine[0] = append(w.mine[0], framed(name, text))
		if other != text {
			w.mine[1] = append(w.mine[1], framed(name, other))
		}
	}
	w.first++
	w.mine[1] = append(w.mine[1], fmt.Sprintf(`"$queue%d"`, w.first))
	steps := []explore.Step{
		w.open(firstClient, scenarios.Producer), w.open(secondClient, scenarios.Producer),
	}
	w.first++
	shared := []string{fmt.Sprintf(`"$queue%d"`, w.first)}
	for i, conn := range []int{firstWorker, secondWorker} {
		if w.isWorker(conn) {
			steps = append(steps, w.build.Line(conn, "%s", w.message(emqp.KBAI)))
		}
		steps = append(steps, w.open(conn, scenarios.Consumer), w.inform(conn, append(slices.Clip(w.mine[i]), shared...)))
		if conn == firstWorker { // a REQUEST waits when the other one comes
			text := fmt.Sprintf(`"$id%d text"`, w.ids+1)
			steps = append(steps, w.build.Line(firstClient, "%s", w.message(emqp.REQUEST, shared[0], `""`, text)))
		}
	}
	steps = append(steps, w.ready(secondWorker))
	if w.Terms.Alone && len(w.law.schedulers()) == 0 { // it may wait for one
		steps = append(steps, w.send(firstClient, emqp.SCHEDULE, w.mine[0][0], `"nohaste"`))
	}
	for _, conn := range []int{schedulerOne, schedulerTwo} {
		if w.Terms.Alone && !w.is(conn, scheduler) {
			steps = append(steps, w.informScheduler(conn)...)
		}
	}
	return steps
}

// informScheduler has a scheduler come. Its queues are not used. (eMQP / Scheduler)
func (w *wayfarer) informScheduler(conn int) []explore.Step {
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
func (w *wayfarer) inform(conn int, queues []string) explore.Step {
	all, alike, weight := make([]string, len(queues)), w.Deal("weights", 2) == 0, ""
	for i, q := range queues {
		if weight == "" || !alike {
			weight = w.value("weight", weights())
		}
		all[i] = fmt.Sprintf(`[%s,\"%s\"]`, weight, q[1:len(q)-1])
	}
	return w.build.Line(conn, "%s", w.message(emqp.INFORM, `"[`+strings.Join(all, ",")+`]"`, `"worker"`))
}

// send is a REQUEST, SCHEDULE or UNSCHEDULE, all frames of which are drawn.
func (w *wayfarer) send(conn int, command, queue, headers string) explore.Step {
	w.seen[command]++
	return w.build.Line(conn, "[%s]", strings.Join([]string{
		`""`, `"eMQP/1.0"`, quoted(command), w.oddID(), queue, headers, w.text(command),
	}, ", "))
}

// request is a REQUEST to a queue of a worker, 0 or 1.
func (w *wayfarer) request(conn, worker int) explore.Step {
	return w.to(w.mine[worker], conn)
}

// to is a REQUEST to one of some queues.
func (w *wayfarer) to(queues []string, conn int, headers ...string) explore.Step {
	return w.send(conn, emqp.REQUEST, queues[w.IntN(len(queues))], w.requestHeaders(headers...))
}

// asks is a REQUEST to the first worker that asks for a reply.
func (w *wayfarer) asks(conn int) explore.Step { return w.to(w.mine[0], conn, emqp.ReplyRequested) }

func (w *wayfarer) ready(conn int) explore.Step {
	return w.build.Line(conn, "%s", w.message(emqp.READY))
}

func (w *wayfarer) replies(conn int) explore.Step {
	w.seen[emqp.REPLY]++
	return w.build.Line(conn, "%s", w.message(emqp.REPLY, w.text(emqp.REPLY)))
}

// oddID is an id with what a peer may be tempted to change behind its name: capitals, digits, blanks, length.
func (w *wayfarer) oddID() string {
	w.ids++
	name := fmt.Sprintf("%s$id%d", []string{"", "0", " ", "00x"}[w.IntN(4)], w.ids)
	return framed(name, w.value("id", names()))
}

// several is a number of messages that go a way together.
func (w *wayfarer) several() int {
	most := []int{2, 3, 4, 5, 8, 9, 16, 17, 33}
	return most[w.Deal("several", len(most))]
}

// atOnce has a REQUEST of each worker come when it is ready, as the other one is.
func (w *wayfarer) atOnce() []explore.Step {
	return []explore.Step{
		w.ready(firstWorker), w.ready(secondWorker), w.request(firstClient, 0), w.request(secondClient, 1),
	}
}

// waiting has a REQUEST of each worker wait for it.
func (w *wayfarer) waiting() []explore.Step {
	return []explore.Step{
		w.request(firstClient, 0), w.request(firstClient, 1), w.ready(secondWorker), w.ready(firstWorker),
	}
}

// together has several REQUESTs wait, of which two say the same: of one client one behind the other, or of two.
func (w *wayfarer) together() (steps []explore.Step) {
	n := w.several()
	same := w.mine[0][:1+w.IntN(2)*(len(w.mine[0])-1)]
	twice := w.Deal("twice", 2) == 0
	for i := range n {
		steps = append(steps, w.to(same, []int{firstClient, secondClient}[i%2]))
		if i == 0 && twice {
			steps = append(steps, w.sameAgain(firstClient, steps[0]))
		}
	}
	if !twice {
		steps = append(steps, w.sameAgain(secondClient, steps[0]))
	}
	for range n + 1 {
		steps = append(steps, w.ready(firstWorker))
	}
	return steps
}

// fromLeaver has a client leave before its REQUESTs are passed on.
func (w *wayfarer) fromLeaver() []explore.Step {
	return []explore.Step{
		w.build.Open(leaver, scenarios.Producer, ""), w.request(leaver, 0), w.request(leaver, 1),
		explore.End(leaver, scenarios.Closed), w.ready(firstWorker), w.ready(secondWorker),
	}
}

// answered has a worker reply to several REQUESTs of a client when it has all of them.
func (w *wayfarer) answered() (steps []explore.Step) {
	n := min(w.several(), 9) //nolint:mnd // replies that are not told apart are enough then
	for range n {
		steps = append(steps, w.asks(firstClient), w.ready(firstWorker))
	}
	for range n {
		steps = append(steps, w.replies(firstWorker))
	}
	return steps
}

// answeredInTurn has a worker reply to clients in turn.
func (w *wayfarer) answeredInTurn() (steps []explore.Step) {
	for i := range w.several() {
		client := []int{firstClient, secondClient}[i%2]
		steps = append(steps, w.ready(firstWorker), w.asks(client), w.replies(firstWorker))
		if i%3 == 0 { // one that asks for none, between them
			steps = append(steps, w.ready(firstWorker), w.request(client, 0))
		}
	}
	return steps
}

// answeredCrosswise has two workers reply to one client, the one that was asked last first.
func (w *wayfarer) answeredCrosswise() (steps []explore.Step) {
	return []explore.Step{
		w.ready(firstWorker), w.asks(firstClient), w.ready(secondWorker), w.to(w.mine[1], firstClient, emqp.ReplyRequested),
		w.build.Line(firstWorker, "%s", w.message(emqp.HEARTBEAT, w.stamp())),
		w.replies(secondWorker), w.replies(firstWorker),
	}
}

// unasked has a worker reply to a client that asks for a REPLY no more.
func (w *wayfarer) unasked() []explore.Step {
	return []explore.Step{
		w.ready(firstWorker), w.asks(firstClient), w.replies(firstWorker),
		w.ready(firstWorker), w.request(firstClient, 0), w.replies(firstWorker),
	}
}

// open opens a connection, as a peer with an identity of some kind, or with none. (ROUTER Addressing)
func (w *wayfarer) open(conn int, role scenarios.Role) explore.Step {
	w.peers++
	identity := fmt.Sprintf("%s-%d", w.Terms.Prefix, w.peers)
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
		identity = fmt.Sprintf("%s-%c%d", w.Terms.Prefix, "aA"[w.capitals%2], w.capitals/2)
	case 6:
		identity += "\x00\x01\r\n é"
	}
	with, _ := json.Marshal(map[string]string{"identity": identity}) // strings always can be
	return w.build.Open(conn, role, string(with))
}

// longestIdentity is how many bytes the identity of a peer has at most. (ZMTP)
const longestIdentity = 255

// scheduled has the schedulers get what is scheduled, equal ones among it, and what was unscheduled in between: not
// while some leave, which might get it.
func (w *wayfarer) scheduled() (steps []explore.Step) {
	if !w.Terms.Alone || w.parting != nil {
		return w.atOnce()
	}
	headers := func() string { return []string{`""`, `"nohaste"`}[w.IntN(2)] }
	for i := range w.several() {
		queue := w.mine[i%2][w.IntN(len(w.mine[i%2]))]
		once := w.send(firstClient, emqp.SCHEDULE, queue, headers())
		steps = append(steps, once, w.send(secondClient, emqp.UNSCHEDULE, queue, `""`))
		if i == 0 {
			frames := strings.SplitN(strings.Trim(once.Text(), "[]"), ", ", 7)
			undone := w.build.Line(firstClient, "%s", w.message(emqp.UNSCHEDULE, queue, `""`, frames[6]))
			steps = append(steps, w.sameAgain(secondClient, once), undone, w.sameAgain(firstClient, once))
		}
	}
	return steps
}

// sameAgain is a message with all frames of another one but its id.
func (w *wayfarer) sameAgain(conn int, s explore.Step) explore.Step {
	frames := strings.SplitN(strings.Trim(s.Text(), "[]"), ", ", 5)
	frames[3] = w.id()
	return w.build.Line(conn, "[%s]", strings.Join(frames, ", "))
}
