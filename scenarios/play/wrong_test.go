package play_test

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// knowingObserver is an observer that knows of everything received behind the greetings that it breaks a clause.
type knowingObserver struct{ clause string }

func (k knowingObserver) Dialed(string) session.Observer { return k }
func (k knowingObserver) Operated(target.Action, string) {}
func (k knowingObserver) Sent([]byte, time.Time)         {}
func (k knowingObserver) Received(session.Received)      {}
func (k knowingObserver) Ended(session.Ending)           {}
func (k knowingObserver) BrokenClause(string, time.Time) (clause, got string) {
	return k.clause, "another job"
}

// What is wrong whatever a line expects decides nothing for the clauses of the line, unless they are what it breaks. An
// order that the law allows is as good as the reply that a line expects, since a server may give it at any time, and
// what a worker gets behind it decides nothing: the server need not give it any work.
func TestWhatTheLawSaysOfAReply(t *testing.T) {
	t.Parallel()
	const (
		fetch  = "clause FWP-WU-03\nC: FETCH\nS: ${\"jid\":\"mine\"}\n"
		beat   = "C: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"
		marked = "clause FWP-BEAT-01\n" + beat
		quiet  = `+{"state":"quiet"}`
		other  = "$13\r\n" + `{"jid":"its"}`
	)
	for name, test := range map[string]struct{ lines, beat, fetch, clause, want string }{
		"it breaks another clause":    {fetch, "", other, "FWP-FETCH-04", "4 unsure\n"},
		"it breaks that of the line":  {fetch, "", other, "FWP-WU-03", "4 mismatched\n"},
		"it breaks none":              {fetch, "", other, "", "4 mismatched\n"},
		"an order is allowed":         {marked, quiet, "", "", "4 matched\n"},
		"an order is wrong":           {marked, quiet, "", "FWP-BEAT-01", "4 mismatched\n"},
		"no order":                    {marked, `+{"state":"tired"}`, "", "", "4 mismatched\n"},
		"a FETCH behind an order":     {beat + fetch, quiet, "$-1", "", "3 matched\n6 unsure\n"},
		"a FETCH that is behind none": {beat + fetch, "+OK", "$-1", "", "3 matched\n6 mismatched\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(consumer+test.lines))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answers: map[string]string{"BEAT": test.beat + "\r\n", "FETCH": test.fetch + "\r\n"}}
				p.serve(t)
				player := &play.Player{
					Target: p, Password: "secret", Meter: new(machine.Meter), Observer: knowingObserver{test.clause},
				}
				assert.Equal(t, test.want, outcomes(player.Play(t.Context(), s, "fwp-test-0001")))
			})
		})
	}
}

// TestEventuallyBehindAnOrder: what a worker that was told to be quiet does not get may come with a later try. Where it
// does not, that decides nothing, whatever an earlier try has brought.
func TestEventuallyBehindAnOrder(t *testing.T) {
	t.Parallel()
	const (
		mine   = "$14\r\n" + `{"jid":"mine"}` + "\r\n"
		none   = "$-1\r\n"
		itsJob = "$13\r\n" + `{"jid":"its"}` + "\r\n"
		block  = consumer + "eventually\n  clause FWP-WU-03\n  C: FETCH\n  S: ${\"jid\":\"mine\"}\nend\n"
	)
	ordered := strings.Replace(block, "eventually\n", "C: BEAT {\"wid\":\"$wid\"}\nS: +OK\neventually\n", 1)
	for name, test := range map[string]struct {
		script string
		next   []string
		usual  string
		want   string
	}{
		"it comes later":             {ordered, []string{none, "-ERR quiet\r\n", mine}, none, "3 matched\n7 matched\n"},
		"it does not come":           {ordered, nil, none, "3 matched\n7 unsure\n"},
		"it is refused":              {ordered, nil, "-ERR quiet\r\n", "3 matched\n7 unsure\n"},
		"another came, and an order": {block, []string{itsJob}, none, "5 unsure\n"},
		"another one comes":          {ordered, []string{itsJob}, mine, "3 matched\n7 unsure\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peer{answers: map[string]string{"BEAT": "+{\"state\":\"quiet\"}\r\n", "FETCH": test.usual}, next: test.next}
			s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(test.script))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				p.serve(t)
				player := &play.Player{Target: p, Password: "secret", Meter: new(machine.Meter), Observer: knowingObserver{}}
				assert.Equal(t, test.want, outcomes(player.Play(t.Context(), s, "fwp-test-0001")))
			})
		})
	}
}

