package law_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

// The parts of most conversations.
const (
	hello      = `1 C: HELLO {"hostname":"h","wid":"worker-1","pid":1,"labels":[],"v":2}` + "\n1 S: +OK"
	otherHello = `2 C: HELLO {"hostname":"h","wid":"worker-2","pid":2,"labels":[],"v":2}` + "\n2 S: +OK"
	push       = `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[9007199254740993],"queue":"q"MORE}` +
		"\n1 S: +OK"
	take         = "1 C: FETCH q\n1 S: JOB"
	fetchNothing = "1 C: FETCH q\n+2s\n1 S: $-1"
	fail         = `1 C: FAIL {"jid":"jid-0000000000000001","errtype":"Boom","message":"it broke",` +
		`"backtrace":["line one of it","line two of it"]}` + "\n1 S: +OK"
	ack = `1 C: ACK {"jid":"jid-0000000000000001"}` + "\n1 S: +OK"
)

// join joins the parts of a conversation.
func join(parts ...string) string { return strings.Join(parts, "\n") }

// pushWith is a PUSH that is accepted, with more fields, or with others of the same names.
func pushWith(fields string) string {
	text := push
	for _, field := range []string{`,"args":[9007199254740993]`, `,"queue":"q"`} {
		if name, _, _ := strings.Cut(field, ":"); strings.Contains(fields, name+":") {
			text = strings.Replace(text, field, "", 1)
		}
	}
	return strings.Replace(text, "MORE", fields, 1)
}

// pushSecond is a PUSH of another job.
func pushSecond(fields string) string { return strings.ReplaceAll(pushWith(fields), `01"`, `02"`) }

// refuse has the reply of a command be an error.
func refuse(command string) string { return strings.Replace(command, "+OK", "-ERR", 1) }

// onConn has the first connection's lines be those of another.
func onConn(conn, lines string) string {
	return conn + strings.ReplaceAll(lines[1:], "\n1 ", "\n"+conn+" ")
}

// conversation is a world, and its clock.
type conversation struct {
	t    *testing.T
	w    *fwplaw.World
	now  time.Time
	jobs []map[string]any // that were pushed

	pushTimes []string // when they were
}

// talk plays a conversation, in the notation of package transcript, and returns what its last line broke. A line that
// is marked with > breaks something, and no other may before the last. A connection has the right greeting unless it
// begins with another. Of its own a conversation has
//
//	1 S: JOB        the first job that was pushed, JOB2 the second, with fields of a JSON object behind them in
//	                the place of their own ("ABSENT" leaves one out)
//	1 C: HELLO      HASH in it is the hash that it needs
//	1 unjudge       the connection is not judged any more
//	adds            the server has what the extension of Faktory adds
//	protected, slack 1s, restart, stop, kill, stood, signal worker-1 quiet
func talk(t *testing.T, text string) *law.Violation {
	t.Helper()
	var v *law.Violation
	newConversation(t).play(text, func(e transcript.Event, broken *law.Violation) {
		require.Nil(t, v, "before %s", e)
		if v = broken; e.IsMarked {
			require.NotNil(t, v, e)
			v = nil
		}
	})
	return v
}

