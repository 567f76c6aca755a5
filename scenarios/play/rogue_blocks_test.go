package play_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

func TestAWorkerGoesOnWithTheConnectionThatReplacedItsFirst(t *testing.T) {
	t.Parallel()
	p := &peer{idle: 5 * time.Second}
	playScript(t, p, "repeat 4 by 1 producers\nsilence 2s\nC: INFO\nS: $\nend\n", func(t *testing.T, r *play.Run) {
		assert.Equal(t, "2 matched\n4 matched\n", outcomes(r))
		assert.Equal(t, 3, strings.Count(strings.Join(p.lines(), "\n"), "HELLO"), "two, and that of the question whether "+
			"the server lives: %q", p.lines())
		assert.Equal(t, 2, strings.Count(strings.Join(p.lines(), "\n"), "END"), "the new one is left in order")
	})
}

func TestAWindowIsCountedFromTheLineOfTheScript(t *testing.T) {
	t.Parallel()
	p := &peer{answers: map[string]string{"INFO x": "-ERR\r\n"}, idle: 4 * time.Second,
		delay: map[string]time.Duration{"INFO": time.Second}}
	p.answers["INFO"] = "$2\r\n{}\r\n"
	script := "S: +HI {}\nC: HELLO {\"v\":2}\nS: +OK\nC bad: INFO x\nS: -\nS 3.5s..4.5s: <close>\n"
	playScript(t, p, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "1 matched\n3 matched\n5 matched\n6 matched\n", outcomes(r))
	})
}

func TestWhatMayTakeLongIsNoRoundTrip(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(consumer+"repeat 3\nC: FETCH $queue\nS: "+
		"$-1\nend\nC: INFO\nS: $\n"))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": 2 * time.Second}}
		p.serve(t)
		m := new(machine.Meter)
		assert.True(t, (&play.Player{Target: p, Meter: m}).Play(t.Context(), s, "fwp-test-0001").Complete())
		assert.Zero(t, m.RoundTrip())
	})
}

// A machine that is late may have broken a silence, or missed a reply; what was tried for longer was not there.
func TestWhatALateMachineDecides(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]map[bool]string{ // by whether it is late
		"C: FETCH $queue\nsilence 5s":              {false: "3 mismatched\n", true: "3 unsure\n"},
		"eventually\nC: FETCH $queue\nS: ${}\nend": {false: "4 mismatched\n", true: "4 mismatched\n"},
	} {
		s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(consumer+script+"\n"))
		require.NoError(t, err)
		for _, isLate := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{
					answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": 2 * time.Second},
				}
				p.serve(t)
				m := new(machine.Meter)
				if isLate {
					m.Note(time.Now().Add(time.Hour), time.Second)
				}
				run := (&play.Player{Target: p, Meter: m, Password: "secret"}).Play(t.Context(), s, "fwp-test-0001")
				assert.Equal(t, want[isLate], outcomes(run), "%s late: %t", script, isLate)
			})
		}
	}
}

func TestALostServerIsNotSilence(t *testing.T) {
	t.Parallel()
	p := &peer{idle: time.Second, limit: 1}
	playScript(t, p, producer+"silence 3s\n", func(t *testing.T, r *play.Run) {
		assert.Equal(t, "2 matched\ndead\n", outcomes(r))
	})
}

func TestASlowServerIsAlive(t *testing.T) {
	t.Parallel()
	server := &rogue{talk: func(n int, c net.Conn) {
		time.Sleep(4 * time.Second)
		conversing(func(line string) (string, bool) {
			time.Sleep(4 * time.Second)
			return map[string]string{"INFO x": "-ERR\r\n", "INFO": "$2\r\n{}\r\n"}[line] +
				map[bool]string{true: "+OK\r\n"}[line != "INFO" && line != "INFO x"], line != "END"
		})(n, c)
	}}
	playOn(t, server, consumer+"C bad: INFO x\nS: -\n", func(t *testing.T, r *play.Run) {
		assert.Equal(t, "3 matched\n", outcomes(r))
	})
}

