package explore_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/target/forward/forwardtest"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
)

// compared compares two servers of a kind in virtual time.
func compared(t *testing.T, a, b func() fakes.Config, c explore.Comparison) (r *explore.ComparisonResult) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config: a}
		first, endFirst, err := s.start()
		require.NoError(t, err)
		defer endFirst()
		s.config = b
		second, endSecond, err := s.start()
		require.NoError(t, err)
		defer endSecond()
		c.Explorer.Alphabet, c.Explorer.Target, c.Second, c.Explorer.Alone = moves.New(), first, second, true
		c.Explorer.Shrinking = time.Minute
		if c.Explorer.Steps == 0 {
			c.Explorer.Steps = commands(600, 3000)
		}
		r = c.Run(t.Context())
	})
	return r
}

func TestServersThatAreTheSameDoNotDiffer(t *testing.T) {
	t.Parallel()
	for seed := range golden.Sample[uint64](1, 2) {
		r := compared(t, behaving("", ""), behaving("", ""),
			explore.Comparison{Explorer: explore.Explorer{Seed: seed, Findings: 3}})
		assert.Empty(t, r.Differences)
	}
}

// TestServersDiffer compares the embedded server with one that has a bug, or a variation.
func TestServersDiffer(t *testing.T) {
	t.Parallel()
	const departs, allowed = true, false
	for name, test := range map[string]struct {
		bug, variation string
		clause         string // that the second server breaks, or that rules the command
		departs        bool
	}{
		"a job without an object":  {"push-not-object", "", "FWP-WU-00", departs},
		"another default":          {"job-reserve-default", "", "FWP-WU-05", departs},
		"a number that is rounded": {"job-integer-rounded", "", "FWP-WU-03", departs},
		"END without OK":           {"", "end-without-ok", "FWP-END-01", allowed},
		"unknown jobs":             {"", "accepts-unknown-jobs", "FWP-ACK-04", allowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.clause == "FWP-WU-05" || test.clause == "FWP-WU-03" {
				golden.OnlySlow(t) // each takes longer than the others together
			}
			for swapped, configs := range [2][2]func() fakes.Config{
				{behaving("", ""), behaving(test.bug, test.variation)}, {behaving(test.bug, test.variation), behaving("", "")},
			} {
				if !golden.IsSlow() && swapped != len(name)%2 {
					continue // one order for each, and not the same one for all
				}
				e := explore.Explorer{Seed: 1, Findings: 8, Steps: 3000}
				if test.clause == "FWP-WU-03" { // such a number is rare: ten seeds found 6 to 14 of them in so many commands
					e.Steps = 10000
				}
				r := compared(t, configs[0], configs[1], explore.Comparison{Explorer: e})
				at := slices.IndexFunc(r.Differences, func(d explore.Difference) bool {
					v := d.Sides[1-swapped].Violation
					return test.departs && v != nil && v.Clause == test.clause || !test.departs && v == nil && d.Clause == test.clause
				})
				require.GreaterOrEqual(t, at, 0, "%+v", r.Differences)
				d := r.Differences[at]
				assert.Nil(t, d.Sides[swapped].Violation, "%+v", d)
				assert.NotEmpty(t, d.Conversation)
				if test.clause == "FWP-WU-03" { // what is left of the conversation, and how often it shows it, is chance
					continue
				}
				assert.Less(t, len(d.Conversation), 12)
				assert.Equal(t, [2]int{5, 5}, [2]int{d.Hits, d.Tries})
			}
		})
	}
}

// A limit of connections is named, and no reply differs because of it.
func TestALimitOfConnectionsIsNoDifference(t *testing.T) {
	t.Parallel()
	limited := func() fakes.Config { return fakes.Config{MaxConnections: 6} }
	for name, configs := range map[string][2]func() fakes.Config{
		"of the first": {limited, behaving("", "")}, "of the second": {behaving("", ""), limited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := compared(t, configs[0], configs[1], explore.Comparison{Explorer: explore.Explorer{Seed: 3, Findings: 3,
				Connections: 12, Steps: 200}})
			assert.Empty(t, r.Differences)
			assert.ElementsMatch(t, []int{0, 6}, r.Limits)
			assert.Positive(t, r.Commands)
		})
	}
}

// Where one server refuses each client a comparison ends, although it has sent few commands and has much time.
func TestAServerThatRefusesEachClient(t *testing.T) {
	t.Parallel()
	refusing := func() fakes.Config { return fakes.Config{Password: "secret"} }
	r := compared(t, behaving("", ""), refusing, explore.Comparison{Explorer: explore.Explorer{
		Seed: 1, Findings: 100, Steps: 10_000, SkipsShrinking: true,
	}})
	assert.Positive(t, r.Commands)
	assert.Less(t, r.Commands, 1000)
}

// A server that dies again and again is started 20 times.
func TestAServerThatDiesAgainAndAgain(t *testing.T) {
	t.Parallel()
	r := compared(t, behaving("", ""), behaving("dies-of-unknown-job", ""), explore.Comparison{
		OwnsServers: true, Explorer: explore.Explorer{Seed: 1, Findings: 100, Steps: 5000, SkipsShrinking: true},
	})
	deaths := 0
	for _, d := range r.Differences {
		if slices.ContainsFunc(d.Sides[:], func(s explore.Side) bool { return s.Violation != nil }) {
			deaths += d.Count
		}
	}
	assert.Equal(t, 20, deaths)
	assert.Less(t, r.Commands, 5000)
}

