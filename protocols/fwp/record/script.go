package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

const (
	maxLines = 90_000 // the language has 100,000
	maxConns = 900    // the language has 1000
	maxLine  = 900_000
	// minSilence is from how long on a pause between two events is kept: shorter ones are only the clients' own pace.
	minSilence = time.Second
)

// script is what has passed, as lines of the script language.
type script struct {
	start            time.Time
	dialect          scenarios.Dialect
	password         string // the password, if it is known
	limit            int
	size             int
	lines            []lineWriter
	setup            []lineWriter // of the jobs that were on the server before
	names            *names
	conns            map[int]*scriptConn
	cutReason        string // why the script is not whole
	usesDefaultQueue bool   // the queue default is used without its name
	hasSignal        map[string]bool
	hasFailed        map[string]bool // jids with a FAIL: they come again, the server decides when
	connCount        int
	lastTime         time.Duration
}

// lineWriter writes a line of the script, once it is known which names it has.
type lineWriter func(*scenarios.Builder)

// scriptConn is an open connection of the script.
type scriptConn struct {
	name     string
	hi       fwp.Hi
	inFlight []pendingLine
	hasEnded bool // END was sent
}

// pendingLine is a line that waits for its reply: its place in the script, and what it was.
type pendingLine struct {
	verb  string
	index int
	wid   string
}

func newScript(begun time.Time, limit int, password string) *script {
	return &script{
		dialect: fwpscript.Dialect{},
		start:   begun, limit: limit, password: password, names: newNames(), conns: map[int]*scriptConn{},
		hasSignal: map[string]bool{},
		hasFailed: map[string]bool{},
	}
}

// add writes an event, below what was found by it.
func (s *script) add(e *clientrules.Event, breaches []clientrules.Breach) {
	c := s.conns[e.Conn]
	if e.Kind != clientrules.ConnOpen && c == nil {
		return
	}
	if s.cutReason != "" {
		return
	}
	s.pause(e.At)
	for _, b := range breaches {
		s.comment(b.Name + ": " + text.Printable(b.Text))
	}
	switch e.Kind {
	case clientrules.ConnOpen:
		s.openConn(e.Conn)
	case clientrules.Line:
		s.client(c, e)
	case clientrules.Reply:
		s.server(c, e)
	case clientrules.BrokenReply:
		s.comment("not RESP: " + text.Printable(e.Syntax.Error()))
		if len(c.inFlight) > 0 {
			s.expect(c, answersTo(c.inFlight[0].verb))
		}
	case clientrules.ConnClose:
		s.closeConn(c, e)
	case clientrules.ByteLoss:
		s.truncate("bytes of a connection were lost")
	}
}

