package moves

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// newTestMaker returns a maker for a world with two workers and a producer, five jobs in a queue,
// two of which the first worker holds, and a connection that has not greeted.
func newTestMaker(seed uint64) *maker {
	terms := law.Terms{NamePrefix: "fwp-0123456789", Patience: time.Minute}
	p := &player{law: newLaw(terms)}
	d := explore.NewDraw(fwpscript.Dialect{}, seed, 1, terms, p.law.Value)
	d.LongestWait, d.Signals, d.Restarts = time.Hour, true, true
	g := &maker{Draw: d, law: p.law, workers: 3}
	p.play(consumer(2, 2))
	p.play(consumer(3, 3))
	p.play(producer(4))
	p.play(build().Open(5, scenarios.Raw, ""))
	queue := g.queue()
	for i := range 5 {
		jid := g.jid()
		p.play(push(2, jid, queue, ""))
		if i < 2 {
			p.replies = append(p.replies, [2]string{"FETCH " + queue, `${"jid":"~` + jid[1:] + `"}`})
			p.play(line(2, "FETCH %s", queue))
		}
	}
	return g
}

// TestMoves makes every move in a world in which most can be made.
func TestMoves(t *testing.T) {
	t.Parallel()
	forms := map[string]model.Answer{ // of the first line, as the specification reads it
		"fetch": model.Okay, "fetch-two": model.Okay, "ack": model.Okay, "fail": model.Okay, "beat": model.Okay,
		"beat-unknown-worker": model.Okay, "info": model.Okay, "end": model.Okay, "end-early": model.Okay,
		"burst":       model.Okay,
		"fetch-empty": model.Okay, "fetch-as-anybody": model.Okay, "fetch-and-go": model.Okay, "two-words": model.OkayOrRefused,
		"fetch-and-wake": model.Okay, "report-anything": model.Okay, "fail-badly": model.Refused,
		"bad-argument": model.Refused, "form": model.Okay, "same-worker": model.Okay,
	}
	fit := map[string]bool{}
	for seed := range golden.Sample(uint64(6), 40) {
		g := newTestMaker(seed)
		g.law.world.HasExtensionVerb = fwpscript.Faktory.Has
		for _, m := range slices.Concat(moves, g.availableMoves()) {
			for conn := 2; conn <= 5; conn++ {
				w := g.law.world.Conns[conn]
				if !m.fits(g, conn, w) || m.name == "fetch-side-by-side" { // that needs a generator
					continue
				}
				fit[fmt.Sprint(m.name, " ", conn)] = true
				steps := m.make(g, conn, w)
				assert.NotEmpty(t, steps, m.name)
				for _, s := range steps {
					text := []byte(g.Fill(s.Text()))
					// The player leaves out what must not be sent of these:
					bad := strings.HasPrefix(m.name, "bad-") || m.name == "bytes" || strings.HasSuffix(m.name, "-badly")
					assert.False(t, !bad && g.law.Escapes(text), "%s: %q", m.name, s.Text())
				}
				if form, ok := forms[m.name]; ok {
					first := fwplaw.ReadLine([]byte(g.Fill(steps[0].Text())))
					assert.NotZero(t, first.Form&form, "%s: %q", m.name, steps[0].Text())
				}
			}
		}
	}
	for _, m := range []string{"mutate 2", "pushb-many 3", "queue-pause 2", "pushb 4", "mutate-early 5", "fetch 2", "ack 2", "signal 2", "restart 2", "push 4", "hello 5", "end-early 5", "wire 5"} {
		assert.True(t, fit[m], m)
	}
	for _, m := range []string{"ack 3", "fetch 4", "beat 4", "push 5", "hello 2", "flush 2", "default 2"} {
		assert.False(t, fit[m], m)
	}
}

