package situations

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/reports"
)

// maxLines bounds the conversation that is kept: the first half and the last half of it.
const maxLines = 4000

// maxEvents bounds the events that a situation can look back at, and maxEventBytes the bytes of those of all situations
// that are played at a time. Behind half of it, a text of more than maxTextBytes bytes is left out. The rules see all.
const (
	maxEvents     = 50_000
	maxEventBytes = 48 << 20
	maxTextBytes  = 16 << 10
)

// memory counts what programs have the situations keep that are played at a time.
type memory struct {
	servers      fakes.Memory
	lines        atomic.Int64 // beginnings of lines and replies
	events       atomic.Int64
	endlessBytes atomic.Int64 // bytes of lines that are not over, behind the first clientrules.MaxMessage of each
}

// maxOpenConns is how many connections of a program are served at a time; others are closed.
const maxOpenConns = 500

// recording is what happened in one play: events for the rules and for the situation, and the conversation. Its methods
// may be called by many goroutines at once.
type recording struct {
	start time.Time

	mu         sync.Mutex
	builder    *clientrules.Builder
	rules      *clientrules.Watch
	memory     *memory
	events     []clientrules.Event
	eventBytes int64 // bytes of the events
	lines      []reports.Line
	reports    map[string]*clientrules.Event // the first ACK or FAIL by jid
	deliveries map[string]*clientrules.Event // the first delivery by jid
	exits      map[int]bool                  // processes that have ended
	partialAt  time.Duration                 // when bytes last came behind which a line is not over
	changed    chan struct{}                 // closed at the next event
	conns      int
	openConns  int                    // of them
	shutConns  map[*recordedConn]bool // of which the server's side is closed, and which are read on
	isCrowded  bool
	show       func(reports.Line)                  // it may be nil
	lagSince   func(since time.Time) time.Duration // by how much this machine was late; nil: never
	judgedLag  time.Duration                       // the lag that the rules know of
}

func newRecording(config clientrules.Config, m *memory, show func(reports.Line)) *recording {
	r := &recording{
		start: time.Now(), rules: clientrules.NewWatch(config), changed: make(chan struct{}), show: show, memory: m,
		reports: map[string]*clientrules.Event{}, deliveries: map[string]*clientrules.Event{}, exits: map[int]bool{},
		shutConns: map[*recordedConn]bool{},
	}
	r.builder = clientrules.NewBuilder(r.addEvent)
	r.builder.KeptBytes = &m.lines
	return r
}

func (r *recording) now() time.Duration { return time.Since(r.start) }

// addEvent takes an event. The lock is held.
func (r *recording) addEvent(e clientrules.Event) {
	r.judge(e)
	size := sizeOf(e)
	if size > maxTextBytes && r.memory.events.Load()+size > maxEventBytes/2 {
		e = shorten(e)
		size = sizeOf(e)
	}
	if len(r.events) < maxEvents && r.memory.events.Load()+size <= maxEventBytes {
		r.eventBytes += size
		r.memory.events.Add(size)
		r.events = append(r.events, e)
		r.index(&e)
	}
	if e.Kind == clientrules.ProcessExit {
		r.exits[e.Process] = true
	}
	if l, ok := lineOf(e); ok {
		r.addLine(l)
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

func sizeOf(e clientrules.Event) int64 { return int64(len(e.Raw) + len(e.Reply.Text)) }

// shorten returns an event without its long texts. It still says that a job was delivered, or has a report.
func shorten(e clientrules.Event) clientrules.Event {
	beginning := func(text []byte) []byte { return bytes.Clone(text[:min(len(text), maxTextBytes)]) }
	e.Raw, e.Reply.Text, e.Command.Args = beginning(e.Raw), beginning(e.Reply.Text), nil
	e.Object = maps.Clone(e.Object)
	maps.DeleteFunc(e.Object, func(_ string, value any) bool {
		text, ok := value.(string)
		return !ok || len(text) > maxTextBytes
	})
	if e.Job != nil {
		e.Job = &clientrules.Job{JID: e.Job.JID, Type: e.Job.Type, ReserveFor: e.Job.ReserveFor}
	}
	return e
}

// release counts out what the recording has, when it is not used any more.
func (r *recording) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.shutConns {
		_ = c.rawConn.Close()
	}
	r.builder.Release()
	r.memory.events.Add(-r.eventBytes)
	r.eventBytes = 0
}

// index keeps the first delivery and the first report of each job.
func (r *recording) index(e *clientrules.Event) {
	byJID, jid := r.reports, ""
	switch {
	case e.Job != nil:
		byJID, jid = r.deliveries, e.Job.JID
	case line(fwp.ACK, fwp.FAIL)(e):
		jid = e.Text("jid")
	}
	if jid != "" && byJID[jid] == nil {
		byJID[jid] = e
	}
}

// addLine adds a line to the conversation. The lock is held.
func (r *recording) addLine(l reports.Line) {
	if r.show != nil {
		r.show(l)
	}
	if r.lines = append(r.lines, l); len(r.lines) > maxLines {
		r.lines = append(r.lines[:maxLines/2], r.lines[maxLines/2+1:]...)
	}
}

// lineOf returns an event as a line of the conversation.
func lineOf(e clientrules.Event) (reports.Line, bool) {
	m := e.Moment()
	l := reports.Line{At: e.At, From: reports.FromSuite, Text: m.Text}
	if e.Conn > 0 {
		l.Conn = "c" + strconv.Itoa(e.Conn)
	}
	switch e.Kind {
	case clientrules.Line, clientrules.LineAfterClose, clientrules.UnfinishedLine:
		l.From, l.Text = reports.FromClient, strings.TrimPrefix(m.Text, "C: ")
	case clientrules.Reply, clientrules.BrokenReply:
		l.From, l.Text = reports.FromServer, strings.TrimPrefix(m.Text, "S: ")
	case clientrules.ConnClose:
		l.IsEnd = true
	case clientrules.ConnOpen, clientrules.ProcessStart, clientrules.ProcessSignal, clientrules.ProcessExit:
	default:
		return l, false
	}
	return l, true
}

// remark adds a line about what this program did.
func (r *recording) remark(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLine(reports.Line{At: r.now(), From: reports.FromSuite, Text: fmt.Sprintf(format, args...)})
}

// process notes what happened to a process.
func (r *recording) process(number int, e clientrules.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.builder.Process(r.now(), number, e)
}

// passTime tells the rules that time has passed.
func (r *recording) passTime() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judge(clientrules.Event{At: r.now(), Kind: clientrules.TimePassage})
}

