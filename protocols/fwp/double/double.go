package double

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Double is a server and the journal of its clients. Its methods may be called by many goroutines at once.
type Double struct {
	server  *fakes.Server
	dialect fwpscript.Dialect

	mu      sync.Mutex
	bugs    []fakes.Bug
	hooks   []func(*fakes.Event) // of the bugs
	stubs   []*Stub
	talks   map[int64]*talk // by connection
	journal journal
}

// talk is what the journal needs to know about a connection.
type talk struct {
	state session.State
	wid   string // of the accepted HELLO
	entry Entry  // the command that is answered next
	stub  *Stub  // for that command; nil: none
}

// New starts a server with a configuration, whose Hook comes before those of the double. The caller has to call
// [Double.Close].
func New(config fakes.Config, bugs ...fakes.Bug) (d *Double, err error) {
	d = &Double{
		talks: map[int64]*talk{}, journal: journal{changed: make(chan struct{})},
		dialect: fwpscript.Dialect{Extension: fwpscript.Extension(config.Extension)},
	}
	d.SetBugs(bugs)
	config.Hook = catalogue.Chain(config.Hook, d.hook)
	d.server = fakes.NewUnstarted(config)
	return d, d.server.TryStart()
}

// Server returns the server.
func (d *Double) Server() *fakes.Server { return d.server }

// Close ends the server and all connections.
func (d *Double) Close() { d.server.Close() }

// SetBugs replaces the bugs of the server.
func (d *Double) SetBugs(bugs []fakes.Bug) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bugs, d.hooks = slices.Clone(bugs), nil
	for _, f := range bugs {
		d.hooks = append(d.hooks, f.Hook())
	}
}

// Bugs returns the names of the server's bugs.
func (d *Double) Bugs() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := []string{}
	for _, f := range d.bugs {
		names = append(names, f.Name)
	}
	return names
}

// Reset removes jobs, counts, signals, bugs, stubs and the journal. Connections stay.
func (d *Double) Reset() {
	d.SetBugs(nil)
	d.RemoveStubs()
	d.server.Reset()
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.journal.changed)
	d.journal = journal{changed: make(chan struct{})}
}

// ResetQueue removes the jobs of a queue, and what the journal has about them.
func (d *Double) ResetQueue(queue string) {
	d.server.ResetQueue(queue)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.journal.clearQueue(queue)
}

// hook lets the bugs act, and writes the journal. Some points hold a lock of the server, so that it calls nothing of
// it.
func (d *Double) hook(e *fakes.Event) {
	d.mu.Lock()
	hooks := d.hooks
	d.mu.Unlock()
	if e.Point == fakes.LineRead {
		d.read(e.Conn.ID, e.Line)
	}
	for _, hook := range hooks {
		hook(e)
	}
	switch e.Point {
	case fakes.Accepted:
		d.beginTalk(e.Conn)
	case fakes.Greeting:
		d.takeGreeting(e)
	case fakes.Checked:
		d.chooseStub(e)
	case fakes.Ran:
		d.takeAnswer(e)
	}
}

// beginTalk begins the journal of a connection.
func (d *Double) beginTalk(c *fakes.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, state := fwpsession.Codec{}.Begin(bytes.NewReader(nil))
	d.talks[c.ID] = &talk{state: state}
}

// takeGreeting takes the greeting of a connection.
func (d *Double) takeGreeting(e *fakes.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.talks[e.Conn.ID]; t != nil {
		t.state.Received(fwpsession.Message(e.Reply))
	}
}

// read takes a line from a client.
func (d *Double) read(conn int64, line []byte) {
	now := d.server.Now() // not with our lock: the server calls hooks with its own
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.talks[conn]
	if t == nil { // a bug served a connection that was not accepted
		return
	}
	role := scenarios.Producer
	if t.wid != "" {
		role = scenarios.Consumer
	}
	mistake, _ := d.dialect.Check(role, t.state, line)
	t.state.Sent(append(bytes.Clone(line), "\r\n"...))
	verb := fwp.SplitCommand(line).Verb
	t.entry = Entry{
		At: now, Connection: conn, Worker: t.wid, Verb: verb, Command: shortenLine(maskHash(line)), Mistake: mistake,
		units: d.journal.unitsOf(verb, line),
	}
}

var hashField = regexp.MustCompile(`("pwdhash"\s*:\s*)"[^"]*"`)

// maskHash returns a line without the hash of the password, with which the password could be guessed.
func maskHash(line []byte) []byte { return hashField.ReplaceAll(line, []byte(`$1"(hash)"`)) }

// takeAnswer takes the answer to the line.
func (d *Double) takeAnswer(e *fakes.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.talks[e.Conn.ID]
	if t == nil {
		return
	}
	if t.stub != nil {
		t.stub.hook(e)
		t.stub = nil
	}
	t.state.Received(fwpsession.Message(e.Reply))
	t.wid = cmp.Or(e.Conn.Worker, t.wid)
	entry := t.entry
	entry.Worker = t.wid
	entry.Reply = fwpsession.Codec{}.Text(fwpsession.Message(e.Reply))
	if e.Err != nil {
		entry.Refusal = e.Err.Error()
	}
	if entry.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString {
		unit := bytes.Clone(e.Reply.Text)
		entry.units = [][]byte{unit}
		d.journal.remember(fwp.JIDOf(unit), unit) // of a job that no client pushed, this is the first that is known
	}
	if errorsByJID := number.Object(e.Reply.Text); entry.Verb == "PUSHB" && errorsByJID != nil {
		entry.units = slices.DeleteFunc(entry.units, func(unit []byte) bool { return errorsByJID[fwp.JIDOf(unit)] != nil })
	}
	d.journal.add(entry)
	if e.Close {
		delete(d.talks, e.Conn.ID)
	}
}
