package law_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
)

// echo is the law of a protocol whose server greets with "hi" and answers each command with its text. It keeps what it
// was given. "get x" waits for the answer to "put x".
type echo struct {
	sent map[int]string
	log  []string
}

func (l *echo) Open(int, time.Time) {}
func (l *echo) Sent(conn int, all []byte, _ bool, _ time.Time) law.Sent {
	l.sent[conn] = string(all)
	return law.Sent{DueReplies: 1 + strings.Count(string(all), "+")}
}

func (l *echo) Judge(conn int, m session.Message, _ time.Time) (a law.Answer) {
	sent := l.sent[conn]
	if sent == "" {
		sent = "hi"
	}
	delete(l.sent, conn)
	l.log = append(l.log, sent)
	if a.Rules.KeptRules = []string{sent}; strings.HasPrefix(sent, "open") {
		a.Rules = law.Decided{OpenRules: []string{sent}, OpenReason: "it is open"}
	}
	if got := string(m.Text); got != sent {
		rule, job, _ := strings.Cut(sent, " ")
		a.Violation = &law.Violation{Rule: rule, JID: job, Expected: sent, Got: got}
		a.Declined, a.IsRefusal = got == "no", got == "err"
	}
	return a
}

func (l *echo) HalfClose(conn int) { l.log = append(l.log, "shut") }
func (l *echo) Close(int, bool, time.Time) *law.Violation {
	l.log = append(l.log, "close")
	return nil
}
func (l *echo) Operated(action target.Action, _ string) { l.log = append(l.log, string(action)) }
func (l *echo) StopJudging(job string)                  { l.log = append(l.log, "unjudge "+job) }
func (l *echo) Waits(_ int, m session.Message) bool {
	x, gets := strings.CutPrefix(string(m.Text), "get ")
	for _, sent := range l.sent {
		if gets && sent == "put "+x {
			return true
		}
	}
	return false
}

// TestWatch plays events: "a" dials a connection, "a>x" sends, "a<x" receives, "a!" ends it, "a#" is its end by the
// server, "restart" is the operator's.
func TestWatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events string
		found  string // rules
		log    string // what the law was given, in its order
	}{
		"right":                         {"a a<hi a>ping a<ping", "", "hi,ping"},
		"a wrong reply":                 {"a a<hi a>ping_j a<pong", "ping", "hi,ping j,unjudge j"},
		"its job is judged further":     {"a a<hi a>keep_j a<pong", "keep", "hi,keep j"},
		"a greeting":                    {"a a<ho", "hi", "hi"},
		"commands one after the other":  {"a a<hi a>x a>y a<x a<z", "y", "hi,x,y"},
		"a time behind another command": {"a a<hi a>x a>timed a<x a<z", "", "hi,x,timed"},
		"a time":                        {"a a<hi a>timed a<z", "timed", "hi,timed"},
		"a consequence that is read first": {
			"a b a<hi b<hi a>put_1 b>get_1 b<get_1 a<put_1", "", "hi,hi,put 1,get 1",
		},
		"what never comes is not awaited": {"a b a<hi b<hi a>put_1 b>get_1 b<get_1", "", "hi,hi,get 1"},
		"the end of what it waits for":    {"a b a<hi b<hi a>put_1 b>get_1 b<get_1 a!", "", "hi,hi,close,get 1"},
		"several commands in one write":   {"a a<hi a>x+y a<z a>x a<z", "", "hi"},
		"a message too many":              {"a a<hi a<hi a>x a<z", "", "hi"},
		"an introduction is refused":      {"a a<hi a>hello a<no a>x a<z", "", "hi,hello"},
		"a restart":                       {"a a<hi restart a<z b b<ho", "hi", "hi,close,restart,hi"},
		"an end":                          {"a a<hi a>x a! a<z", "", "hi,close"},
		"half an end":                     {"a a<hi a>x a/ a<z", "x", "hi,shut,x"},
	} {
		l := &echo{sent: map[int]string{}}
		w := law.NewWatch(law.Definition{
			Start: func(law.Terms) law.Law { return l }, Greets: true,
			Rules: map[string]law.Rule{"keep": {Traits: law.JobStays}, "timed": {Traits: law.Timed}},
		}, law.Terms{})
		assert.Equal(t, test.found, brokenRules(t, w, test.events, "timed"), name)
		assert.Equal(t, test.log, strings.Join(l.log, ","), name)
	}
}