func TestARowOnARawConnectionThatIsOutOfStepIsNotJudged(t *testing.T) {
	t.Parallel()
	p := &peer{answers: map[string]string{"FLUSH x": closes, "ACK": mute}}
	tests := map[string]string{
		"closed":     "C bad: FLUSH x\nS: -\n",
		"unanswered": "C bad: ACK x\nS: -\n",
	}
	for name, row := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := "S: +HI {}\nC: HELLO {\"v\":2}\nS: +OK\ntable\n" + row + "C: PUSH $job\nS: +OK\nend\n"
			playScript(t, &peer{answers: p.answers}, script, func(t *testing.T, r *play.Run) {
				assert.Contains(t, outcomes(r), "\n7 unsure\n8 not reached\n")
				assert.False(t, r.Complete())
			})
		})
	}
}

func TestAReplyAtTheLastMomentCostsNothing(t *testing.T) {
	t.Parallel()
	for range 50 {
		p := &peer{delay: map[string]time.Duration{"FETCH": 10 * time.Second}, answers: map[string]string{"FETCH": "$-1\r\n"}}
		playScript(t, p, consumer+"C: FETCH $queue\nS: $-1\nC: INFO\nS: $\nC: INFO\nS: $\n", func(t *testing.T, r *play.Run) {
			if r.Results[0].Outcome == play.Matched {
				assert.Equal(t, "3 matched\n5 matched\n7 matched\n", outcomes(r))
			}
		})
	}
}

func TestEachTryOfEventuallyBeginsInStep(t *testing.T) {
	t.Parallel()
	job := "$26\r\n{\"jid\":\"0123456789abcdef\"}\r\n"
	p := &peer{next: []string{"$-1\r\n", "$-1\r\n", job}, delay: map[string]time.Duration{"INFO": time.Second},
		answers: map[string]string{"INFO": "$2\r\n{}\r\n"}}
	script := consumer + "eventually\nC: FETCH $queue\nC: INFO\nS: ${\"jid\":\"0123456789abcdef\"}\nS: ${}\nend\nC: " +
		"PUSH $job\nS: +OK\n"
	playScript(t, p, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "5 matched\n6 matched\n9 matched\n", outcomes(r), "%q", p.lines())
	})
}

func TestASeriesIsTakenByTheAlternativeThatMatches(t *testing.T) {
	t.Parallel()
	p := fetches(&peer{}, "fwp-test-0001-jid-1", "fwp-test-0001-jid-3", "fwp-test-0001-jid-4")
	script := pushThree + "repeat 3\nC[p]: FETCH $queue\nS[p]: ${\"jid\":\"$jid#\",\"custom\":string} | " +
		"${\"jid\":\"$jid#\"}\nend\n"
	playScript(t, p, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "4 matched\n8 matched\n", outcomes(r))
	})
}

func TestASeriesIsNotTakenByATryThatFails(t *testing.T) {
	t.Parallel()
	p := fetches(&peer{}, "fwp-test-0001-jid-1", "fwp-test-0001-jid-1")
	p.next[1] = "$46\r\n{\"jid\":\"fwp-test-0001-jid-1\",\"custom\":\"there\"}\r\n"
	p.next[1] = fmt.Sprintf("$%d\r\n%s", len(`{"jid":"fwp-test-0001-jid-1","custom":"there"}`), p.next[1][5:])
	script := pushThree + "eventually\nC[p] bad: FETCHED\nS[p]: ${\"jid\":\"$jid#\",\"custom\":\"there\"}\nend\n"
	playScript(t, p, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "4 matched\n8 matched\n", outcomes(r))
	})
}

func TestUnorderedBindsInTheOrderThatFits(t *testing.T) {
	t.Parallel()
	first, second := "fwp-test-0001-jid-1", "fwp-test-0001-jid-3"
	body := "connect a as consumer\nconnect b as consumer\nC[a]: FETCH one\nC[b]: FETCH two\nunordered\n"
	tests := map[string]struct {
		lines string
	}{
		"a name":     {"S[a]: ${\"jid\":\"$other\"}\nS[b]: ${\"jid\":\"" + second + "\"}\n"},
		"as written": {"S[a]: ${\"jid\":\"$other\"}\nS[b]: ${\"jid\":\"" + first + "\"}\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := pushThree + body + test.lines + "end\n"
			p := &peer{answers: map[string]string{}}
			for queue, jid := range map[string]string{"one": second, "two": first} {
				job := fmt.Sprintf(`{"jid":%q,"queue":%q}`, jid, queue)
				p.answers["FETCH "+queue] = fmt.Sprintf("$%d\r\n%s\r\n", len(job), job)
			}
			playScript(t, p, script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, "4 matched\n11 matched\n12 matched\n", outcomes(r))
			})
		})
	}
}

