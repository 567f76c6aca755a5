package play_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// outcomes writes the results of a run one a line, for tables.
func outcomes(r *play.Run) string {
	var b strings.Builder
	for _, res := range r.Results {
		fmt.Fprintf(&b, "%d %s\n", res.Line, res.Outcome)
	}
	for _, br := range r.Breaches {
		fmt.Fprintf(&b, "breach %s at %d\n", br.Name(), br.Line)
	}
	if r.NotServing != "" {
		b.WriteString("dead\n")
	}
	return b.String()
}

const producer = "connect as producer\n"
const consumer = "connect as consumer\n"

func TestPlayReportsTheResultOfALine(t *testing.T) {
	t.Parallel()
	info := func(answer string) *peer {
		return &peer{answers: map[string]string{"INFO": "$2\r\n{}\r\n", "BEAT": answer}}
	}
	const beat = "C: BEAT {\"wid\":\"$wid\"}\n"
	tests := map[string]struct {
		peer   *peer
		script string
		want   string
	}{
		"the answer": {info("+OK\r\n"), consumer + beat + "S: +OK\n", "3 matched\n"},
		"a refusal":  {info("-ERR\r\n"), consumer + beat + "S: +OK\n", "3 mismatched\n"},
		"a text that BEAT has not": {info("+KO\r\n"), consumer + beat + "S: +OK\n",
			"3 unsure\nbreach foreign-reply:BEAT at 3\n"},
		"another kind": {info("$2\r\nOK\r\n"), consumer + beat + "S: +OK\n",
			"3 matched\nbreach foreign-reply:BEAT at 3\n"},
		"another kind, early": {info("$2\r\nOK\r\n"), consumer + beat + "connect other as producer\nS: +OK\n",
			"4 matched\nbreach foreign-reply:BEAT at 4\n"},
		"an alternative": {info("$-1\r\n"), consumer + beat + "S: +OK | $-1\n", "3 matched\n"},
		"anything":       {info(":12\r\n"), consumer + beat + "S: <any>\n", "3 matched\n"},
		"what follows a mismatch is not reached": {info("-ERR\r\n"), consumer + beat + "S: +OK\nsilence 1s\n",
			"3 mismatched\n4 not reached\n"},
		"a bulk cut short": {info("$5\r\nOK\r\n"), consumer + beat + "S: $\n",
			"3 unsure\nbreach grammar:truncated at 3\n"},
		"a bulk in characters": {info("$2\r\néé\r\n"), consumer + beat + "S: $\n",
			"3 matched\nbreach grammar:length in characters at 3\n"},
		"a null as an array": {info("*-1\r\n"), consumer + beat + "S: $-1\n",
			"3 matched\nbreach grammar:null at 3\n"},
		"LF alone": {info("+OK\n"), consumer + beat + "S: +OK\n",
			"3 matched\nbreach grammar:line end at 3\n"},
		"a second reply": {info("+OK\r\n+OK\r\n"), consumer + beat + "S: +OK\n",
			"3 matched\nbreach extra-reply at 3\n"},
		"a consumer sent away": {info(closes), consumer + beat + "S: +OK\n",
			"3 mismatched\nbreach consumer-closed at 3\n"},
		"a consumer reset": {info(resets), consumer + beat + "S: +OK\n",
			"3 mismatched\nbreach consumer-closed at 3\n"},
		"no answer while others get one": {info(mute), consumer + beat + "S: +OK\n",
			"3 unsure\nbreach no-reply at 3\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playScript(t, test.peer, test.script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
				assert.NoError(t, r.Err)
			})
		})
	}
}

