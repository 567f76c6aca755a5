package explore_test

import (
	"context"
	"fmt"
	"iter"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/blockq/blockqdialect"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// The explorer knows no protocol: a second one is explored with an alphabet and a law of
// its own, and what is wrong with its server is found and shrunk.
func TestASecondProtocolIsExplored(t *testing.T) {
	t.Parallel()
	tests := map[blockq.Fault]struct {
		clauses string // one of which is broken
		lines   int    // of the clients in the script, at most
	}{
		"":                    {"", 0},
		blockq.DeliveredTwice: {"BQ-TAKE BQ-COUNT", 5}, // join, put, take, take
		blockq.Lost:           {"BQ-TAKE BQ-COUNT", 3},
		blockq.Silent:         {"BQ-SILENCE", 2},
		blockq.Foreign:        {"BQ-TAKE", 3},
		blockq.BlockShort:     {"BQ-GRAMMAR", 3},
	}
	for fault, test := range tests {
		t.Run("fault "+string(fault), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				target, end, err := blockServers(fault)()
				require.NoError(t, err)
				defer end()
				e := explore.Explorer{Subject: blockSubject(), Target: target, Fresh: blockServers(fault), Seed: 1, Steps: 2000,
					Longest: time.Second}
				r := e.Run(t.Context())
				if test.clauses == "" {
					assert.Empty(t, r.Findings)
					assert.Greater(t, r.Commands, 1500)
					assert.Contains(t, r.Coverage.Outcomes, "take joined: J")
					return
				}
				require.Len(t, r.Findings, 1)
				f := r.Findings[0]
				assert.Contains(t, strings.Fields(test.clauses), f.Clause, "%s: expected %s, got %s", f.Rule, f.Expected, f.Got)
				assert.Equal(t, 5, f.Shown)
				assert.LessOrEqual(t, clientLines(f.Script), test.lines, f.Script)
				script, err := scenarios.Parse(blockqdialect.Dialect{}, "found.blockq", []byte(f.Script))
				require.NoError(t, err)
				assert.Empty(t, scenarios.Lint(script), f.Script)
			})
		})
	}
}

// blockServers starts servers, each in a network of its own.
func blockServers(fault blockq.Fault) func() (play.Target, func(), error) {
	return func() (play.Target, func(), error) {
		network := memnet.New()
		l, err := network.Listen("blockq:1")
		s := &blockq.Server{Fault: fault}
		go s.Serve(l) //nolint:errcheck // it ends with the test
		return blockTarget{network}, func() { _ = s.Close() }, err
	}
}

type blockTarget struct{ *memnet.Network }

func (t blockTarget) Dial(ctx context.Context) (net.Conn, error) {
	return t.DialContext(ctx, "tcp", "blockq:1")
}

func blockSubject() *explore.Subject {
	return &explore.Subject{
		Dialect: blockqdialect.Dialect{}, Question: "ping", Jobs: "id",
		Start: func(t law.Terms) explore.Law {
			return &blockLaw{prefix: t.Prefix, conns: map[int]*blockConn{}, queues: map[string][]string{},
				taken: map[string]bool{}}
		},
		Alphabet: blockAlphabet,
	}
}

// blockAlphabet is what clients of blockq may do.
func blockAlphabet(d *explore.Draw, l explore.Law) explore.Alphabet {
	law, jobs := l.(*blockLaw), 0
	queue := func() string { return fmt.Sprintf("$queue%d", 1+d.IntN(3)) }
	put := func() string { jobs++; return fmt.Sprintf("put %s $id%d 3\r\nabc", queue(), jobs) }
	done := func() string { return fmt.Sprintf("done $id%d", 1+d.IntN(jobs+1)) }
	build := explore.Builder{Dialect: blockqdialect.Dialect{}}
	always := func(int) bool { return true }
	move := func(name string, fits func(int) bool, text func() string) explore.Move {
		return explore.Move{Name: name, Weight: 1, Fits: fits, Make: func(conn int) []explore.Step {
			return []explore.Step{build.Line(conn, "%s", text())}
		}}
	}
	fixed := func(text string) func() string { return func() string { return text } }
	return explore.Alphabet{
		Open: func(conn int) explore.Step {
			return build.Open(conn, []scenarios.Role{scenarios.Raw, scenarios.Producer}[d.IntN(2)], "")
		},
		Moves: []explore.Move{
			move("put", always, put), move("done", always, done), move("ping", always, fixed("ping")),
			move("take", always, func() string { return "take " + queue() }),
			move("count", always, func() string { return "count " + queue() }),
			move("join", func(conn int) bool { return !law.conns[conn].joined }, fixed("join me")),
		},
	}
}

