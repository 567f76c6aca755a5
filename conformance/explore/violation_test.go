package explore

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/session"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// namedLaw has a clause of the name of each rule, and records which jobs it does not judge any more.
type namedLaw struct {
	Law
	unjudged []string
}

func (*namedLaw) Clause(rule string) string { return "of " + rule }
func (l *namedLaw) StopJudging(job string)  { l.unjudged = append(l.unjudged, job) }
func (*namedLaw) Value(int, string) string  { return "" }
func (*namedLaw) Close(int, bool, time.Time) *law.Violation {
	return nil
}

func (*namedLaw) Judge(int, session.Message, time.Time) law.Answer { return law.Answer{} }

// stub is a play under a law of names alone.
func stub(target play.Target, rules map[string]law.Rule) (*playthrough, *namedLaw) {
	names := &namedLaw{}
	c := &config{timeout: 10 * time.Second, target: target, subject: &Alphabet{
		Dialect: workqscript.Dialect{}, ProbeCommand: "inspect queues 0 1", Rules: rules,
		Start: func(law.Terms) Law { return names },
	}}
	return newPlay(c, "x"), names
}

// TestCount: how often a finding was played, and how often it showed.
func TestCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		plays       []bool
		playLimit   int // plays after which the time is over
		hits, tries int
	}{
		"each time":                {[]bool{true, true, true, true, true}, 9, 5, 5},
		"not each time":            {[]bool{true, false, true, false, true}, 9, 3, 5},
		"never":                    {[]bool{false, false, false, false, false}, 9, 0, 5},
		"no time for more":         {[]bool{true, false, false}, 2, 1, 2},
		"it showed at the last":    {[]bool{true, true}, 1, 2, 2},
		"no time at all":           {[]bool{false, false}, 0, 1, 1},
		"no time, and it shows":    {[]bool{true, false}, 0, 1, 1},
		"nothing could be played":  {nil, 9, 1, 1},
		"the first time it is not": {[]bool{false, true}, 9, 1, 2},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var f Finding
		var results []bool
		f.count(ctx, func(yield func(bool) bool) {
			for i, isShown := range test.plays {
				if i >= test.playLimit {
					cancel()
				}
				if !yield(isShown) {
					return
				}
			}
		}, func(isShown bool) { results = append(results, isShown) })
		assert.Equal(t, []int{test.hits, test.tries}, []int{f.Hits, f.Tries}, name)
		assert.True(t, len(results) == f.Tries || len(results) == 0, name)
		cancel()
	}
}

// TestBroken: which clause a violation is put under, whether it is in doubt, and whether its job is judged on.
func TestBroken(t *testing.T) {
	t.Parallel()
	rules := map[string]law.Rule{"reply": {Traits: law.WrongReply}, "order": {Traits: law.JobStays}}
	for name, test := range map[string]struct {
		cut      bool // the line came in segments
		pieces   int  // the same of an earlier one whose answers are still to come
		rule     string
		clause   string
		doubtful bool
		unjudged bool
	}{
		"a wrong reply":                {rule: "reply", clause: "C", unjudged: true},
		"a wrong reply to segments":    {cut: true, rule: "reply", clause: "of cut", doubtful: true, unjudged: true},
		"another rule, and segments":   {cut: true, rule: "field", clause: "C", unjudged: true},
		"one reply too many":           {rule: RuleExtra, clause: "C", unjudged: true},
		"one too many behind segments": {pieces: 1, rule: RuleExtra, clause: "of cut", unjudged: true},
		"another one behind segments":  {pieces: 1, rule: "reply", clause: "C", unjudged: true},
		"a job that stays":             {rule: "order", clause: "C"},
	} {
		p, names := stub(nil, rules)
		p.isSplit, p.step = test.cut, 7
		p.addSighting(&conn{number: 3, pieces: test.pieces, awaited: "take q"},
			&law.Violation{Rule: test.rule, Clause: "C", JID: "j"}, 5)
		require.Len(t, p.sightings, 1, name)
		got := p.sightings[0]
		assert.Equal(t, test.clause, got.Clause, name)
		assert.Equal(t, test.doubtful, got.Doubtful, name)
		assert.Equal(t, test.unjudged, slices.Contains(names.unjudged, "j"), name)
		assert.Equal(t, []int{7, 5, 3}, []int{got.step, got.wrongStep, got.conn}, name)
		assert.Equal(t, []string{"take q"}, got.owing, name)
	}
}

