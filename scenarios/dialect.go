package scenarios

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
	"github.com/fwpsuite/fwp/internal/text"
)

// greet plays HI and HELLO on a fresh connection. (Not Identified State; HELLO
// Command)
func (l *lane) greet(ctx context.Context, c *conn) error {
	a, err := c.Answer(ctx)
	if err != nil {
		return err
	}
	if err := greeting(a); err != nil {
		return err
	}
	line, err := l.helloLine(c)
	if err != nil {
		return err
	}
	c.says(line)
	if err := c.Write(ctx, [][]byte{[]byte(line + "\r\n")}, 0); err != nil {
		return err
	}
	if a, err = c.Answer(ctx); err != nil {
		return err
	}
	if a.Ending == Open && !a.GaveUp {
		l.Crowd.seen.note(welcoming)
	}
	if !a.Whole() || fwp.Kind(a.Message.Kind) != fwp.SimpleString || string(a.Message.Text) != "OK" {
		return unwelcome("HELLO", a)
	}
	return nil
}

// greeting returns why what came first is no HI.
func greeting(a session.Received) error {
	if a.Whole() {
		if _, ok := fwpsession.ReadHi(a.Message); ok {
			return nil
		}
	}
	return unwelcome("", a)
}

// widName is the worker id of consumers that are not told another one.
func widName() *ref { return &ref{text: "$wid", base: "wid"} }

// helloLine is the HELLO of a connection that greets by itself. Connections of
// one script share its worker id unless told otherwise, and with it host name,
// process id and labels.
func (l *lane) helloLine(c *conn) (string, error) {
	usual := &Object{}
	if c.role == Consumer {
		usual.fields = []field{
			{"hostname", literal{"fwpcheck"}},
			{"wid", capture{ref: widName()}},
			{"pid", literal{os.Getpid()}},
			{"labels", array{elems: []node{literal{"fwpcheck"}}}},
		}
	}
	if c.state.Hi().Protected {
		usual.fields = append(usual.fields, field{"pwdhash", capture{ref: &ref{text: "$pwdhash", kind: refPwdhash, same: true}}})
	}
	usual.fields = append(usual.fields, field{"v", literal{2}})
	hello := c.hello
	if hello == nil {
		hello = &Object{}
	}
	text, err := l.merged(c, usual, hello)
	return fwp.HELLO + " " + text, err
}

// pwdhash computes the password hash for the HI of a connection, or a wrong
// one that misses it in a given way. (Required Fields for Protected Server)
func (l *lane) pwdhash(c *conn, r *ref) (string, error) {
	if !r.same {
		l.mu.Lock()
		c = l.conns[r.conn]
		l.mu.Unlock()
		if c == nil {
			return "", fmt.Errorf("%s: there is no connection %s", r.text, r.conn)
		}
	}
	if !c.state.Hi().Protected {
		return "", fmt.Errorf("%s: the server's HI asks for no password", r.text)
	}
	password, rounds := l.Password, c.state.Hi().Iterations
	switch r.variant {
	case "fewer":
		if rounds--; rounds == 0 {
			return hex.EncodeToString([]byte(password + c.state.Hi().Salt)), nil
		}
	case "more":
		rounds++
	case "wrong":
		password += "-not"
	case "hex":
		return hexRounds(password+c.state.Hi().Salt, rounds)
	}
	return fwp.PasswordHash(password, c.state.Hi().Salt, rounds)
}

