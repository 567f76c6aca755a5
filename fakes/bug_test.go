package fakes_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
)

// clauseIDs are the clauses that at least one bug must break.
const clauseIDs = `HI-01 HI-02 HI-03 HI-04 HI-05 HELLO-03 HELLO-04 HELLO-06 HELLO-11 HELLO-15 AUTH-02 AUTH-03 AUTH-04 AUTH-06
STATE-01 STATE-03 STATE-04 STATE-05 STATE-12 STATE-13 STATE-16 END-02 FRAME-03 FRAME-05 FRAME-06 FRAME-08 FRAME-09
RESP-01 RESP-02 RESP-03 RESP-04 RESP-05 RESP-06 RESP-07 PUSH-01 PUSH-02 PUSH-03 WU-00 WU-01 WU-02 WU-03 WU-04 WU-11
FETCH-01 FETCH-03 FETCH-04 FETCH-05 FETCH-06 FETCH-08 ACK-01 ACK-02 ACK-03 FAIL-01 FAIL-02
BEAT-01 BEAT-02 BEAT-03 BEAT-04 BEAT-05 INFO-01 INFO-03 FLUSH-01 FLUSH-03 END-01`

func TestBugsAreWellFormed(t *testing.T) {
	t.Parallel()
	slug := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	clause := regexp.MustCompile(`^FWP-[A-Z]+-[0-9]{2}b?$`)
	names, firstClauses := map[string]bool{}, map[string]bool{}
	for _, f := range bugs.All() {
		assert.Regexp(t, slug, f.Name)
		assert.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		assert.NotEmpty(t, f.Summary, f.Name)
		assert.NotEmpty(t, f.Clauses, f.Name)
		for _, c := range f.Clauses {
			assert.Regexp(t, clause, c, f.Name)
			firstClauses[c] = true
		}
		assert.NotNil(t, f.Hook(), f.Name)
	}
	for id := range strings.FieldsSeq(clauseIDs) {
		assert.True(t, firstClauses["FWP-"+id], "no planted bug breaks %s", id)
	}
	assert.True(t, slices.IsSortedFunc(bugs.All(),
		func(a, b fakes.Bug) int { return strings.Compare(a.Name, b.Name) }))
}

// session has something of everything, sent without waiting for an answer.
const session = "INFO\r\nHELLO [\r\nHELLO []\r\n" +
	`HELLO {"hostname":"h","wid":"w","pid":1,"labels":[],"v":2,"pwdhash":"6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30"}` + "\r\n" +
	`PUSH {"jid":"a","jobtype":"ü","args":[9007199254740993,"x"],"at":"2020-01-01T00:00:00+02:00","custom":{}}` + "\r\n" +
	"PUSH []\r\nPUSH {\r\nPUSH {}\r\nFETCH\r\nFETCH q\r\nFAIL {}\r\n" + `FAIL {"jid":"a","backtrace":["x"]}` + "\r\n" +
	`ACK {"jid":"a"}` + "\r\nACK {}\r\n" + `BEAT {"wid":"w"}` + "\r\n" + `BEAT {"wid":"x"}` +
	"\r\nBEAT {}\r\nIN\rFO\r\nINFO\nINFO x\r\nINFO\r\n" +
	"FLUSH x\r\nFLUSH\r\n  \r\nEND\r\n"

// With every bug the server must come to the end of a session, and close.
func TestBugsInstall(t *testing.T) {
	t.Parallel()
	for _, f := range bugs.All() {
		for _, hash := range []string{"", "6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30"} {
			t.Run(f.Name+hash, func(t *testing.T) {
				t.Parallel()
				withMemoryServer(t, fakes.Config{Hook: f.Hook(), AcceptHash: hash, Iterations: 3},
					func(t *testing.T, s *fakes.Server, dial func() *wire) {
						w, other := dial(), dial()
						_ = s.Signal("", "quiet")
						w.send(session)
						other.send(session)
						time.Sleep(time.Minute)
						require.NoError(t, w.conn.(interface{ CloseWrite() error }).CloseWrite())
						_, err := io.ReadAll(w.in)
						assert.NoError(t, err)
					})
			})
		}
	}
}

// This one accepts a hash that no client sends by chance.
func TestABugThatTakesAnotherHash(t *testing.T) {
	t.Parallel()
	hashes := map[string]string{ // foobar, 55104dc76695721d, three rounds
		"auth-round-less": hashRounds("foobar55104dc76695721d", 2),
		"":                hashRounds("foobar55104dc76695721d", 3),
	}
	for _, f := range bugs.All() {
		if hashes[f.Name] == "" {
			continue
		}
		s := start(t, fakes.Config{Hook: f.Hook(), Password: "foobar", Salt: "55104dc76695721d", Iterations: 3})
		for name, hash := range hashes {
			w := dial(t, s)
			w.read()
			accepted := w.do(`HELLO {"v":2,"pwdhash":"`+hash+`"}`) == "+OK"
			assert.Equal(t, name == "" || name == f.Name, accepted, "%s with the hash of %q", f.Name, name)
		}
	}
}

func hashRounds(text string, rounds int) string {
	for range rounds {
		sum := sha256.Sum256([]byte(text))
		text = string(sum[:])
	}
	return fmt.Sprintf("%x", text)
}

// END gives back only what is still held, and other consumers get it at once.
func TestEndReturnsJobs(t *testing.T) {
	t.Parallel()
	for _, f := range bugs.All() {
		if f.Name != "end-returns-jobs" {
			continue
		}
		withMemoryServer(t, fakes.Config{Hook: f.Hook()}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
			w, other := dial().greet(producer), dial().greet(producer)
			w.do(job("done", ""))
			w.do(job("held", ""))
			assert.Contains(t, w.do("FETCH"), `"done"`)
			assert.Contains(t, w.do("FETCH"), `"held"`)
			assert.Equal(t, "+OK", w.do(`ACK {"jid":"done"}`))
			assert.Equal(t, "+OK", w.do("END"))
			assert.Contains(t, other.do("FETCH"), `"held"`)
			assert.Equal(t, "$-1", other.do("FETCH"))
		})
	}
}

// A hook is called at a restart, and may let it lose everything.
func TestTheHookSeesRestarts(t *testing.T) {
	t.Parallel()
	var resets []bool
	withMemoryServer(t, fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Restarted {
			resets = append(resets, e.ResetsConn)
			e.Skip = e.ResetsConn
		}
	}}, func(t *testing.T, s *fakes.Server, dial func() *wire) {
		w := dial().greet(producer)
		require.Equal(t, "+OK", w.do(job("now", "")))
		require.Equal(t, "+OK", w.do(job("later", `"at":"`+time.Now().Add(time.Minute).Format(time.RFC3339)+`"`)))
		require.NoError(t, s.Restart())
		assert.Contains(t, dial().greet(producer).do("INFO"), `"scheduled":1`)
		require.NoError(t, s.Kill())
		w = dial().greet(producer)
		assert.Contains(t, w.do("INFO"), `"scheduled":0`)
		assert.Equal(t, "$-1", w.do("FETCH"))
		assert.Equal(t, []bool{false, true}, resets)
	})
}