// TestFile: a finding says what its violation does.
func TestFile(t *testing.T) {
	t.Parallel()
	p, _ := stub(nil, nil)
	x := exploration{
		Explorer: &Explorer{Alphabet: p.subject}, config: p.config, play: p, result: new(Result), byKind: map[string]*pendingFinding{},
	}
	f := x.file(sighting{Violation: &law.Violation{Rule: "reply", Clause: "C", CommandClause: "B", Premises: []string{"A"}}}).Finding
	assert.Equal(t, []string{"C", "reply", "B", "A"}, []string{f.Clause, f.Rule, f.CommandClause, f.Premises[0]})
}

// TestTrailing: bytes behind an answer are an answer to a piece of a line only if they are a message, and are nothing
// of their own if that answer was wrong.
func TestTrailing(t *testing.T) {
	t.Parallel()
	for bytes, test := range map[string]struct {
		wrong  bool
		clause string
	}{
		"+OK 0\r\n": {false, "of cut"}, "x\r\n": {false, "of extra"}, "x": {false, "of extra"}, "y": {true, "C"},
	} {
		synctest.Test(t, func(t *testing.T) {
			place := memnet.NewPlace()
			l := place.MustListen()
			p, _ := stub(place, nil)
			c, err := p.dial(t.Context(), 3, &scenarios.Connect{})
			require.NoError(t, err)
			theirs, err := l.Accept()
			require.NoError(t, err)
			_, err = theirs.Write([]byte(bytes))
			require.NoError(t, err)
			if test.wrong {
				p.addSighting(c, &law.Violation{Rule: "reply", Clause: "C"}, p.step)
			}
			c.pieces = 1
			p.judgeTrailing(t.Context(), c, len(bytes))
			require.Len(t, p.sightings, 1, bytes)
			assert.Equal(t, test.clause, p.sightings[0].Clause, bytes)
			_ = c.End(scenarios.Closed)
			_ = theirs.Close()
			_ = l.Close()
		})
	}
}

