package moves

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

// fuzzer is a maker for bytes and nothing else.
func fuzzer(seed, round uint64) *maker {
	terms := law.Terms{NamePrefix: "fwp0", Password: "pw"}
	l := newLaw(terms)
	d := explore.NewDraw(fwpscript.Dialect{}, seed, round, terms, l.Value)
	return &maker{Draw: d, law: l}
}

// findHarm reads bytes as the most forgiving server would, and lists what it would do to
// queues without the prefix. It shares nothing with the gate.
func findHarm(all string) (harm []string) {
	for _, line := range strings.FieldsFunc(all, func(r rune) bool { return r == '\r' || r == '\n' || r == 0 }) {
		line = strings.TrimFunc(line, func(r rune) bool { return r <= ' ' || r >= 0x7f })
		verb, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		switch strings.ToUpper(verb) {
		case fwp.FLUSH:
			harm = append(harm, "FLUSH")
		case fwp.FETCH:
			queues := strings.Fields(rest)
			if len(queues) == 0 || slices.ContainsFunc(queues, func(q string) bool { return !strings.HasPrefix(q, "fwp0-") }) {
				harm = append(harm, line)
			}
		case fwp.PUSH:
			var job struct {
				JID   *string
				Queue string // whatever its case
			}
			if json.NewDecoder(strings.NewReader(rest)).Decode(&job) == nil && job.JID != nil &&
				!strings.HasPrefix(job.Queue, "fwp0-") {
				harm = append(harm, line)
			}
		}
	}
	return harm
}

func TestFuzzIsHarmless(t *testing.T) {
	t.Parallel()
	unbounded := 0
	for seed := range uint64(300) {
		g := fuzzer(seed, 1+seed%900)
		segments := g.fuzz(seed%2 == 0)
		pieces := [][]byte{}
		for _, s := range segments {
			pieces = append(pieces, []byte(g.Fill(s)))
		}
		require.False(t, g.law.Escapes(pieces...), "seed %d: %q", seed, segments)
		for i := range pieces { // whatever a server takes for the beginning of a line
			require.Empty(t, findHarm(string(bytes.Join(pieces[i:], nil))), "seed %d", seed)
			require.Empty(t, findHarm(string(pieces[i])), "seed %d", seed)
		}
		unchecked := g.cutTokens(g.mutateBytes(build().Tokenize(g.conversation(true))))
		for _, s := range unchecked {
			unbounded += len(findHarm(g.Fill(s)))
		}
	}
	assert.Greater(t, unbounded, 3, "without the gate mutations do reach others' queues")
}

func TestFuzzKinds(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	missing := func() bool {
		return len(counts) == 0 || slices.Contains(slices.Collect(maps.Values(counts)), 0)
	}
	for seed := uint64(0); seed < 1200 && missing(); seed++ {
		text := strings.Join(fuzzer(seed, 2000+seed).fuzz(true), "")
		for name, isFound := range map[string]bool{
			"nul":     strings.Contains(text, "\x00"),
			"lone cr": strings.Contains(text, "\rx") || strings.Contains(text, "\r\r"),
			"megabytes": strings.Contains(text, "4096KiB") || strings.Contains(text, "1024KiB") ||
				strings.Contains(text, "2048KiB"),
			"deep":         strings.Contains(text, strings.Repeat("[", 6000)),
			"reply":        strings.Contains(text, "+OK"),
			"length":       strings.Contains(text, "2147483648"),
			"whole":        strings.Count(text, "\r\n") > 4,
			"not utf-8":    !utf8.ValidString(text),
			"crlf in json": strings.Contains(text, ":\r\n\""),
			"edge":         strings.Contains(text, "9223372036854775808"),
			"open end":     !strings.HasSuffix(text, "\n"),
			"repeated":     strings.Contains(text, strings.Repeat("FAIL ", 2)),
		} {
			counts[name] += b2i(isFound)
		}
	}
	for name, n := range counts {
		assert.Positive(t, n, name)
	}
}

func TestTokenize(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "INFO\r\n", `PUSH {"jid":"$jid5","x":"$filler(70KiB)"}`, "$$3\r\n$$-1",
		"\xff$wid1$$"} {
		assert.Equal(t, text, build().Tokenize(text).String())
	}
	assert.Len(t, build().Tokenize("a$jid12-b$$"), 5)
}

func TestMaxAnswers(t *testing.T) {
	t.Parallel()
	for text, limit := range map[string]int{"": 3, "INFO\r\n": 4, "INFO\r\nEND": 4, "a\rb\nc\x00": 6,
		strings.Repeat("x", 4096): 7} {
		assert.Equal(t, limit, maxAnswers([]byte(text)), "%.20q", text)
	}
}

func TestJobsIn(t *testing.T) {
	t.Parallel()
	text := "INFO\r\n" + `PUSH {"jid":"a","args":[{"jid":"no"}],"queue":"q"}` + "\r\n" +
		`ACK {"jid":"z"}` + "\r\n" + `push {"queue":"r","jid":"b"}`
	assert.Equal(t, []fuzzedJob{{"a", "q"}, {"b", "r"}}, jobsIn([]byte(text)))
}