// TestRepliesThatAreNotRead: one beyond our limits decides nothing and breaks nothing, unless no reply to the command
// can be so, or no command asked for it.
func TestRepliesThatAreNotRead(t *testing.T) {
	t.Parallel()
	const ask = consumer + "clause FWP-FETCH-01\nC: FETCH\nS: $-1\n"
	for name, test := range map[string]struct{ reply, script, want string }{
		"a long job":          {"$100000000\r\n", ask, "4 unsure\n"},
		"a length of 1 GB":    {"$1000000000\r\n", ask, "4 unsure\nbreach grammar:length at 4\n"},
		"many elements":       {"*2147483647\r\n", ask, "4 unsure\nbreach foreign-reply:FETCH at 4\n"},
		"nobody asked for it": {"$-1\r\n*2147483647\r\n", ask, "4 matched\nbreach extra-reply at 4\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &rogue{talk: func(n int, c net.Conn) {
				conversing(func(line string) (string, bool) {
					switch {
					case strings.HasPrefix(line, "FETCH"):
						return test.reply, true
					case line == "INFO":
						return "$2\r\n{}\r\n", true
					}
					return "+OK\r\n", line != "END"
				})(n, c)
			}}
			playOn(t, r, test.script, func(t *testing.T, run *play.Run) {
				assert.Equal(t, test.want, outcomes(run))
				if name == "a long job" {
					assert.Equal(t, play.Reason(""), run.Results[len(run.Results)-1].Reason)
					assert.Contains(t, run.Results[len(run.Results)-1].Cause, "at most 16777216 bytes")
				}
			})
		})
	}
}

// A worker that a server has forgotten is not one whose refused command changed its state.
func TestTheQuestionItselfIsRefused(t *testing.T) {
	t.Parallel()
	s := &rogue{talk: func(n int, c net.Conn) {
		conversing(func(line string) (string, bool) {
			if n == 1 && strings.HasPrefix(line, "BEAT") {
				return "-ERR unknown worker\r\n", true
			}
			return "+OK\r\n", line != "END"
		})(n, c)
	}}
	script := consumer + "C: BEAT {\"wid\":\"$wid\"}\nS: +OK | -\nC: FLUSH\nS: +OK\n"
	playOn(t, s, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "3 matched\n5 matched\n", outcomes(r))
	})
}

// A server at its limit may find that out only after HELLO: an error behind the OK is no second reply, as long as other
// connections are open.
func TestAnErrorBehindTheAnswerToHello(t *testing.T) {
	t.Parallel()
	from := func(first int) *rogue { // the number of the first connection that is refused
		return &rogue{talk: func(n int, c net.Conn) {
			conversing(func(line string) (string, bool) {
				switch refused := n >= first && strings.HasPrefix(line, "HELLO"); {
				case refused:
					return "+OK\r\n-ERR too many connections\r\n", false
				case line == "INFO":
					return "$2\r\n{}\r\n", true
				}
				return "+OK\r\n", line != "END"
			})(n, c)
		}}
	}
	for name, test := range map[string]struct {
		first        int
		script, want string
	}{
		"a second connection": {2, "connect a as producer\nconnect b as producer\nC[b]: INFO\nS[b]: $\n",
			"3 unsure\n4 not reached\n"},
		"of the script": {2,
			"connect a as producer\nS[b]: +HI {}\nC[b]: HELLO {\"v\":2}\nS[b]: +OK\n", "2 matched\n4 matched\n"},
		"every connection": {1, producer + "C: INFO\nS: $\n", "2 unsure\n3 not reached\nbreach unasked at 2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playOn(t, from(test.first), test.script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, strings.ReplaceAll(outcomes(r), "dead\n", ""))
				assert.Equal(t, test.first == 2, r.Refusal != nil && r.Refusal.OwnConns == 1)
			})
		})
	}
}

// An error after the refusal of a HELLO is a second reply, and not the refusal of a connection by a server at its
// limit.
func TestAnErrorBehindARefusedHello(t *testing.T) {
	t.Parallel()
	s := &rogue{talk: func(n int, c net.Conn) {
		conversing(func(line string) (string, bool) {
			if n > 1 && strings.HasPrefix(line, "HELLO") {
				return "-ERR no\r\n-ERR no\r\n", false
			}
			return "+OK\r\n", line != "END"
		})(n, c)
	}}
	script := "connect a as producer\nS[b]: +HI {}\nC[b] bad: HELLO {\"v\":3}\nS[b]: -\n"
	playOn(t, s, script, func(t *testing.T, r *play.Run) {
		assert.Contains(t, outcomes(r), "breach extra-reply at 4")
	})
}