// TestCrashed: when a server that does not serve has crashed, which clause it is put under, and which step is the
// cause.
func TestCrashed(t *testing.T) {
	t.Parallel()
	connected := new(session.Conn)
	for name, test := range map[string]struct {
		served, ends, dead, owesReply bool
		conn                          conn
		last                          string
		outage                        bool
		rule, clause, got             string
		about                         int
	}{
		"the answer is owed": {served: true, owesReply: true, conn: conn{clause: "put", awaited: "put q", sentStep: 2}, last: "take",
			rule: RuleCrash, clause: "put", got: "no new connection is served", about: 2},
		"nothing is owed": {served: true, conn: conn{clause: "put", awaited: "put q", sentStep: 2}, last: "take",
			rule: RuleCrash, clause: "take", got: "no new connection is served", about: 9},
		"a new connection": {served: true, owesReply: true, conn: conn{clause: "of no-greeting"}, last: "take",
			rule: RuleCrash, clause: "take", got: "no new connection is served", about: 9},
		"a new connection, and nothing was sent": {served: true, owesReply: true, conn: conn{clause: "of no-greeting"},
			rule: RuleCrash, clause: "of no-greeting", got: "no new connection is served", about: 9},
		"for a moment": {served: true, last: "take", outage: true,
			rule: RuleCrash, clause: "take", got: "no new connection is served for a while", about: 9},
		"it never served": {conn: conn{Conn: connected, clause: "of no-greeting", sentStep: 4},
			rule: RuleSilent, clause: "of no-greeting", got: "nothing within 10s", about: 4},
		"it never served, and was not reached": {conn: conn{clause: "of no-greeting"}},
		"it never served, and was asked":       {conn: conn{Conn: connected, clause: "put"}},
		"it may end":                           {served: true, ends: true, last: "take"},
		"it is known to be dead":               {served: true, dead: true, last: "take"},
	} {
		p, _ := stub(nil, nil)
		p.target = endedTarget{}
		p.hasServed, p.mayEnd, p.isDead, p.last, p.step = test.served, test.ends, test.dead, test.last, 9
		if test.outage {
			p.outage = &play.Outage{}
		}
		p.noteCrash(t.Context(), &test.conn, test.owesReply)
		assert.True(t, p.isDead, name)
		if test.rule == "" {
			assert.Empty(t, p.sightings, name)
			continue
		}
		require.Len(t, p.sightings, 1, name)
		f := p.sightings[0]
		assert.Equal(t, []string{test.rule, test.clause, test.got}, []string{f.Rule, f.Clause, f.Got}, name)
		assert.Equal(t, test.about, f.wrongStep, name)
		assert.Equal(t, test.rule == RuleCrash, f.crash, name)
		assert.Equal(t, test.outage, f.outage != nil, name)
	}
	p, _ := stub(nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.hasServed = true
	p.noteCrash(ctx, &conn{}, true)
	assert.False(t, p.isDead, "of an interrupted play nothing is known")
}

// TestAlike: which findings may be the wanted one under another clause.
func TestAlike(t *testing.T) {
	t.Parallel()
	s := &shrinker{config: &config{subject: &Alphabet{
		Rules:  map[string]law.Rule{"field": {Traits: law.OfField}},
		Family: func(rule string) string { return rule[:1] },
	}}}
	for name, test := range map[string]struct {
		want, got sighting
		alike     bool
	}{
		"the same": {
			sighting{Violation: &law.Violation{Rule: "late"}}, sighting{Violation: &law.Violation{Rule: "late"}}, true,
		},
		"of one family": {
			sighting{Violation: &law.Violation{Rule: "late"}}, sighting{Violation: &law.Violation{Rule: "lost"}}, true,
		},
		"of another": {
			sighting{Violation: &law.Violation{Rule: "late"}}, sighting{Violation: &law.Violation{Rule: "order"}}, false,
		},
		"a crash, and none": {
			sighting{Violation: &law.Violation{Rule: "late"}, crash: true}, sighting{Violation: &law.Violation{Rule: "late"}}, false,
		},
		"the same field":         {field("at: 1"), field("at: 2"), true},
		"another field":          {field("at: 1"), field("args: 1"), false},
		"the field is not known": {field(""), field("args: 1"), true},
		"what begins in another way": {
			sighting{Violation: &law.Violation{Rule: "late", Got: "at: 1"}},
			sighting{Violation: &law.Violation{Rule: "late", Got: "+OK"}}, true,
		},
	} {
		s.target = test.want
		assert.Equal(t, test.alike, s.isAlike(test.got), name)
	}
}

func field(got string) sighting { return sighting{Violation: &law.Violation{Rule: "field", Got: got}} }

// ponging is a server in memory that answers every line, and keeps its connections.
type ponging struct {
	dials   int
	refuses func(dial int) bool // the network does
	mute    func(dial int) bool // the server does not answer
	conns   []net.Conn
}

func (s *ponging) Dial(ctx context.Context) (net.Conn, error) {
	s.dials++
	if s.refuses != nil && s.refuses(s.dials) {
		return nil, errors.New("connection refused")
	}
	client, server := net.Pipe()
	s.conns = append(s.conns, server)
	mute := s.mute != nil && s.mute(s.dials)
	go func() {
		for r := bufio.NewReader(server); ; {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
			if !mute {
				_, _ = server.Write([]byte("+OK 0\r\n"))
			}
		}
	}()
	return client, nil
}

// TestOutages: a server that could not be reached for a while was down. One that is connected to, and does not answer
// at once, was not.
func TestOutages(t *testing.T) {
	t.Parallel()
	first := func(n int) func(int) bool { return func(dial int) bool { return dial <= n } }
	for name, test := range map[string]struct {
		target        ponging
		alive, serves bool
		down          time.Duration
	}{
		"it serves":                      {ponging{}, true, true, 0},
		"it is refused for a while":      {ponging{refuses: first(20)}, false, true, 2 * time.Second},
		"it does not answer for a while": {ponging{mute: first(1)}, true, true, 0},
		"it is refused":                  {ponging{refuses: first(1e6)}, false, false, 0},
		"it does not answer":             {ponging{mute: first(1e6)}, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, _ := stub(&test.target, nil)
				p.timeout = 15 * time.Second
				isAlive := p.isAlive(t.Context())
				assert.Equal(t, test.alive, isAlive)
				assert.Equal(t, test.serves, isAlive || p.outage != nil)
				if test.down == 0 {
					assert.Nil(t, p.outage)
				} else if assert.NotNil(t, p.outage) {
					assert.Equal(t, test.down, p.outage.To.Sub(p.outage.From).Round(time.Second))
				}
				for _, c := range test.target.conns {
					_ = c.Close()
				}
			})
		})
	}
}