// TestBadFields: exactly one field of a plain object is wrong, and no queue is default by
// accident.
func TestBadFields(t *testing.T) {
	t.Parallel()
	refused := map[string]int{}
	for seed := range uint64(400) {
		g := newTestMaker(seed)
		step := g.badField(2, g.law.world.Conns[2])[0]
		l := fwplaw.ReadLine([]byte(g.Fill(step.Text())))
		if l.Verb == "PUSH" {
			assert.Contains(t, step.Text(), `"queue":"$queue`)
		}
		if l.Form == model.Refused {
			refused[l.Clause]++
		}
	}
	for _, clause := range []string{
		"FWP-WU-01", "FWP-WU-02", "FWP-WU-03", "FWP-WU-14", "FWP-WU-06b", "FWP-ACK-03", "FWP-FAIL-02", "FWP-BEAT-02",
	} {
		assert.NotZero(t, refused[clause], clause)
	}
}

// TestBursts: some queues fill after they were emptied once, and some that no FETCH has named.
func TestBursts(t *testing.T) {
	t.Parallel()
	orders := map[string]bool{}
	for seed := range uint64(40) {
		var verbs strings.Builder
		for _, s := range newTestMaker(seed).burstOf(17, 2) {
			verbs.WriteString(s.Text()[:1])
		}
		orders[strings.TrimRight(verbs.String(), "FA")] = true
	}
	assert.True(t, orders[strings.Repeat("P", 17)])
	assert.True(t, orders["PFA"+strings.Repeat("P", 17)])
}

func TestPlainFields(t *testing.T) {
	t.Parallel()
	g := newTestMaker(1)
	for verb, want := range map[string]int{"PUSH": 4, "ACK": 1, "FAIL": 4, "BEAT": 1} {
		fields, required := g.plainFields(verb, "$wid1")
		assert.Equal(t, want, required, verb)
		l := fwplaw.ReadLine([]byte(g.Fill(join(verb, fields))))
		assert.NotEqual(t, model.Refused, l.Form, "%s: %s", verb, l.Clause)
	}
}

// A verb is sent at each moment once, cut or before the end of its connection.
func TestMoments(t *testing.T) {
	t.Parallel()
	const text = "BEAT {\"wid\":\"$wid2\"}"
	g := newTestMaker(1)
	counts := map[string]int{}
	for range 400 {
		switch steps := g.atMoment("beat", 2, []explore.Step{line(2, text)}); {
		case len(steps) == 2:
			assert.True(t, steps[0].Ahead && steps[1].Ends())
			counts[steps[1].String()]++
		case steps[0].Sends().Raw:
			assert.Equal(t, text+"\r\n", steps[0].Text())
			counts[steps[0].Sends().Segments[0].String()]++
		}
	}
	assert.Len(t, counts, 4+len(endings))
	for moment, n := range counts {
		assert.Equal(t, 1, n, moment)
	}
}

// Another client does each of its deeds at each step of what two workers and a producer do.
func TestThirdClient(t *testing.T) {
	t.Parallel()
	g := newTestMaker(1)
	orders := map[string]bool{}
	for range 8 * 15 {
		var at strings.Builder // which connections do something, one behind the other, and what the third one does
		for _, s := range g.thirdClientAt(2, 2, 3) {
			fmt.Fprint(&at, s.Conn())
			if s.Conn() == 3 {
				fmt.Fprint(&at, strings.Map(dropDigit, s.String()))
			}
		}
		orders[at.String()] = true
	}
	assert.True(t, g.HasDealt("third"))
	assert.Len(t, orders, 8*15)
}

// On a server with a password a HELLO without a hash stands behind each that must be declined, but for one that is no
// HELLO.
func TestHelloMalformed(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "secret"} {
		g, count := newTestMaker(1), 0
		g.Terms.Password = password
		for range 100 {
			if steps := g.helloMalformed(2, nil); steps[len(steps)-1].Text() == `HELLO {"v":2}` {
				count++
			}
		}
		assert.Equal(t, password != "", count > 50, password)
	}
}

func dropDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}