// line adds a line of a size in bytes, unless there are too many.
func (s *script) line(size int, w lineWriter) {
	switch {
	case s.cutReason != "":
		return
	case len(s.lines) >= maxLines:
		s.truncate(fmt.Sprintf("it has more than %d lines", maxLines))
	case s.size+s.names.size+size > s.limit:
		s.truncate(fmt.Sprintf("it is longer than %d bytes", s.limit))
	case size > maxLine:
		s.truncate("a line is too long for a script")
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

// textOverhead is how many bytes of a line of the transcript stand before its text, beside the name of its connection.
const textOverhead = len("C[]: ")

func (s *script) send(c *scriptConn, text string) {
	s.line(textOverhead+len(c.name)+len(text), func(b *scenarios.Builder) { b.Send(c.name, s.nameDefaultQueue(text)) })
}

func (s *script) expect(c *scriptConn, text string) {
	s.line(textOverhead+len(c.name)+len(text), func(b *scenarios.Builder) {
		b.Expect(c.name, scenarios.Window{}, s.nameDefaultQueue(text))
	})
}

// nameDefaultQueue returns a text with the name of the queue default.
func (s *script) nameDefaultQueue(text string) string {
	return s.names.fillDefaultQueue(text, s.usesDefaultQueue)
}

func (s *script) truncate(reason string) {
	s.cutReason = cmp.Or(s.cutReason, reason)
}

// pause writes a wait in which nothing passed and nothing was awaited.
func (s *script) pause(at time.Duration) {
	gap := (at - s.lastTime).Round(10 * time.Millisecond)
	isWaiting := false
	for _, c := range s.conns {
		isWaiting = isWaiting || len(c.inFlight) > 0
	}
	if gap >= minSilence && len(s.conns) > 0 && !isWaiting {
		s.silence(gap)
	}
	s.lastTime = at
}

func (s *script) openConn(number int) {
	s.connCount++
	if s.connCount > maxConns {
		s.truncate(fmt.Sprintf("there were more than %d connections", maxConns))
		return
	}
	c := &scriptConn{name: fmt.Sprintf("c%d", number)}
	s.conns[number] = c
	s.line(len("connect  as raw")+len(c.name), func(b *scenarios.Builder) { b.Connect(c.name, scenarios.Raw, "") })
}

// client writes a line that a client sent.
func (s *script) client(c *scriptConn, e *clientrules.Event) {
	if e.IsUnread {
		s.truncate(fmt.Sprintf("a line of %d bytes was not kept", e.Size))
		return
	}
	wid, _ := e.Object["wid"].(string)
	c.inFlight = append(c.inFlight, pendingLine{e.Command.Verb, len(s.lines), wid})
	c.hasEnded = c.hasEnded || e.Command.Verb == fwp.END
	if jid, ok := e.Object["jid"].(string); ok && e.Command.Verb == fwp.FAIL {
		s.hasFailed[jid] = true
		s.size += len(jid)
	}
	if text, ok := s.text(e); ok {
		s.send(c, text)
		return
	}
	raw := string(maskHash(e.Raw))
	s.line(len(" raw")+textOverhead+len(c.name)+len(strconv.Quote(raw)), func(b *scenarios.Builder) { b.Raw(c.name, raw) })
}

// server writes a reply.
func (s *script) server(c *scriptConn, e *clientrules.Event) {
	if e.IsGreeting {
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
	if cmd.verb == fwp.FETCH && s.isRetry(e.Reply) && s.cutReason == "" {
		s.writeRetry(c, cmd, e.Reply)
		return
	}
	s.expect(c, s.reply(cmd, e.Reply))
}

func (s *script) isRetry(r fwp.Reply) bool {
	var job fwp.Job
	return r.Kind == fwp.BulkString && json.Unmarshal(r.Text, &job) == nil && s.hasFailed[job.JID]
}

// writeRetry has a play fetch until a job has come back, since the time of a retry is the server's choice.
func (s *script) writeRetry(c *scriptConn, cmd pendingLine, r fwp.Reply) {
	fetch := s.lines[cmd.index]
	s.lines[cmd.index] = func(b *scenarios.Builder) { b.Comment("") }
	s.line(len("eventually"), func(b *scenarios.Builder) { b.Begin(&scenarios.Block{Kind: scenarios.Eventually}) })
	s.line(0, fetch)
	s.expect(c, s.reply(cmd, r))
	s.line(len("end"), (*scenarios.Builder).End)
}

func (s *script) greeting(c *scriptConn, r fwp.Reply) {
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
func (s *script) reply(cmd pendingLine, r fwp.Reply) string {
	switch {
	case r.Kind == fwp.ErrorReply:
		return "-"
	case r.Kind == fwp.NullBulk && cmd.verb == fwp.FETCH:
		return "$-1"
	case r.Kind == fwp.BulkString && cmd.verb == fwp.FETCH:
		return s.expectJob(r.Text)
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
	return answersTo(cmd.verb)
}

// answers are what commands may be answered with.
var answers = map[string]string{
	fwp.FETCH: "$ | $-1 | -", fwp.INFO: "$ | -", fwp.BEAT: "+ | $ | -",
	fwp.HELLO: okOrError, fwp.PUSH: okOrError, fwp.ACK: okOrError, fwp.FAIL: okOrError, fwp.FLUSH: okOrError,
	fwp.END: okOrError,
}

const okOrError = "+OK | -"

// answersTo returns what a command may be answered with.
func answersTo(verb string) string { return cmp.Or(answers[verb], "<any>") }

// operate has an operator order the state before the BEAT that learns of it.
func (s *script) operate(cmd pendingLine, state string) {
	if cmd.wid == "" || s.hasSignal[cmd.wid+" "+state] || cmd.index >= len(s.lines) {
		return
	}
	s.hasSignal[cmd.wid+" "+state] = true
	beat, client := s.lines[cmd.index], s.names.nameOf(famWid, cmd.wid)
	s.lines[cmd.index] = func(b *scenarios.Builder) {
		b.Add(&scenarios.Operate{Action: target.Action(state), Worker: b.Template(client)[0]})
		beat(b)
	}
}

func (s *script) end(c *scriptConn, ending scenarios.Ending) {
	size := textOverhead + len(c.name) + len(ending.String())
	s.line(size, func(b *scenarios.Builder) { b.Close(c.name, ending) })
}

func (s *script) closeConn(c *scriptConn, e *clientrules.Event) {
	isEndUnanswered := len(c.inFlight) > 0 && c.inFlight[0].verb == fwp.END
	switch {
	case isEndUnanswered:
		s.expect(c, "+OK | <close>") // the client did not wait for it
	case c.hasEnded || e.Closer == clientrules.Server:
		s.expect(c, "<close>")
	case e.IsReset:
		s.end(c, scenarios.Reset)
	default:
		s.end(c, scenarios.Closed)
	}
	delete(s.conns, e.Conn)
}

// expectJob returns a job as an expectation. A job that nothing in the script has pushed was on the server before.
func (s *script) expectJob(text []byte) string {
	var job fwp.Job
	if json.Unmarshal(text, &job) != nil || job.JID == "" || job.Type == "" {
		return "$"
	}
	if !s.names.has(famJID, job.JID) {
		s.addSetupJob(job)
	}
	args := job.Args
	if args == nil {
		args = json.RawMessage("[]")
	}
	return fmt.Sprintf(`${"jid":"%s","jobtype":%s,"args":%s}`, s.names.nameOf(famJID, job.JID), quoteJSON(job.Type),
		s.rewrite(args, ""))
}

// addSetupJob writes a PUSH of a job before everything else, without its times and its failure.
func (s *script) addSetupJob(job fwp.Job) {
	s.names.nameOf(famJID, job.JID)
	s.usesDefaultQueue = s.usesDefaultQueue || job.Queue == ""
	job.EnqueuedAt, job.CreatedAt, job.At, job.Failure = "", "", "", nil
	unit, err := job.MarshalJSON()
	if err != nil {
		return
	}
	if s.size += len(unit); s.size > s.limit {
		s.truncate(fmt.Sprintf("it is longer than %d bytes", s.limit))
		return
	}
	push := "PUSH " + s.rewrite(unit, fwp.PUSH)
	s.setup = append(s.setup, func(b *scenarios.Builder) {
		b.Send("setup", s.nameDefaultQueue(push))
		b.Expect("setup", scenarios.Window{}, "+OK")
	})
}

// format returns the script in its normal form.
func (s *script) format() ([]byte, error) {
	b := scenarios.NewBuilder(s.dialect)
	b.Script.Title = fmt.Sprintf("a conversation of %d connections, as it was recorded", s.connCount)
	if s.usesDefaultQueue {
		b.Script.Needs = []scenarios.Need{scenarios.NeedAlone}
	}
	b.Comment("")
	if s.cutReason != "" {
		b.Comment("# the record ends here, before the end of the conversation: " + s.cutReason)
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