// TestAnEndAtACommandIsNoSign: two connections that the server has closed at a command of theirs do not tell that it
// was started again; two that it has closed otherwise do.
func TestAnEndAtACommandIsNoSign(t *testing.T) {
	t.Parallel()
	for _, owesReply := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			target := &ponging{}
			p, _ := stub(target, nil)
			for n := range 2 {
				c, err := p.dial(t.Context(), n, &scenarios.Connect{Role: scenarios.Raw})
				require.NoError(t, err)
				c.dueReplies = b2i(owesReply)
				p.conns[n] = c
				p.noteEnd(t.Context(), c, session.Received{Ending: scenarios.Fin, At: time.Now()})
			}
			assert.Equal(t, !owesReply, p.allConnsEnded(t.Context(), time.Now()))
			for _, c := range target.conns {
				_ = c.Close()
			}
		})
	}
}

// TestAllEnded: the server was started again unseen if all other connections, two or more, ended at the same time.
func TestAllEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ends     []time.Duration // of the others, behind the first one; negative: it stays
		commands int             // so many were sent a command just before
		want     bool
	}{
		"all of two":          {[]time.Duration{0, 10 * time.Millisecond}, 0, true},
		"all of three":        {[]time.Duration{0, 0, 0}, 0, true},
		"one alone":           {[]time.Duration{0}, 0, false},
		"there is none":       {nil, 0, false},
		"one of two":          {[]time.Duration{0, -1}, 0, false},
		"one ended later":     {[]time.Duration{0, 10 * firstReplyWait}, 0, false},
		"one at a command":    {[]time.Duration{0, 0}, 1, true},
		"each at its command": {[]time.Duration{0, 10 * time.Millisecond}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				target := &ponging{}
				p, _ := stub(target, nil)
				for n := range test.ends {
					c, err := p.dial(t.Context(), n, &scenarios.Connect{Role: scenarios.Raw})
					require.NoError(t, err)
					p.conns[n] = c
					c.dueReplies = b2i(n < test.commands)
				}
				for n, after := range test.ends {
					if after >= 0 {
						time.AfterFunc(after, func() { _ = target.conns[n].Close() })
					}
				}
				assert.Equal(t, test.want, p.allConnsEnded(t.Context(), time.Now()))
				p.close()
				for _, c := range target.conns {
					_ = c.Close()
				}
			})
		})
	}
}

// A violation on a connection that has ended on the other server is a difference; where the other server is gone, it is
// not known what that would have answered.
func TestViolationsWithoutCounterpart(t *testing.T) {
	t.Parallel()
	key := opening{conn: 1, step: 2}
	for isDead, want := range map[bool]int{false: 1, true: 0} {
		broken := event{opening: key, parts: []string{"${}"}, violation: &law.Violation{Clause: "RETRY-04"}}
		x := &pair{
			plays:  [2]*playthrough{{isDead: isDead}, {}},
			queues: [2]map[opening][]event{{}, {key: {broken}}},
		}
		all := x.unmatchedDifferences(key)
		require.Len(t, all, want, isDead)
		for _, d := range all {
			assert.Equal(t, "<nothing more>", d.Sides[0].Reply)
			assert.Equal(t, "RETRY-04", d.Sides[1].Violation.Clause)
		}
	}
}

// Control connections are looked at now and then, and opened again soon where one has ended.
func TestControlConnectionsThatEndedAreOpenedSoon(t *testing.T) {
	t.Parallel()
	opening := Builder{workqscript.Dialect{}}.Open(0, scenarios.Producer, "")
	for name, test := range map[string]struct {
		isOpened bool
		want     []uint64 // rounds in which there are steps of control
	}{
		"both are there": {true, []uint64{1, 61}},
		"one has ended":  {false, []uint64{1, 7, 13, 19, 25, 31, 37, 43, 49, 55, 61}},
	} {
		p, _ := stub(nil, nil)
		if p.conns[0] = (&conn{}); test.isOpened {
			p.conns[1] = &conn{}
		}
		g := &generator{p: p, alphabet: Generator{Control: func() []Step { return []Step{opening} }}}
		var got []uint64
		for g.Round = 1; g.Round <= 61; g.Round++ {
			if g.control() != nil {
				got = append(got, g.Round)
			}
		}
		assert.Equal(t, test.want, got, name)
	}
}