// blockLaw is what may be answered.
type blockLaw struct {
	prefix string
	conns  map[int]*blockConn
	queues map[string][]string // ids that wait
	taken  map[string]bool
}

type blockConn struct {
	joined bool
	words  []string // of the command that was sent last
}

func (l *blockLaw) Open(conn int, _ time.Time) { l.conns[conn] = &blockConn{} }

func (l *blockLaw) Introduce(_ int, c *scenarios.Connect) string {
	if c.Role == scenarios.Raw {
		return ""
	}
	return "join me"
}

func (l *blockLaw) Sent(conn int, all []byte, _ bool, _ time.Time) law.Sent {
	c := l.conns[conn]
	c.words = nil
	if wellFormed.Match(all) {
		c.words = strings.Fields(string(all))
		return law.Sent{Clause: "BQ-" + strings.ToUpper(c.words[0]), Owed: 1, Judged: true}
	}
	return law.Sent{Owed: 1} // what the shrinker makes of a line: not judged
}

var wellFormed = regexp.MustCompile(`^((join|take|count|done) \S+|ping|put \S+ \S+ 3\r\nabc)\r\n$`)

// Came judges a reply, and follows what it means.
func (l *blockLaw) Came(conn int, m session.Message, _ time.Time) law.Answer {
	c, state := l.conns[conn], l.State(conn)
	if c.words == nil {
		return law.Answer{Over: true}
	}
	kind, verb := m.Kind, c.words[0]
	got := blockqdialect.Dialect{}.Text(m)
	want := l.allowed(c)
	a := law.Answer{Reply: true, Judged: true, Pattern: got, State: state,
		Outcome: verb + " " + state + ": " + string(rune(kind))}
	if !strings.HasPrefix(got+" ", want+" ") { // behind a JOB comes its text, and behind an ERR why
		a.Violation = &law.Violation{Clause: "BQ-" + strings.ToUpper(verb), Rule: verb, Expected: want, Got: got}
		a.Over = true
		return a
	}
	switch {
	case kind == 'E':
	case verb == "join":
		c.joined = true
	case verb == "put":
		l.queues[c.words[1]] = append(l.queues[c.words[1]], c.words[2])
	case kind == 'J':
		id := string(m.Parts[0])
		a.Job, a.Pattern = id, fmt.Sprintf(`JOB %s %q`, id, m.Parts[1])
		l.queues[c.words[1]], l.taken[id] = l.queues[c.words[1]][1:], true
	case verb == "done":
		delete(l.taken, c.words[1])
	}
	return a
}

// allowed is the one reply that there may be.
func (l *blockLaw) allowed(c *blockConn) string {
	switch verb := c.words[0]; {
	case verb == "ping":
	case verb == "join" && c.joined, verb != "join" && !c.joined, verb == "done" && !l.taken[c.words[1]]:
		return "ERR"
	case verb == "count":
		return "COUNT " + strconv.Itoa(len(l.queues[c.words[1]]))
	case verb == "take" && len(l.queues[c.words[1]]) == 0:
		return "NONE"
	case verb == "take":
		return "JOB " + l.queues[c.words[1]][0]
	}
	return "OK"
}

func (l *blockLaw) Close(conn int, byServer bool, _ time.Time) *law.Violation {
	delete(l.conns, conn)
	if byServer {
		return &law.Violation{Clause: "BQ-OPEN", Rule: "closed", Expected: "an open connection", Got: "<close>"}
	}
	return nil
}

func (l *blockLaw) State(conn int) string {
	if l.conns[conn].joined {
		return "joined"
	}
	return "new"
}

func (l *blockLaw) Clause(rule string) string {
	switch {
	case rule == explore.RuleSilent:
		return "BQ-SILENCE"
	case strings.HasPrefix(rule, explore.RuleGrammar):
		return "BQ-GRAMMAR"
	}
	return ""
}

func (l *blockLaw) Shut(int)                                {}
func (l *blockLaw) Heartbeat(int, time.Time) string         { return "" }
func (l *blockLaw) Value(int, string) string                { return "" }
func (l *blockLaw) Escapes(...[]byte) bool                  { return false }
func (l *blockLaw) Operated(scenarios.Need, string, string) {}
func (l *blockLaw) Unjudge(string)                          {}
func (l *blockLaw) Leftover() []string                      { return nil }
func (l *blockLaw) Cleanup(explore.Cleaning) iter.Seq[explore.Step] {
	return func(func(explore.Step) bool) {}
}