// hexRounds hashes the hexadecimal text between the rounds, which is wrong. Where
// there is one round only, and so nothing between, it hashes that of the text.
func hexRounds(text string, rounds int) (string, error) {
	if rounds > fwp.MaxIterations {
		return "", fmt.Errorf("%d iterations are more than the suite computes", rounds)
	}
	if rounds == 1 {
		text = hex.EncodeToString([]byte(text))
	}
	for range rounds {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return text, nil
}

// job writes a work unit with every field set, so that a script tests what it
// means to test; with replaces or adds fields. (Work units)
func (l *lane) job(c *conn, with *Object) (string, error) {
	jid := &ref{text: "$jid", base: "jid"}
	if l.scope.round >= 0 { // every repetition pushes a job of its own
		jid = &ref{text: "$jid#", base: "jid", indexed: true}
	}
	return l.merged(c, &Object{fields: []field{
		{"jid", capture{ref: jid}},
		{"jobtype", literal{"fwpcheck"}},
		{"args", array{}},
		{"queue", capture{ref: &ref{text: "$queue", base: "queue"}}},
		{"reserve_for", literal{1800}},
		{"retry", literal{0}},
		{"backtrace", literal{0}},
		{"created_at", literal{time.Now().UTC().Format(timeForm)}},
		{"custom", &Object{}},
	}}, with)
}

// beat keeps the workers of a long script alive: a consumer that does not beat
// has no claim on its connection. (BEAT Command)
func (l *lane) beat(ctx context.Context) {
	const every = 15 * time.Second
	for _, c := range l.mine() {
		status := c.Status()
		alive := status.Phase == session.Serving || status.Phase == session.Restricted
		if c.role != Consumer || !alive || status.Owed > 0 || c.excused.Load() || c.Ended() != Open || time.Since(c.beaten) < every {
			continue
		}
		if _, came := c.Waiting(); came {
			continue
		}
		wid, ok := l.widOf(c)
		if !ok {
			continue
		}
		line := fmt.Sprintf(`%s {"wid":%q}`, fwp.BEAT, wid)
		c.says(line)
		c.beaten = time.Now()
		if a, err := c.Aside(ctx, []byte(line+"\r\n")); err == nil && a.GaveUp { // what else it says is for scripts that ask
			c.astray = "a BEAT of the suite's own was not answered"
		}
	}
}

// widOf is the worker id that a connection greeted with.
func (l *lane) widOf(c *conn) (string, bool) {
	n := node(capture{ref: widName()})
	if c.hello != nil {
		for _, f := range c.hello.fields {
			if f.key == "wid" {
				n = f.value
			}
		}
	}
	switch n := n.(type) {
	case literal:
		s, ok := n.value.(string)
		return s, ok
	case interpolated:
		return l.scope.known(n.parts)
	case capture:
		v, ok := l.scope.lookup(n.ref)
		return plain(v), ok
	}
	return "", false
}

// probe asks whether the server lives after a line that provoked an error or a
// close: on a new connection, and on the old one where it must still be open.
func (l *lane) probe(ctx context.Context, c *conn, e *Expect, a session.Received) error {
	provoked := a.Ending != Open || fwp.Kind(a.Message.Kind) == fwp.ErrorReply
	if !provoked || c.excused.Load() && c.Status().Phase != session.Over {
		return nil
	}
	fresh, lives := l.lives(ctx, e.Pos, c)
	if ctx.Err() != nil {
		return interrupted(ctx, e)
	}
	if !lives {
		return errStop
	}
	if a.Ending != Open || c.Status().Owed > 0 || c.Status().Phase != session.Serving || !served(fresh) {
		return nil
	}
	return l.probeOld(ctx, c, e)
}

// probeOld asks what a new connection in the same role has just been served, on a
// connection that a rejected command must have left as it was. A producer's
// connection may be closed at any time.
func (l *lane) probeOld(ctx context.Context, c *conn, e *Expect) error {
	if a, came := c.Waiting(); came && a.Ending == Open && a.Broken == nil {
		l.breach(Breach{Pos: e.Pos, Kind: c.surplus(a), Conn: c.name, At: l.since(a), Expected: "no data before the next command", Got: text.Shorten(a.String())})
		return errStop
	}
	question := l.question(c)
	c.says(question + " (the suite asks whether the connection still serves)")
	a, err := c.Aside(ctx, []byte(question+"\r\n"))
	if err != nil {
		return interrupted(ctx, e)
	}
	switch {
	case l.trailed(c, e.Pos, a):
	case a.Ending != Open && c.role != Consumer, served(fwp.Kind(a.Message.Kind)):
		return nil
	case a.Coming:
		return l.unsure(e, e.Pos, e.Marks, e.expected(), a.String())
	case a.Broken != nil, a.Pending != "":
		l.broken(c, e.Pos, a)
	case a.GaveUp:
		l.unanswered(c, e.Pos, a)
	case a.Ending != Open:
		l.lost(c, e.Pos, a)
	default:
		l.breach(Breach{Pos: e.Pos, Kind: StateLost, Conn: c.name, At: l.since(a),
			Expected: c.Status().Verb + " to be served after the rejected command, as it is on a new connection", Got: text.Shorten(a.String())})
	}
	return errStop
}

// served tells a reply of this kind from a refusal and from none.
func served(k fwp.Kind) bool { return k != 0 && k != fwp.ErrorReply }

// lives asks on a new connection. What is not there at the first try may be at
// its limit of connections: only patience shows that nobody serves any more. It
// tells what kind of reply a question gets there in the role of like, zero if none.
// What nobody was ever served has not ceased: that too is life, as far as one can tell.
func (l *lane) lives(ctx context.Context, at Pos, like *conn) (fwp.Kind, bool) {
	info, err := l.untilAlive(ctx, l.Timeout, like)
	if err == nil || ctx.Err() != nil {
		return info, true
	}
	if l.neverSaw(err) {
		l.rec.add(time.Now(), "", "--", err.Error()+"; this server has served nobody so far", at)
		return 0, true
	}
	l.rec.add(time.Now(), "", "--", "the server does not serve a new connection: "+err.Error(), at)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead, l.amid = err.Error(), l.Crowd.Open()
	return 0, false
}

// neverSaw reports whether a probe failed at what the server has never done.
func (l *lane) neverSaw(err error) bool {
	unserved, is := errors.AsType[*unservedError](err)
	return is && l.Crowd.seen.missing(unserved.what)
}

// untilAlive asks on new connections until one is answered. It begins no more
// once the time is over; a slow server is given the time to answer, and one that
// has never done what it is asked for is not asked twice.
func (l *lane) untilAlive(ctx context.Context, limit time.Duration, like *conn) (fwp.Kind, error) {
	const longest = 500 * time.Millisecond
	begin := time.Now()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, longest) {
		info, err := l.alive(ctx, l.Timeout, like)
		if err == nil || time.Since(begin) > limit || l.neverSaw(err) {
			return info, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, err
		}
	}
}

