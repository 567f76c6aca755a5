package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

const (
	mostLines = 90_000 // the language has 100,000
	mostConns = 900    // the language has 1000
	longest   = 900_000
	// worthWaiting is from how long on a pause between two events is kept: shorter ones are only the clients' own pace.
	worthWaiting = time.Second
)

// script is what has passed, as lines of the script language.
type script struct {
	begun   time.Time
	dialect scenarios.Dialect
	pw      string // the password, if it is known
	limit   int
	size    int
	lines   []write
	setup   []write // of the jobs that were on the server before
	names   *names
	conns   map[int]*scripted
	cut     string // why the script is not whole
	bare    bool   // the queue default is used without its name
	signal  map[string]bool
	failed  map[string]bool // jids with a FAIL: they come again, the server decides when
	opened  int
	last    time.Duration
}

// write writes a line of the script, once it is known which names it has.
type write func(*scenarios.Builder)

// scripted is an open connection of the script.
type scripted struct {
	name     string
	hi       fwp.Hi
	inFlight []sent
	ended    bool // END was sent
}

// sent is a line that waits for its reply: its place in the script, and what it was.
type sent struct {
	verb  string
	place int
	wid   string
}

func newScript(begun time.Time, limit int, password string) *script {
	return &script{
		dialect: fwpscript.Dialect{},
		begun:   begun, limit: limit, pw: password, names: newNames(), conns: map[int]*scripted{}, signal: map[string]bool{},
		failed: map[string]bool{},
	}
}

// add writes an event, below what was found by it.
func (s *script) add(e *clientrules.Event, found []clientrules.Breach) {
	c := s.conns[e.Conn]
	if e.Kind != clientrules.Opened && c == nil {
		return
	}
	if s.cut != "" {
		return
	}
	s.pause(e.At)
	for _, b := range found {
		s.comment(b.Name + ": " + text.Printable(b.Text))
	}
	switch e.Kind {
	case clientrules.Opened:
		s.open(e.Conn)
	case clientrules.Line:
		s.client(c, e)
	case clientrules.Reply:
		s.server(c, e)
	case clientrules.Broken:
		s.comment("not RESP: " + text.Printable(e.Syntax.Error()))
		if len(c.inFlight) > 0 {
			s.expect(c, mayAnswer(c.inFlight[0].verb))
		}
	case clientrules.Closed:
		s.closed(c, e)
	case clientrules.Lost:
		s.stop("bytes of a connection were lost")
	}
}

// line adds a line of a size in bytes, unless there are too many.
func (s *script) line(size int, w write) {
	switch {
	case s.cut != "":
		return
	case len(s.lines) >= mostLines:
		s.stop(fmt.Sprintf("it has more than %d lines", mostLines))
	case s.size+s.names.size+size > s.limit:
		s.stop(fmt.Sprintf("it is longer than %d bytes", s.limit))
	case size > longest:
		s.stop("a line is too long for a script")
	default:
		s.size += size + 1
		s.lines = append(s.lines, w)
	}
}

func (s *script) comment(text string) {
	s.line(len("# ")+len(text), func(b *scenarios.Builder) { b.Comment("# " + text) })
}

func (s *script) silence(d time.Duration, conns ...string) {
	size := len("silence ") + len(d.String())
	for _, name := range conns {
		size += len(" on ") + len(name)
	}
	s.line(size, func(b *scenarios.Builder) { b.Silence(d, conns...) })
}

// aroundText is how many bytes of a line of the transcript stand before its text, beside the name of its connection.
const aroundText = len("C[]: ")

func (s *script) send(c *scripted, text string) {
	s.line(aroundText+len(c.name)+len(text), func(b *scenarios.Builder) { b.Send(c.name, s.named(text)) })
}

func (s *script) expect(c *scripted, text string) {
	s.line(aroundText+len(c.name)+len(text), func(b *scenarios.Builder) {
		b.Expect(c.name, scenarios.Window{}, s.named(text))
	})
}

// named returns a text with the name of the queue default.
func (s *script) named(text string) string { return s.names.final(text, s.bare) }

func (s *script) stop(why string) {
	s.cut = cmp.Or(s.cut, why)
}

// pause writes a wait in which nothing passed and nothing was awaited.
func (s *script) pause(at time.Duration) {
	gap := (at - s.last).Round(10 * time.Millisecond)
	waits := false
	for _, c := range s.conns {
		waits = waits || len(c.inFlight) > 0
	}
	if gap >= worthWaiting && len(s.conns) > 0 && !waits {
		s.silence(gap)
	}
	s.last = at
}