// A play is given the rules alone whose breach is wrong whatever a line expects.
func TestWhatIsWrongWhateverALineExpects(t *testing.T) {
	t.Parallel()
	w := law.NewWatch(law.Definition{
		Start: func(law.Terms) law.Law { return &echo{sent: map[int]string{}} },
		Rules: map[string]law.Rule{"other": {Traits: law.Misplaced}},
	}, law.Terms{})
	c, at := w.Dialed("a"), time.Now()
	for i, command := range []string{"other", "x"} {
		c.Sent([]byte(command), at)
		c.Received(session.Received{At: at.Add(time.Duration(i)), Message: session.Message{Text: []byte("z")}})
	}
	for _, test := range []struct {
		conn  string
		after time.Duration
		want  string
	}{{"a", 0, "z; "}, {"a", 1, ""}, {"b", 0, ""}} {
		_, got := w.BrokenClause(test.conn, at.Add(test.after))
		assert.Equal(t, test.want, got, "%s after %v", test.conn, test.after)
	}
}

// brokenRules returns the rules that events break; timed is the one whose premise is a span of time. "+6s" is a pause.
func brokenRules(t *testing.T, w *law.Watch, events, timed string) string {
	t.Helper()
	conns := map[string]session.Observer{}
	for event := range strings.FieldsSeq(events) {
		if pause, ok := strings.CutPrefix(event, "+"); ok {
			d, err := time.ParseDuration(pause)
			require.NoError(t, err)
			<-time.After(d)
			continue
		}
		play(w, conns, event)
	}
	var rules []string
	for _, f := range w.Occurrences() {
		rules = append(rules, f.Rule)
		assert.Equal(t, f.Rule == timed, f.IsTimed, events)
	}
	return strings.Join(rules, ",")
}

// play has a Watch observe one event.
func play(w *law.Watch, conns map[string]session.Observer, event string) {
	event = strings.ReplaceAll(event, "_", " ")
	if event == "restart" {
		w.Operated(target.Restart, "")
		return
	}
	c, action := conns[event[:1]], event[1:]
	switch {
	case action == "":
		conns[event] = w.Dialed(event)
	case action == "!":
		c.Ended(session.Closed)
	case action == "/":
		c.Ended(session.HalfClosed)
	case action == "#":
		c.Ended(session.Fin)
	case action[0] == '>':
		c.Sent([]byte(action[1:]), time.Now())
	default:
		c.Received(session.Received{At: time.Now(), Message: session.Message{Text: []byte(action[1:])}})
	}
}

// pusher is an echo whose server also sends by itself: to "want x" a message "x" is due on the first connection.
type pusher struct {
	*echo
	text string
}

func (l *pusher) Sent(_ int, all []byte, _ bool, _ time.Time) (s law.Sent) {
	l.text, _ = strings.CutPrefix(string(all), "want ")
	return s
}

func (l *pusher) Judge(_ int, m session.Message, _ time.Time) (a law.Answer) {
	if string(m.Text) != l.text {
		a.Violation = &law.Violation{Rule: string(m.Text)}
	}
	l.text = ""
	return a
}

func (l *pusher) Missed(*law.DueMessage) { l.text = "" }
func (l *pusher) NextMessage(time.Time) *law.DueMessage {
	if l.text == "" {
		return nil
	}
	return &law.DueMessage{Conns: []int{0}, Missing: law.Violation{Rule: "missing", JID: l.text}}
}