func TestPlayAsksWhetherTheServerLives(t *testing.T) {
	t.Parallel()
	const badInfo = "C bad: INFO x\nS: -\n"
	refusing := func() *peer { return &peer{answers: map[string]string{"INFO x": "-ERR\r\n"}} }
	t.Run("on a new connection and on the old one", func(t *testing.T) {
		t.Parallel()
		p := refusing()
		playScript(t, p, consumer+badInfo, func(t *testing.T, r *play.Run) {
			assert.Equal(t, "3 matched\n", outcomes(r))
			assert.Equal(t, 2, strings.Count(strings.Join(p.lines(), "\n"), "BEAT"), "%q", p.lines())
		})
	})
	t.Run("a server that greets nobody any more is dead", func(t *testing.T) {
		t.Parallel()
		p := refusing()
		p.limit = 1
		playScript(t, p, consumer+badInfo, func(t *testing.T, r *play.Run) {
			assert.Equal(t, "3 matched\ndead\n", outcomes(r))
			assert.False(t, r.Complete())
		})
	})
	t.Run("and so it is if the script finds it out", func(t *testing.T) {
		t.Parallel()
		p := refusing()
		p.limit, p.holds = 1, true
		playScript(t, p, "connect a as producer\nC[a]: <close>\nconnect b as producer\n", func(t *testing.T, r *play.Run) {
			assert.Equal(t, "no HI on a new connection, and no answer to HELLO", r.NotServing)
		})
	})
	t.Run("a producer may be sent away after an error", func(t *testing.T) {
		t.Parallel()
		p := refusing()
		p.answers["INFO x"] = "-ERR\r\n"
		playScript(t, p, producer+badInfo+"C: INFO\nS: $\n", func(t *testing.T, r *play.Run) {
			assert.Equal(t, "3 matched\n5 matched\n", outcomes(r))
		})
	})
}

func TestPlayJudgesTime(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		delay  time.Duration
		window string
		want   string
	}{
		"in time":       {2 * time.Second, "1.5s..2.5s", "3 matched\n"},
		"too early":     {time.Second, "1.5s..2.5s", "3 mismatched\n"},
		"too late":      {4 * time.Second, "1.5s..2.5s", "3 mismatched\n"},
		"on the bound":  {1500 * time.Millisecond, "1.5s..", "3 matched\n"},
		"at the latest": {2 * time.Second, "..2s", "3 matched\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": test.delay}}
			playScript(t, p, consumer+"C: FETCH $queue\nS "+test.window+": $-1\n", func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
			})
		})
	}
}

// Segments take time to write. A lower bound counts from the first, an upper bound from
// the last: both favour the server.
func TestTheTimeOfALineInSegments(t *testing.T) {
	t.Parallel()
	for window, want := range map[string]string{
		"2001ms..": "3 matched\n", "2100ms..": "3 mismatched\n", "..1900ms": "3 matched\n", "..1899ms": "3 mismatched\n",
	} {
		t.Run(window, func(t *testing.T) {
			t.Parallel()
			p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": 2 * time.Second}}
			playScript(t, p, consumer+"C: FE<|>TCH $queue\nS "+window+": $-1\n", func(t *testing.T, r *play.Run) {
				assert.Equal(t, want, outcomes(r))
			})
		})
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer, delayed string
		want            string
	}{
		"nothing comes":     {"+OK\r\n", "FETCH", "5 matched\n6 matched\n"},
		"something comes":   {"+OK\r\n", "", "5 mismatched\n6 not reached\n"},
		"a consumer closed": {closes, "", "5 unsure\n6 not reached\nbreach consumer-closed at 5\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peer{answers: map[string]string{"FETCH": test.answer},
				delay: map[string]time.Duration{test.delayed: 2 * time.Second}}
			playScript(t, p, consumer+"# wait\n\nC: FETCH $queue\nsilence 1s\nS: +OK\n", func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
			})
		})
	}
}

func TestALongSilenceKeepsConsumersBeating(t *testing.T) {
	t.Parallel()
	p := &peer{}
	playScript(t, p, consumer+"connect p as producer\nsilence 65s\n", func(t *testing.T, r *play.Run) {
		assert.Equal(t, "3 matched\n", outcomes(r))
		var beats int
		for _, line := range p.lines() {
			if strings.HasPrefix(line, "BEAT") {
				beats++
				assert.Equal(t, `BEAT {"wid":"fwp-test-0001-wid-1"}`, line)
			}
		}
		assert.Equal(t, 4, beats)
	})
}

func TestAnIdleProducerThatWasClosedIsOpenedAgain(t *testing.T) {
	t.Parallel()
	p := &peer{idle: time.Second}
	playScript(t, p, producer+"silence 5s\nC: INFO\nS: $\n", func(t *testing.T, r *play.Run) {
		assert.Equal(t, "2 matched\n4 matched\n", outcomes(r))
		assert.Equal(t, 3, strings.Count(strings.Join(p.lines(), "\n"), "HELLO"), "one of them asks whether the server lives")
	})
}

