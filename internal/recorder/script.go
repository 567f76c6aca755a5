package recorder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
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
	begun  time.Time
	pw     string // the password, if it is known
	limit  int
	size   int
	lines  []string
	setup  []string // the jobs that were on the server before
	names  *names
	conns  map[int]*scripted
	cut    string // why the script is not whole
	bare   bool   // the queue default is used without its name
	signal map[string]bool
	failed map[string]bool // jids with a FAIL: they come again, the server decides when
	opened int
	last   time.Duration
}

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
		begun: begun, limit: limit, pw: password, names: newNames(), conns: map[int]*scripted{}, signal: map[string]bool{},
		failed: map[string]bool{},
	}
}

// add writes an event, below what was found by it.
func (s *script) add(e *monitor.Event, found []monitor.Breach) {
	c := s.conns[e.Conn]
	if e.Kind != monitor.Opened && c == nil {
		return
	}
	if s.cut != "" {
		return
	}
	s.pause(e.At)
	for _, b := range found {
		s.line("# " + b.Name + ": " + text.Printable(b.Text))
	}
	switch e.Kind {
	case monitor.Opened:
		s.open(e.Conn)
	case monitor.Line:
		s.client(c, e)
	case monitor.Reply:
		s.server(c, e)
	case monitor.Broken:
		s.line("# not RESP: " + text.Printable(e.Syntax.Error()))
		if len(c.inFlight) > 0 {
			s.line(c.s(), mayAnswer(c.inFlight[0].verb))
		}
	case monitor.Closed:
		s.closed(c, e)
	case monitor.Lost:
		s.stop("bytes of a connection were lost")
	}
}

// line writes a line, unless there are too many.
func (s *script) line(words ...string) {
	text := strings.Join(words, " ")
	switch {
	case s.cut != "":
		return
	case len(s.lines) >= mostLines:
		s.stop(fmt.Sprintf("it has more than %d lines", mostLines))
	case s.size+s.names.size+len(text) > s.limit:
		s.stop(fmt.Sprintf("it is longer than %d bytes", s.limit))
	case len(text) > longest:
		s.stop("a line is too long for a script")
	default:
		s.size += len(text) + 1
		s.lines = append(s.lines, text)
	}
}

func (s *script) stop(why string) {
	if s.cut == "" {
		s.cut = why
	}
}

// pause writes a wait in which nothing passed and nothing was awaited.
func (s *script) pause(at time.Duration) {
	gap := (at - s.last).Round(10 * time.Millisecond)
	waits := func(c *scripted) bool { return len(c.inFlight) > 0 }
	if gap >= worthWaiting && len(s.conns) > 0 && !anyOf(s.conns, waits) {
		s.line("silence", gap.String())
	}
	s.last = at
}

func anyOf(conns map[int]*scripted, is func(*scripted) bool) bool {
	for _, c := range conns {
		if is(c) {
			return true
		}
	}
	return false
}

func (s *script) open(number int) {
	s.opened++
	if s.opened > mostConns {
		s.stop(fmt.Sprintf("there were more than %d connections", mostConns))
		return
	}
	c := &scripted{name: fmt.Sprintf("c%d", number)}
	s.conns[number] = c
	s.line("connect", c.name, "as raw")
}

func (c *scripted) c() string { return "C[" + c.name + "]:" }
func (c *scripted) s() string { return "S[" + c.name + "]:" }

// client writes a line that a client sent.
func (s *script) client(c *scripted, e *monitor.Event) {
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
	text, plain := s.text(e)
	if !plain {
		s.line("C["+c.name+"] raw:", quoteBytes(masked(e.Raw)))
		return
	}
	s.line(c.c(), text)
}

// server writes a reply.
func (s *script) server(c *scripted, e *monitor.Event) {
	if e.Greet {
		s.greeting(c, e.Reply)
		return
	}
	if len(c.inFlight) == 0 {
		s.line("# the server sent this unasked: " + text.Printable(e.Moment().Text))
		s.line("silence 300ms on " + c.name)
		return
	}
	cmd := c.inFlight[0]
	c.inFlight = slices.Delete(c.inFlight, 0, 1)
	if e.Reply.Kind == fwp.ErrorReply {
		s.line("# " + text.Printable(e.Moment().Text))
	}
	if cmd.verb == fwp.FETCH && s.isRetry(e.Reply) && s.cut == "" {
		s.retried(c, cmd, e.Reply)
		return
	}
	s.line(c.s(), s.reply(cmd, e.Reply))
}