func TestUnorderedLinesOfOneConnection(t *testing.T) {
	t.Parallel()
	p := fetches(&peer{}, "first", "second")
	script := consumer + "C: FETCH $queue\nC: FETCH $queue\nunordered\nS: ${\"jid\":\"second\"}\nS: " +
		"${\"jid\":\"first\"}\nend\nC: INFO\nS: $\n"
	playScript(t, p, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "5 matched\n6 matched\n9 matched\n", outcomes(r))
	})
}

// Trying the lines in every order would never end.
func TestUnorderedLinesThatCannotFitAreReportedSoon(t *testing.T) {
	t.Parallel()
	const count = 20
	jids := slices.Repeat([]string{"any"}, count)
	script := consumer + strings.Repeat("C: FETCH $queue\n", count) + "unordered\n" +
		strings.Repeat("S: ${\"jid\":string}\n", count-1) + "S: ${\"jid\":\"one that never comes\"}\nend\n"
	playScript(t, fetches(&peer{}, jids...), script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, play.Mismatched, r.Results[count-1].Outcome)
	})
}

func TestAnUnansweredBeatDoesNotAnswerTheNextLine(t *testing.T) {
	t.Parallel()
	server := &rogue{talk: func(n int, c net.Conn) {
		greeted(c, func(in *bufio.Reader) {
			for line, err := in.ReadString('\n'); err == nil; line, err = in.ReadString('\n') {
				switch {
				case strings.HasPrefix(line, "BEAT"):
					time.AfterFunc(12*time.Second, func() { say(c, "+OK\r\n") })
				case strings.HasPrefix(line, "INFO"):
					say(c, "$2\r\n{}\r\n")
				}
			}
		})
	}}
	playOn(t, server, consumer+"silence 16s\nC: PUSH $job\nS: +OK\n", func(t *testing.T, r *play.Run) {
		assert.NotContains(t, outcomes(r), "4 matched")
		assert.False(t, r.Complete())
	})
}

func TestEventuallyLeavesTheRepliesOfOthersAlone(t *testing.T) {
	t.Parallel()
	script := "connect a as consumer\nconnect b as consumer\nC[a]: FETCH a\neventually\nC[b]: INFO\nS[b]: " +
		"${}\nend\nS[a]: $-1\n"
	count := 0
	server := &rogue{talk: conversing(func(line string) (string, bool) {
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "FETCH":
			time.Sleep(2 * time.Second)
			return "$-1\r\n", true
		case "INFO":
			if count++; count < 9 {
				return "$2\r\n[]\r\n", true
			}
			return "$2\r\n{}\r\n", true
		}
		return "+OK\r\n", line != "END"
	})}
	playOn(t, server, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "6 matched\n8 matched\n", outcomes(r))
	})
}

func TestAProducerMayBeSentAwayAfterAnErrorOnARawConnectionToo(t *testing.T) {
	t.Parallel()
	leaves := &rogue{talk: conversing(func(line string) (string, bool) {
		answer, ok := map[string]string{"INFO x": "-ERR\r\n", "INFO": "$2\r\n{}\r\n"}[line]
		if !ok {
			answer = "+OK\r\n"
		}
		return answer, line != "INFO x" && line != "END"
	})}
	playOn(t, leaves, "S: +HI {}\nC: HELLO {\"v\":2}\nS: +OK\nC bad: INFO x\nS: -\n",
		func(t *testing.T, r *play.Run) {
			assert.Equal(t, "1 matched\n3 matched\n5 matched\n", outcomes(r))
			assert.True(t, r.Complete())
		})
}