// operate asks the target for what no client can do.
func (l *lane) operate(ctx context.Context, s *Operate) error {
	wid, err := l.text(nil, s.Worker, false)
	if err != nil {
		return l.fail(s, "a worker id", err.Error())
	}
	action := orWord(s.State, string(s.Action))
	l.rec.add(time.Now(), "", "--", strings.TrimSpace("the operator: "+action+" "+wid), s.Pos)
	if s.Action == NeedSignals {
		err = l.signal(ctx, wid, s.State)
	} else {
		err = l.bounce(ctx, s.Action)
	}
	if err != nil && ctx.Err() != nil {
		return interrupted(ctx, s)
	}
	if err != nil {
		return l.fail(s, action, err.Error())
	}
	return nil
}

func (l *lane) signal(ctx context.Context, wid, state string) error {
	t, ok := l.Target.(Signaller)
	if !ok {
		return errNotOffered
	}
	return t.Signal(ctx, wid, state)
}

var errNotOffered = errors.New("the target does not offer it")

func orWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// bounce restarts or kills the target and waits until it serves again. The
// connections of the script end with it, which is nobody's fault.
func (l *lane) bounce(ctx context.Context, how Need) error {
	for _, c := range l.open() {
		c.excused.Store(true)
	}
	err := errNotOffered
	if t, ok := l.Target.(Restarter); ok && how == NeedRestart {
		err = t.Restart(ctx)
	}
	if t, ok := l.Target.(Killer); ok && how == NeedKill {
		err = t.Kill(ctx)
	}
	if err != nil {
		return err
	}
	_, err = l.untilAlive(ctx, l.Patience, nil)
	return err
}