func TestEndings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ ends, expected, want string }{
		"fin as close":   {closes, "<close>", "3 matched\n"},
		"fin":            {closes, "<fin>", "3 matched\n"},
		"fin is no rst":  {closes, "<reset>", "3 mismatched\n"},
		"reset as close": {resets, "<close>", "3 matched\n"},
		"reset":          {resets, "<reset>", "3 matched\n"},
		"no ending":      {"+OK\r\n", "<close>", "3 mismatched\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peer{answers: map[string]string{"PUSH": test.ends}}
			playScript(t, p, producer+"C: PUSH $job\nS: "+test.expected+"\n", func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
			})
		})
	}
}

// A hash of more rounds than are computed decides nothing: the server that asks for them serves.
func TestTooManyRounds(t *testing.T) {
	t.Parallel()
	p := &peer{
		greeting: "+HI {\"v\":2,\"i\":2000000000,\"s\":\"salt\"}\r\n",
		answers:  map[string]string{"PUSH": "-ERR first HELLO\r\n", "HELLO": "-ERR wrong\r\n"},
	}
	playScript(t, p, "C[raw]: PUSH $job\nS[raw]: +HI {\"v\":2}\nclause FWP-STATE-01\nS[raw]: -\nconnect d as producer\n"+
		"C[d]: PUSH $job\nS[d]: +OK\n", func(t *testing.T, r *play.Run) {
		assert.Empty(t, r.NotServing)
		assert.Nil(t, r.Refusal)
		assert.Equal(t, "2 matched\n4 matched\n5 unsure\n7 not reached\n", outcomes(r))
		assert.Contains(t, r.Results[2].Cause, "the server asks for 2000000000 iterations, outside 1 to 1048576")
	})
}

func TestPasswordHashes(t *testing.T) {
	t.Parallel()
	const salt, rounds = "salt", 3
	right, err := fwp.PasswordHash("secret", salt, rounds)
	assert.NoError(t, err)
	fewer, err := fwp.PasswordHash("secret", salt, rounds-1)
	assert.NoError(t, err)
	p := &peer{greeting: "+HI {\"v\":2,\"i\":3,\"s\":\"salt\"}\r\n", answers: map[string]string{"HELLO": "+OK\r\n"}}
	playScript(t, p, `S[a]: +HI {"s":"salt"}
C[a]: HELLO {"v":2,"pwdhash":"$pwdhash"}
S[a]: +OK
S[b]: +HI {"s":"salt"}
C[b]: HELLO {"v":2,"pwdhash":"$pwdhash.fewer"}
S[b]: +OK
S[c]: +HI {"s":"salt"}
C[c]: HELLO {"v":2,"pwdhash":"$pwdhash@a"}
S[c]: +OK
connect d as producer
`, func(t *testing.T, r *play.Run) {
		var hellos []string
		for _, line := range p.lines() {
			if strings.HasPrefix(line, "HELLO") {
				hellos = append(hellos, line)
			}
		}
		assert.True(t, r.Complete(), outcomes(r))
		assert.Equal(t, []string{
			`HELLO {"v":2,"pwdhash":"` + right + `"}`, `HELLO {"v":2,"pwdhash":"` + fewer + `"}`,
			`HELLO {"v":2,"pwdhash":"` + right + `"}`, `HELLO {"pwdhash":"` + right + `","v":2}`,
		}, hellos)
	})
}

// On a machine that was late, a reply that came too early is one for certain where nothing else has begun its wait.
func TestTooEarlyOnALateMachine(t *testing.T) {
	t.Parallel()
	const info = "connect b as consumer\nC[b]: INFO\nS[b]: $\n"
	for lines, want := range map[string]string{
		"C[a]: FETCH $queue\nS[a] 3s..: $-1\n":             "mismatched",
		"C[a]: FETCH $queue\n" + info + "S[a] 3s..: $-1\n": "unsure",
	} {
		s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte("connect a as consumer\n"+lines))
		require.NoError(t, err)
		synctest.Test(t, func(t *testing.T) {
			p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": 2 * time.Second}}
			p.serve(t)
			m := new(machine.Meter)
			m.Note(time.Now(), time.Hour)
			assert.Contains(t, outcomes((&play.Player{Target: p, Meter: m}).Play(t.Context(), s, "fwp-test-0001")), want, lines)
		})
	}
}