// TestWatchOfAServerThatSendsByItself: no message needs a command, and what is due has five seconds.
func TestWatchOfAServerThatSendsByItself(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ events, found string }{
		"what is due comes":            {"a b b>want_1 a<1", ""},
		"a message without a command":  {"a b a<1 b<2", "1,2"},
		"what is due does not come":    {"a b b>want_1 +6s b>x", "missing"},
		"it comes late":                {"a b b>want_1 +6s a<1", "missing,1"},
		"it still has time":            {"a b b>want_1 +5s b>x", ""},
		"it is due for another reason": {"a b b>want_1 +4s b>want_2 +4s b>x", ""},
		"the play ends":                {"a b b>want_1 +9s", ""},
		"the server is started again":  {"a b b>want_1 restart +9s", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := law.NewWatch(law.Definition{
				Start: func(law.Terms) law.Law { return &pusher{echo: &echo{sent: map[int]string{}}} },
				Rules: map[string]law.Rule{"missing": {Traits: law.Timed}},
			}, law.Terms{})
			assert.Equal(t, test.found, brokenRules(t, w, test.events, "missing"), name)
		})
	}
}

// TestManyAlike: of violations of one rule and clause the first ones are kept.
func TestManyAlike(t *testing.T) {
	t.Parallel()
	start := func(law.Terms) law.Law { return &echo{sent: map[int]string{}} }
	w := law.NewWatch(law.Definition{Start: start}, law.Terms{})
	play(w, map[string]session.Observer{}, "a")
	conns := map[string]session.Observer{"b": w.Dialed("b")}
	for range 300 {
		play(w, conns, "b>x")
		play(w, conns, "b<y")
	}
	play(w, conns, "b>other")
	play(w, conns, "b<y")
	assert.Len(t, w.Occurrences(), 101)
}

// TestWatchOfAServerThatMayEnd: where operators are not seen, a refusal is a violation when a connection of that time
// is served later, or no connection was closed behind it.
func TestWatchOfAServerThatMayEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ events, found, later string }{
		"it goes on":                         {"a a<hi a>x a<err a>y a<y", "x", "x"},
		"it goes on elsewhere":               {"a b a<hi b<hi a>x a<err b>y b<y", "x", "x"},
		"no more is sent":                    {"a a<hi a>x a<err a!", "", "x"},
		"it ends":                            {"a b a<hi b<hi a>x a<err b>y b<err a# b#", "", ""},
		"it was started again":               {"a a<hi a>x a<err a# b b<hi b>y b<y", "", ""},
		"it has not ended":                   {"a b a<hi b<hi a>x a<err a# b>y b<y", "x", "x"},
		"the reply to an earlier command":    {"a b a<hi b<hi b>y a>x a<err b<y a#", "", ""},
		"a wrong reply that does not refuse": {"a a<hi a>x a<z a#", "x", "x"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := law.NewWatch(law.Definition{
				Start: func(law.Terms) law.Law { return &echo{sent: map[int]string{}} }, Greets: true,
			}, law.Terms{IsShared: true})
			events := strings.ReplaceAll(test.events, " ", " +1ms ")
			assert.Equal(t, test.found, brokenRules(t, w, events, ""), name)
			w.Close()
			assert.Equal(t, test.later, brokenRules(t, w, "", ""), name)
		})
	}
}

// TestRefusalsOfAServerThatIsDisturbed: until it has settled they have a reason, and later they do not.
func TestRefusalsOfAServerThatIsDisturbed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := law.NewWatch(law.Definition{
			Start: func(law.Terms) law.Law { return &echo{sent: map[int]string{}} }, Greets: true,
		}, law.Terms{IsShared: true})
		w.Disturbed(time.Now().Add(2 * time.Second))
		assert.Equal(t, "y", brokenRules(t, w, "a +1s a<hi a>x a<err +2s a>y a<err +1s a>z a<z", ""))
	})
}