func (s *script) isRetry(r fwp.Reply) bool {
	var job fwp.Job
	return r.Kind == fwp.BulkString && json.Unmarshal(r.Text, &job) == nil && s.failed[job.JID]
}

// retried has a play fetch until a job has come back, since the time of a retry is the server's choice.
func (s *script) retried(c *scripted, cmd sent, r fwp.Reply) {
	fetch := s.lines[cmd.place]
	s.lines[cmd.place] = ""
	s.line("eventually")
	s.line("  " + fetch)
	s.line("  "+c.s(), s.reply(cmd, r))
	s.line("end")
}

func (s *script) greeting(c *scripted, r fwp.Reply) {
	hi, err := fwp.ParseHi(r)
	c.hi = hi
	switch {
	case err != nil && r.Kind == fwp.ErrorReply:
		s.line(c.s(), "-")
	case err != nil:
		s.line("# the server greeted with " + text.Printable(string(r.Text)))
		s.line(c.s(), `+HI {"v":2}`)
	case hi.Protected:
		s.line(c.s(), fmt.Sprintf(`+HI {"v":%d,"i":int,"s":string}`, hi.Version))
	default:
		s.line(c.s(), fmt.Sprintf(`+HI {"v":%d}`, hi.Version))
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
		if state := stateOf(r); state != "" {
			s.operate(cmd, state)
			return fmt.Sprintf(`+{"state":%q} | ${"state":%[1]q}`, state)
		}
	}
	if r.Kind == fwp.SimpleString && string(r.Text) == "OK" {
		return "+OK"
	}
	return mayAnswer(cmd.verb)
}

// mayAnswer returns what a command may be answered with.
func mayAnswer(verb string) string {
	switch verb {
	case fwp.FETCH:
		return "$ | $-1 | -"
	case fwp.INFO:
		return "$ | -"
	case fwp.BEAT:
		return "+ | $ | -"
	case fwp.HELLO, fwp.PUSH, fwp.ACK, fwp.FAIL, fwp.FLUSH, fwp.END:
		return "+OK | -"
	}
	return "<any>"
}

func stateOf(r fwp.Reply) string {
	var named struct{ State string }
	if (r.Kind == fwp.SimpleString || r.Kind == fwp.BulkString) && json.Unmarshal(r.Text, &named) == nil {
		if named.State == "quiet" || named.State == "terminate" {
			return named.State
		}
	}
	return ""
}

// operate has an operator order the state before the BEAT that learns of it.
func (s *script) operate(cmd sent, state string) {
	if cmd.wid == "" || s.signal[cmd.wid+" "+state] || cmd.place >= len(s.lines) {
		return
	}
	s.signal[cmd.wid+" "+state] = true
	s.lines[cmd.place] = state + " " + s.names.of(famWid, cmd.wid) + "\n" + s.lines[cmd.place]
}

func (s *script) closed(c *scripted, e *monitor.Event) {
	unanswered := len(c.inFlight) > 0 && c.inFlight[0].verb == fwp.END
	switch {
	case unanswered:
		s.line(c.s(), "+OK | <close>") // the client did not wait for it
	case c.ended || e.By == monitor.Server:
		s.line(c.s(), "<close>")
	case e.Reset:
		s.line(c.c(), "<reset>")
	default:
		s.line(c.c(), "<close>")
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
	s.setup = append(s.setup, "C[setup]: PUSH "+s.rewrite(unit, fwp.PUSH), "S[setup]: +OK")
}

// format returns the script in its normal form.
func (s *script) format() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "title: a conversation of %d connections, as it was recorded\n", s.opened)
	if s.bare {
		b.WriteString("needs: alone\n")
	}
	b.WriteString("\n")
	if s.cut != "" {
		fmt.Fprintf(&b, "# the record ends here before the conversation did: %s\n", s.cut)
	}
	if len(s.setup) > 0 {
		b.WriteString("# jobs that were on the server before\nconnect setup as producer\n")
		b.WriteString(strings.Join(s.setup, "\n") + "\n\n")
	}
	b.WriteString(strings.Join(s.lines, "\n") + "\n")
	text := []byte(s.names.final(b.String(), s.bare))
	parsed, err := scenarios.Parse(fwpdialect.Dialect{}, "recorded", text)
	if err != nil {
		return text, fmt.Errorf("the script of the recording is not in order: %w", err)
	}
	scenarios.MarkBad(parsed)
	return scenarios.Format(parsed), nil
}