// minLag is the least lag that is recorded for the rules.
const minLag = 50 * time.Millisecond

// judge shows the rules an event, and before it how late this machine has been: behind a stall the first event comes
// before anything else has noticed it. The lock is held.
func (r *recording) judge(e clientrules.Event) {
	if r.lagSince != nil {
		if lag := r.lagSince(r.start); lag > max(minLag, r.judgedLag) {
			r.judgedLag = lag
			r.rules.See(clientrules.Event{At: e.At, Kind: clientrules.Lag, Lag: lag})
		}
	}
	r.rules.See(e)
}

// isFull reports whether so many connections are open that no other is served.
func (r *recording) isFull() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	isFull := r.openConns >= maxOpenConns
	if isFull && !r.isCrowded {
		r.isCrowded = true
		r.addLine(reports.Line{
			At: r.now(), From: reports.FromSuite, Text: fmt.Sprintf("%d connections are open: others are closed", maxOpenConns),
		})
	}
	return isFull
}

// WithLock returns what a function returns while nothing else holds a lock.
func WithLock[T any](lock sync.Locker, get func() T) T {
	lock.Lock()
	defer lock.Unlock()
	return get()
}

// nextChange returns a channel that is closed at the next event, and how many events there are.
func (r *recording) nextChange() (changed <-chan struct{}, events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed, len(r.events)
}

// hasExited reports whether the end of a process has been recorded.
func (r *recording) hasExited(p *program) bool {
	return WithLock(&r.mu, func() bool { return r.exits[p.number] })
}

// isSending reports whether a line has been arriving within the time to act, and is not over.
func (r *recording) isSending() bool {
	return WithLock(&r.mu, func() bool { return r.partialAt > 0 && r.now()-r.partialAt < timeToAct })
}

// reportOf returns the first ACK or FAIL of a job, nil if there is none.
func (r *recording) reportOf(jid string) *clientrules.Event {
	return WithLock(&r.mu, func() *clientrules.Event { return r.reports[jid] })
}

// deliveryOf returns the first delivery of a job, nil if there is none.
func (r *recording) deliveryOf(jid string) *clientrules.Event {
	return WithLock(&r.mu, func() *clientrules.Event { return r.deliveries[jid] })
}

// filterDelivered returns those of the jobs that were delivered.
func (r *recording) filterDelivered(jids []string) []string {
	return slices.DeleteFunc(slices.Clone(jids), func(jid string) bool { return r.deliveryOf(jid) == nil })
}

// first returns a copy of the first event that matches, nil if there is none.
func (r *recording) first(m match) *clientrules.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.events {
		if m(&r.events[i]) {
			e := r.events[i]
			return &e
		}
	}
	return nil
}

// last returns a copy of the last event that matches, nil if there is none.
func (r *recording) last(m match) *clientrules.Event {
	all := r.all(m)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// has reports whether an event matches.
func (r *recording) has(m match) bool { return r.first(m) != nil }

// count returns how many events match.
func (r *recording) count(m match) int { return len(r.all(m)) }

// all returns copies of the events that match.
func (r *recording) all(m match) []clientrules.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []clientrules.Event
	for i := range r.events {
		if m(&r.events[i]) {
			found = append(found, r.events[i])
		}
	}
	return found
}