func (s *script) open(number int) {
	s.opened++
	if s.opened > mostConns {
		s.stop(fmt.Sprintf("there were more than %d connections", mostConns))
		return
	}
	c := &scripted{name: fmt.Sprintf("c%d", number)}
	s.conns[number] = c
	s.line(len("connect  as raw")+len(c.name), func(b *scenarios.Builder) { b.Connect(c.name, scenarios.Raw, "") })
}

// client writes a line that a client sent.
func (s *script) client(c *scripted, e *clientrules.Event) {
	if e.Unread {
		s.stop(fmt.Sprintf("a line of %d bytes was not kept", e.Size))
		return
	}
	wid, _ := e.Object["wid"].(string)
	c.inFlight = append(c.inFlight, sent{e.Command.Verb, len(s.lines), wid})
	c.ended = c.ended || e.Command.Verb == fwp.END
	if jid, is := e.Object["jid"].(string); is && e.Command.Verb == fwp.FAIL {
		s.failed[jid] = true
		s.size += len(jid)
	}
	if text, plain := s.text(e); plain {
		s.send(c, text)
		return
	}
	raw := string(masked(e.Raw))
	s.line(len(" raw")+aroundText+len(c.name)+len(strconv.Quote(raw)), func(b *scenarios.Builder) { b.Raw(c.name, raw) })
}

// server writes a reply.
func (s *script) server(c *scripted, e *clientrules.Event) {
	if e.Greet {
		s.greeting(c, e.Reply)
		return
	}
	if len(c.inFlight) == 0 {
		s.comment("the server sent this without a command: " + text.Printable(e.Moment().Text))
		s.silence(300*time.Millisecond, c.name)
		return
	}
	cmd := c.inFlight[0]
	c.inFlight = slices.Delete(c.inFlight, 0, 1)
	if e.Reply.Kind == fwp.ErrorReply {
		s.comment(text.Printable(e.Moment().Text))
	}
	if cmd.verb == fwp.FETCH && s.isRetry(e.Reply) && s.cut == "" {
		s.retried(c, cmd, e.Reply)
		return
	}
	s.expect(c, s.reply(cmd, e.Reply))
}

func (s *script) isRetry(r fwp.Reply) bool {
	var job fwp.Job
	return r.Kind == fwp.BulkString && json.Unmarshal(r.Text, &job) == nil && s.failed[job.JID]
}

// retried has a play fetch until a job has come back, since the time of a retry is the server's choice.
func (s *script) retried(c *scripted, cmd sent, r fwp.Reply) {
	fetch := s.lines[cmd.place]
	s.lines[cmd.place] = func(b *scenarios.Builder) { b.Comment("") }
	s.line(len("eventually"), func(b *scenarios.Builder) { b.Begin(&scenarios.Block{Kind: scenarios.Eventually}) })
	s.line(0, fetch)
	s.expect(c, s.reply(cmd, r))
	s.line(len("end"), (*scenarios.Builder).End)
}

func (s *script) greeting(c *scripted, r fwp.Reply) {
	hi, err := fwp.ParseHi(r)
	c.hi = hi
	switch {
	case err != nil && r.Kind == fwp.ErrorReply:
		s.expect(c, "-")
	case err != nil:
		s.comment("the server greeted with " + text.Printable(string(r.Text)))
		s.expect(c, `+HI {"v":2}`)
	case hi.Protected:
		s.expect(c, fmt.Sprintf(`+HI {"v":%d,"i":int,"s":string}`, hi.Version))
	default:
		s.expect(c, fmt.Sprintf(`+HI {"v":%d}`, hi.Version))
	}
}

// reply returns the reply to a command as an expectation. One that the command cannot have is written as those that it
// can, so that a play shows it again.
func (s *script) reply(cmd sent, r fwp.Reply) string {
	switch {
	case r.Kind == fwp.ErrorReply:
		return "-"
	case r.Kind == fwp.NullBulk && cmd.verb == fwp.FETCH:
		return "$-1"
	case r.Kind == fwp.BulkString && cmd.verb == fwp.FETCH:
		return s.delivered(r.Text)
	case r.Kind == fwp.BulkString && cmd.verb == fwp.INFO:
		return "$"
	case cmd.verb == fwp.BEAT:
		if state := r.State(); state == "quiet" || state == "terminate" {
			s.operate(cmd, state)
			return fmt.Sprintf(`+{"state":%q} | ${"state":%[1]q}`, state)
		}
	}
	if r.Kind == fwp.SimpleString && string(r.Text) == "OK" {
		return "+OK"
	}
	return mayAnswer(cmd.verb)
}