// TestBothServersAreLost: what serves no more on both sides is no difference, and not well: it is named.
func TestBothServersAreLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &forwardtest.Forwarder{Resets: true}
		s := &stage{func() fakes.Config { return fakes.Config{} }}
		behind, end, err := s.start()
		require.NoError(t, err)
		defer end()
		f.Server = behind.Dial
		c := explore.Comparison{Second: f, Explorer: explore.Explorer{
			Alphabet: moves.New(), Target: f, Seed: 1, Steps: 2000, SkipsShrinking: true,
		}}
		r := c.Run(t.Context())
		assert.Empty(t, r.Differences)
		assert.Equal(t, [2]bool{true, true}, r.IsDead)
		assert.Contains(t, r.LostReason[0], "reset its connection")
	})
}

// A server that dies is started again where it exists for the comparison only, and the comparison goes on.
func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	r := compared(t, behaving("", ""), behaving("dies-of-unknown-job", ""), explore.Comparison{
		OwnsServers: true, Explorer: explore.Explorer{Seed: 1, Findings: 8, Steps: 500},
	})
	require.NotEmpty(t, r.Differences)
	count, hits := 0, 0
	for _, d := range r.Differences {
		require.NotNil(t, d.Sides[1].Violation, "%+v", d)
		assert.Equal(t, explore.RuleCrash, d.Sides[1].Violation.Rule)
		assert.Nil(t, d.Sides[0].Violation)
		count, hits = count+d.Count, max(hits, d.Hits)
	}
	assert.Greater(t, count, 2, "it went on")
	assert.Equal(t, 5, hits)
	assert.Equal(t, [2]bool{}, r.IsDead)
}

// TestBothServersCannotBeRead: what breaks the grammar on both sides alike is no difference, and not well.
func TestBothServersCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verb, bytes string
		want        string
	}{
		"a length": {fwp.FETCH, "$9223372036854775807\r\nx",
			"replies to FETCH could not be read: expected a length of at most"},
		"an array": {fwp.PUSH, "*2147483647\r\n", "replies to PUSH could not be read: expected a reply that PUSH has"},
		"a nesting": {fwp.ACK, strings.Repeat("*1\r\n", 100),
			"replies to ACK could not be read: expected a reply that ACK has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := func() fakes.Config {
				return fakes.Config{Hook: func(e *fakes.Event) {
					if e.Point == fakes.Writing && e.Command.Verb == test.verb && e.Reply.Kind != fwp.NullBulk {
						e.Bytes = []byte(test.bytes)
					}
				}}
			}
			r := compared(t, wrong, wrong, explore.Comparison{Explorer: explore.Explorer{Seed: 1, Steps: 300}})
			assert.Contains(t, r.Unread[0], test.want)
			assert.Contains(t, r.Unread[1], test.want)
		})
	}
	r := compared(t, behaving("", ""), behaving("", ""),
		explore.Comparison{Explorer: explore.Explorer{Seed: 1, Steps: 300}})
	assert.Empty(t, r.Unread)
}

// TestNothingBehindAnUnreadableReplyIsBlamed: the command that got it is, and none behind it, by one client or by many.
func TestNothingBehindAnUnreadableReplyIsBlamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verb, bytes, want string
	}{
		"a length":           {fwp.FETCH, "$9223372036854775807\r\n", "FWP-RESP-03"},
		"an array":           {fwp.PUSH, "*2147483647\r\n", "FWP-PUSH-01"},
		"one of jobs":        {fwp.FETCH, "*2147483647\r\n", "FWP-FETCH-01"},
		"a nesting":          {fwp.ACK, strings.Repeat("*1\r\n", 10_000), "FWP-ACK-01"},
		"a nesting, failing": {fwp.FAIL, strings.Repeat("*1\r\n", 10_000), "FWP-FAIL-01"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seldom := func() fakes.Config { // every third time, with the right reply behind it
				var times atomic.Int64
				return fakes.Config{Hook: func(e *fakes.Event) {
					if e.Point != fakes.Writing || e.Command.Verb != test.verb || e.Reply.Kind == fwp.NullBulk {
						return
					}
					if times.Add(1)%3 == 0 {
						e.Bytes = append([]byte(test.bytes), e.Bytes...)
					}
				}}
			}
			for seed := range uint64(golden.Sample(1, 10)) {
				e := crowd.Campaign{Workers: 8, Explorer: explore.Explorer{
					Alphabet: moves.New(), Seed: seed, Steps: 2000, Findings: 100, SkipsShrinking: true,
				}}
				campaign(t, seldom, e, func(t *testing.T, r *explore.Result, loaded *crowd.Result, _ *stage) {
					found := r.Findings
					if loaded != nil {
						found = append(found, loaded.Findings...)
					}
					require.NotEmpty(t, found)
					for _, f := range found {
						assert.Equal(t, test.want, f.Clause, "seed %d: %s expected %s, got %s", seed, f.Detail, f.Expected, f.Got)
					}
				})
			}
		})
	}
}
