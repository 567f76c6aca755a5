package play_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// fetches has a peer answer FETCH with jobs of these ids, one after the other.
func fetches(p *peer, jids ...string) *peer {
	p.answers = map[string]string{}
	for _, jid := range jids {
		job := fmt.Sprintf(`{"jid":%q}`, jid)
		p.next = append(p.next, fmt.Sprintf("$%d\r\n%s\r\n", len(job), job))
	}
	return p
}

const pushThree = `connect p as producer
repeat 3
C[p]: PUSH $job{"jid":"$jid#"}
S[p]: +OK
end
`

func TestASeriesComesInAnyOrderOnceEach(t *testing.T) {
	t.Parallel()
	jid := func(n int) string { return fmt.Sprintf("fwp-test-0001-jid-%d", n) } // made by pushThree, one a round
	tests := map[string]struct {
		jids []string
		want string
	}{
		"another order":  {[]string{jid(4), jid(1), jid(3)}, "4 matched\n8 matched\n10 matched\n"},
		"one twice":      {[]string{jid(1), jid(3), jid(1)}, "4 matched\n8 mismatched\n10 matched\n"},
		"one of others'": {[]string{jid(1), "somebody-elses-job", jid(3)}, "4 matched\n8 mismatched\n10 matched\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fetches(&peer{}, test.jids...)
			script := pushThree + "repeat 3 by 1 consumers\nC: FETCH $queue\nS: ${\"jid\":\"$jid#\"}\nC: ACK " +
				"{\"jid\":\"$jid#\"}\nS: +OK\nend\n"
			playScript(t, p, script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r), strings.Join(p.lines(), "\n"))
			})
		})
	}
}

func TestWorkersShareTheRepetitions(t *testing.T) {
	t.Parallel()
	p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": 2 * time.Second}}
	playScript(t, p, "repeat 40 by 20 consumers\nC: FETCH $queue\nS ..2s: $-1\nend\n", func(t *testing.T, r *play.Run) {
		assert.Equal(t, "3 matched\n", outcomes(r))
		assert.Less(t, r.Took, 10*time.Second) // virtual: 40 waits of 2 s by 20 at a time
		wids := map[string]bool{}
		for _, line := range p.lines() {
			if _, rest, ok := strings.Cut(line, `"wid":"`); ok {
				wids[rest[:strings.IndexByte(rest, '"')]] = true
			}
		}
		assert.Len(t, wids, 20, "each worker has an id of its own")
		assert.Equal(t, 40, strings.Count(strings.Join(p.lines(), "\n"), "FETCH"))
	})
}

func TestUnorderedTakesEitherAssignment(t *testing.T) {
	t.Parallel()
	script := `connect a as consumer
connect b as consumer
C[a]: FETCH $queue
C[b]: FETCH $queue
unordered
S[a]: ${"jid":"0123456789abcdef"}
S[b]: $-1
end
`
	job := "$26\r\n{\"jid\":\"0123456789abcdef\"}\r\n"
	tests := map[string]struct {
		next []string
		want string
	}{
		"as written":        {[]string{job, "$-1\r\n"}, "6 matched\n7 matched\n"},
		"the other way":     {[]string{"$-1\r\n", job}, "6 matched\n7 matched\n"},
		"both get the job":  {[]string{job, job}, "6 matched\n7 mismatched\n"},
		"nobody gets a job": {[]string{"$-1\r\n", "$-1\r\n"}, "6 mismatched\n7 not reached\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playScript(t, &peer{next: test.next}, script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
			})
		})
	}
}

func TestEventually(t *testing.T) {
	t.Parallel()
	const script = "connect as consumer\neventually WINDOW\nC: FETCH $queue\nS: ${\"jid\":\"0123456789abcdef\"}\nend\n"
	const job = "$26\r\n{\"jid\":\"0123456789abcdef\"}\r\n"
	const null = "$-1\r\n"
	tests := map[string]struct {
		window string
		next   []string
		want   string
	}{
		"at once":                {"", []string{job}, "4 matched\n"},
		"at the third try":       {"", []string{null, null, job}, "4 matched\n"},
		"too early":              {"10s..", []string{job}, "2 mismatched\n4 matched\n"},
		"in time":                {"3s..20s", []string{null, null, job}, "2 matched\n4 matched\n"},
		"never":                  {"", nil, "4 mismatched\n"},
		"not within the window":  {"..3s", nil, "4 mismatched\n"},
		"the connection is lost": {"", []string{null, closes}, "4 mismatched\nbreach consumer-closed at 4\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peer{next: test.next, answers: map[string]string{"FETCH": null},
				delay: map[string]time.Duration{"FETCH": 2 * time.Second}}
			playScript(t, p, strings.Replace(script, "WINDOW", test.window, 1), func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
			})
		})
	}
}

// The last try begins when the time is over, so that the reply to it shows what is missing then.
func TestTheLastTryBeginsBehindTheLimit(t *testing.T) {
	t.Parallel()
	p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": 2 * time.Second}}
	playScript(t, p, consumer+"eventually ..3s\nC: FETCH $queue\nS: ${}\nend\n", func(t *testing.T, r *play.Run) {
		var sent []time.Duration
		for _, l := range r.Conversation {
			if l.From == reports.FromClient && strings.HasPrefix(l.Text, "FETCH") {
				sent = append(sent, l.At)
			}
		}
		assert.Greater(t, slices.Max(sent), 3*time.Second)
		assert.Less(t, slices.Max(sent), 6*time.Second)
	})
}

// A job that was delivered does not come again: if it is not as expected, no later try can match.
func TestWhatIsDeliveredOnceEndsTheWait(t *testing.T) {
	t.Parallel()
	const script = "connect as consumer\neventually\nVERB\nS: ${\"jid\":\"0123456789abcdef\",\"n\":2}\nend\n"
	const right, wrong, other = `{"jid":"0123456789abcdef","n":2}`, `{"jid":"0123456789abcdef","n":1}`,
		`{"jid":"another","n":1}`
	for name, test := range map[string]struct {
		verb string
		next []string
		want string
	}{
		"as expected":       {"C: FETCH q", []string{right}, "4 matched\n"},
		"not as expected":   {"C: FETCH q", []string{wrong, right}, "4 mismatched\n"},
		"another before it": {"C: FETCH q", []string{other, right}, "4 matched\n"},
		"not handed out":    {"C bad: FETCHED q", []string{wrong, right}, "4 matched\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peer{}
			for _, text := range test.next {
				p.next = append(p.next, fmt.Sprintf("$%d\r\n%s\r\n", len(text), text))
			}
			playScript(t, p, strings.Replace(script, "VERB", test.verb, 1), func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
				assert.Empty(t, r.Results[len(r.Results)-1].Cause)
			})
		})
	}
}

func TestTheRowsOfATableAreAllTried(t *testing.T) {
	t.Parallel()
	p := &peer{answers: map[string]string{"INFO x": "-ERR\r\n", "FLUSH y": closes}}
	script := consumer + `table
C bad: INFO x
S: -
C bad: INFO  y
S: -
C bad: FLUSH y
S: -
C bad: INFO x
S: -
end
`
	playScript(t, p, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "4 matched\n6 mismatched\n8 mismatched\n10 matched\nbreach consumer-closed at 8\n", outcomes(r))
		assert.False(t, r.Complete(), "rows that failed decide nothing by themselves")
	})
}