// answers are what commands may be answered with.
var answers = map[string]string{
	fwp.FETCH: "$ | $-1 | -", fwp.INFO: "$ | -", fwp.BEAT: "+ | $ | -",
	fwp.HELLO: okay, fwp.PUSH: okay, fwp.ACK: okay, fwp.FAIL: okay, fwp.FLUSH: okay, fwp.END: okay,
}

const okay = "+OK | -"

// mayAnswer returns what a command may be answered with.
func mayAnswer(verb string) string { return cmp.Or(answers[verb], "<any>") }

// operate has an operator order the state before the BEAT that learns of it.
func (s *script) operate(cmd sent, state string) {
	if cmd.wid == "" || s.signal[cmd.wid+" "+state] || cmd.place >= len(s.lines) {
		return
	}
	s.signal[cmd.wid+" "+state] = true
	beat, client := s.lines[cmd.place], s.names.of(famWid, cmd.wid)
	s.lines[cmd.place] = func(b *scenarios.Builder) {
		b.Add(&scenarios.Operate{Action: scenarios.NeedSignals, State: state, Worker: b.Template(client)[0]})
		beat(b)
	}
}

func (s *script) end(c *scripted, how scenarios.Ending) {
	size := aroundText + len(c.name) + len(how.String())
	s.line(size, func(b *scenarios.Builder) { b.Close(c.name, how) })
}

func (s *script) closed(c *scripted, e *clientrules.Event) {
	unanswered := len(c.inFlight) > 0 && c.inFlight[0].verb == fwp.END
	switch {
	case unanswered:
		s.expect(c, "+OK | <close>") // the client did not wait for it
	case c.ended || e.By == clientrules.Server:
		s.expect(c, "<close>")
	case e.Reset:
		s.end(c, scenarios.Reset)
	default:
		s.end(c, scenarios.Closed)
	}
	delete(s.conns, e.Conn)
}

// delivered returns a job as an expectation. A job that nothing in the script has pushed was on the server before.
func (s *script) delivered(text []byte) string {
	var job fwp.Job
	if json.Unmarshal(text, &job) != nil || job.JID == "" || job.Type == "" {
		return "$"
	}
	if !s.names.has(famJID, job.JID) {
		s.wasThere(job)
	}
	args := job.Args
	if args == nil {
		args = json.RawMessage("[]")
	}
	return fmt.Sprintf(`${"jid":"%s","jobtype":%s,"args":%s}`, s.names.of(famJID, job.JID), quoted(job.Type),
		s.rewrite(args, ""))
}

// wasThere writes a PUSH of a job before everything else, without its times and its failure.
func (s *script) wasThere(job fwp.Job) {
	s.names.of(famJID, job.JID)
	s.bare = s.bare || job.Queue == ""
	job.EnqueuedAt, job.CreatedAt, job.At, job.Failure = "", "", "", nil
	unit, err := job.MarshalJSON()
	if err != nil {
		return
	}
	if s.size += len(unit); s.size > s.limit {
		s.stop(fmt.Sprintf("it is longer than %d bytes", s.limit))
		return
	}
	push := "PUSH " + s.rewrite(unit, fwp.PUSH)
	s.setup = append(s.setup, func(b *scenarios.Builder) {
		b.Send("setup", s.named(push))
		b.Expect("setup", scenarios.Window{}, "+OK")
	})
}

// format returns the script in its normal form.
func (s *script) format() ([]byte, error) {
	b := scenarios.NewBuilder(s.dialect)
	b.Script.Title = fmt.Sprintf("a conversation of %d connections, as it was recorded", s.opened)
	if s.bare {
		b.Script.Needs = []scenarios.Need{scenarios.NeedAlone}
	}
	b.Comment("")
	if s.cut != "" {
		b.Comment("# the record ends here, before the end of the conversation: " + s.cut)
	}
	if len(s.setup) > 0 {
		b.Comment("# jobs that were on the server before")
		b.Connect("setup", scenarios.Producer, "")
		for _, w := range s.setup {
			w(b)
		}
		b.Comment("")
	}
	for _, w := range s.lines {
		w(b)
	}
	text, err := b.Text()
	if err != nil {
		err = fmt.Errorf("the script of the recording is invalid: %w", err)
	}
	return text, err
}