func newConversation(t *testing.T) *conversation {
	t.Helper()
	return &conversation{t: t, w: fwplaw.NewWorld(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// play plays more of a conversation, and calls a function with each event and what it broke.
func (c *conversation) play(text string, each func(transcript.Event, *law.Violation)) {
	events, err := transcript.Parse(text + "\nover")
	require.NoError(c.t, err)
	began := c.now
	for _, e := range events {
		if c.now = began.Add(e.At); string(e.Bytes) != "over" {
			each(e, c.event(e))
		}
	}
}

func (c *conversation) event(e transcript.Event) *law.Violation {
	if e.Conn != "" {
		conn, err := strconv.Atoi(e.Conn)
		require.NoError(c.t, err, e)
		return c.playConn(conn, e)
	}
	word, rest, _ := strings.Cut(string(e.Bytes), " ")
	switch word {
	case "slack":
		d, err := time.ParseDuration(rest)
		require.NoError(c.t, err)
		c.w.Slack = d
	case "protected":
		c.w.Protected, c.w.Password = true, "secret"
	case "adds":
		c.w.HasExtensionVerb = fwpscript.Faktory.Has
	case "restart":
		c.w.RecordRestart()
	case "kill", "stop":
		c.w.RecordStop(word == "kill", c.now)
	case "stood":
		c.w.RecordHalt(c.now)
	case "signal":
		wid, state, _ := strings.Cut(rest, " ")
		c.w.Signal(wid, state)
	default:
		require.Fail(c.t, "unknown words", "%s", e)
	}
	return nil
}

// playConn plays an event of a connection, which is opened by its first one.
func (c *conversation) playConn(conn int, e transcript.Event) *law.Violation {
	line := strings.TrimSuffix(string(e.Bytes), "\r\n")
	if c.w.Conns[conn] == nil {
		c.w.Open(conn)
		c.w.Conns[conn].OpenedAt = c.now
		if e.Kind == transcript.Client {
			hi := `+HI {"v":2}`
			if c.w.Protected {
				hi = `+HI {"v":2,"i":3,"s":"salt-` + strconv.Itoa(conn) + `"}`
			}
			require.Nil(c.t, c.w.Greet(conn, reply(hi)))
		}
	}
	switch e.Kind {
	case transcript.Client:
		c.send(conn, line)
	case transcript.Server:
		if strings.HasPrefix(line, "+HI ") {
			return c.w.Greet(conn, reply(line))
		}
		_, v := c.w.FollowReply(conn, c.reply(line), c.now)
		return v
	case transcript.ServerEnd:
		return c.w.Close(conn, true, c.now)
	case transcript.ClientEnd:
		if line != "fin" {
			return c.w.Close(conn, false, c.now)
		}
		c.w.Shut(conn)
	default:
		require.Equal(c.t, "unjudge", line)
		c.w.Conns[conn].Unjudged = fwplaw.NotLines
	}
	return nil
}

func (c *conversation) send(conn int, line string) {
	if unit, ok := strings.CutPrefix(line, "PUSH "); ok {
		job := map[string]any{}
		if json.Unmarshal([]byte(unit), new(any)) == nil && strings.HasPrefix(unit, "{") {
			decoder := json.NewDecoder(strings.NewReader(unit))
			decoder.UseNumber()
			require.NoError(c.t, decoder.Decode(&job))
		}
		c.jobs, c.pushTimes = append(c.jobs, job), append(c.pushTimes, c.now.Format(time.RFC3339))
	}
	if hi := c.w.Conns[conn].Hi; strings.Contains(line, "HASH") {
		hash, err := fwp.PasswordHash(c.w.Password, hi.Salt, hi.Iterations)
		require.NoError(c.t, err)
		line = strings.ReplaceAll(line, "HASH", hash)
	}
	c.w.FollowCommand(conn, []byte(line), c.now)
}

// reply is what an S line says.
func (c *conversation) reply(line string) fwp.Reply {
	rest, ok := strings.CutPrefix(line, "JOB")
	if !ok {
		return reply(line)
	}
	n := 0
	if rest, ok = strings.CutPrefix(rest, "2"); ok {
		n = 1
	}
	now := c.now.Format(time.RFC3339)
	job := map[string]any{"created_at": c.pushTimes[n], "enqueued_at": now}
	for name, value := range c.jobs[n] {
		if name != "enqueued_at" && name != "failure" {
			job[name] = value
		}
	}
	change, trailing := map[string]any{}, ""
	if strings.HasPrefix(rest, " ") {
		decoder := json.NewDecoder(strings.NewReader(strings.ReplaceAll(rest, "NOW", now)))
		decoder.UseNumber()
		require.NoError(c.t, decoder.Decode(&change), rest)
	} else {
		trailing = rest
	}
	for name, value := range change {
		if job[name] = value; value == "ABSENT" {
			delete(job, name)
		}
	}
	text, err := json.Marshal(job)
	require.NoError(c.t, err)
	return fwp.Reply{Kind: fwp.BulkString, Text: append(text, trailing...)}
}

func reply(text string) fwp.Reply {
	switch {
	case text == "$-1":
		return fwp.Reply{Kind: fwp.NullBulk}
	case text[0] == ':':
		return fwp.Reply{Kind: fwp.Integer, Int: 1}
	}
	return fwp.Reply{Kind: fwp.Kind(text[0]), Text: []byte(text[1:])}
}

// summary is a violation in short: its clause and rule, whether it is only doubtful or breaks a recommendation; ""
// for none.
func summary(v *law.Violation) string {
	if v == nil {
		return ""
	}
	words := []string{v.Clause, v.Rule}
	if v.Doubtful {
		words = append(words, "doubtful")
	}
	if v.IsRecommendation {
		words = append(words, "should")
	}
	return strings.Join(words, " ")
}

// row is a conversation and what its last line breaks, in short.
type row struct{ talk, want string }

func judge(t *testing.T, rows map[string]row) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := talk(t, row.talk)
			assert.Equal(t, row.want, summary(v), "%v", v)
		})
	}
}
