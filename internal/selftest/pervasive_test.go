package selftest

import (
	"bytes"
	"cmp"
	"hash/crc32"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/reports"
)

const (
	linesEndWithLF = "every line ends with LF alone"
	repliesAreSlow = "every reply is slow"
	createdIsLate  = "created_at is an hour late"
)

// pervasive are departures that show in most conversations of a server.
func pervasive(t *testing.T) []peer.Fault {
	t.Helper()
	retry, err := peer.Default().FaultNamed("job-retry-follows")
	require.NoError(t, err)
	own := func(name string, clauses []string, hook func(*fakes.Event)) peer.Fault {
		return peer.FWPFault(fakes.Fault{
			Name: name, Clauses: clauses, Hook: func() func(*fakes.Event) { return hook },
		})
	}
	return []peer.Fault{
		retry,
		own(linesEndWithLF, []string{"FWP-RESP-01"}, func(e *fakes.Event) {
			if e.Point == fakes.Writing {
				e.Bytes = bytes.ReplaceAll(e.Bytes, []byte("\r\n"), []byte("\n"))
			}
		}),
		own("every hash has a field more", []string{"FWP-WU-11"}, func(e *fakes.Event) {
			text := e.Reply.Text
			if (e.Point == fakes.Greeting || e.Point == fakes.Ran) && bytes.HasSuffix(text, []byte("}")) {
				e.Reply.Text = append(bytes.Clone(text[:len(text)-1]), `,"x_extra":1}`...)
			}
		}),
		own(repliesAreSlow, []string{"FWP-FETCH-05"}, func(e *fakes.Event) {
			if e.Point == fakes.Writing {
				e.Delay = 300 * time.Millisecond
			}
		}),
		own(createdIsLate, []string{"FWP-WU-10", "FWP-WU-12"}, func(e *fakes.Event) {
			if at, is := e.Object.Time("created_at"); is && e.Point == fakes.Delivered {
				e.Object.SetText("created_at", at.Add(time.Hour).Format(time.RFC3339Nano))
			}
		}),
	}
}

// besides is how many faults of the catalogue are played beside each pervasive one; with FWP_SLOW=1 all are.
const besides = 40

// hidden are the faults that are not found beside a pervasive one, with the reason.
var hidden = map[string]map[string]string{
	linesEndWithLF: {
		"reply-length-characters": "behind an LF for CR LF and a length that does not fit, no message can be told",
	},
	repliesAreSlow: {
		"push-delivered-late": "what a server takes for every reply is no part of a wait",
		"retry-at-once":       "the same",
		"retry-woken":         "the same",
	},
	createdIsLate: {
		"expiry-enqueued-at-stale": "the scripts that look at this time begin with created_at",
	},
}

// TestFaultsBesideAPervasiveOne plays a sample of the catalogue on servers that have a pervasive fault as well. A fault
// is found there if one of the scripts finds its first clause broken that find it alone, and that do not because of the
// pervasive fault.
func TestFaultsBesideAPervasiveOne(t *testing.T) { //nolint:tparallel // the group is over before it is counted
	t.Parallel()
	documented, scripts := documentation(t), candidates(suite(t))
	drawn := func(f peer.Fault) uint32 { return crc32.ChecksumIEEE([]byte(f.Name)) }
	faults := slices.SortedFunc(slices.Values(peer.Default().Faults()), func(a, b peer.Fault) int {
		return cmp.Compare(drawn(a), drawn(b))
	})
	if !slow.Enabled() {
		faults = faults[:besides]
	}
	for _, p := range pervasive(t) {
		var alone, missed atomic.Int32
		t.Run(p.Name, func(t *testing.T) {
			for _, f := range faults {
				t.Run(f.Name, func(t *testing.T) {
					t.Parallel()
					byItself, beside := foundBeside(t, documented.faults[f.Name].caught, scripts, f, p)
					if !byItself {
						return
					}
					alone.Add(1)
					if !beside {
						missed.Add(1)
						assert.NotEmpty(t, hidden[p.Name][f.Name], "%s is not found beside %s", f.Name, p.Name)
					}
				})
			}
		})
		assert.GreaterOrEqual(t, int(alone.Load()), len(faults)*9/10, "beside %s", p.Name)
		assert.LessOrEqual(t, int(missed.Load()), int(alone.Load())/20, "beside %s", p.Name)
	}
}

// foundBeside reports whether scripts find the first clause of a fault broken, and whether they still do beside
// another fault, which does not break it itself there.
func foundBeside(
	t *testing.T, caught []string, scripts []candidate, fault, beside peer.Fault,
) (byItself, found bool) {
	t.Helper()
	const most = 4 // scripts
	clause, played := fault.Clauses[0], 0
	for _, s := range scripts {
		if !slices.Contains(caught, s.id) || slices.Contains(heavy, s.id) || played == most {
			continue
		}
		played++
		if breaks(t, clause, s.Check, beside) || !breaks(t, clause, s.Check, fault) {
			continue
		}
		if byItself = true; breaks(t, clause, s.Check, fault, beside) {
			return true, true
		}
	}
	return byItself, false
}

// breaks reports whether a script finds a clause broken on a server that has some faults.
func breaks(t *testing.T, clause string, script conformance.Check, faults ...peer.Fault) bool {
	t.Helper()
	return slices.Contains(red(playBeside(t, script, faults...)), clause)
}

// playBeside plays one script on fresh servers that have some faults.
func playBeside(t *testing.T, script conformance.Check, faults ...peer.Fault) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		var err error
		check, err = Fixture{Network: memnet.New()}.PlayAll(t.Context(), faults, script, nil)
		require.NoError(t, err)
	})
	return check
}

// TestALapseIsAFindingAndNoPass: where all lines end with LF, that is the finding, told once a play, and only what is
// about the bytes of a reply stays open.
func TestALapseIsAFindingAndNoPass(t *testing.T) {
	t.Parallel()
	lf := pervasive(t)[1]
	for script, want := range map[string]string{
		"resp/null":        "FWP-RESP-04 inconclusive, FWP-FETCH-03 pass, FWP-RESP-01 fail",
		"ack/is-final":     "FWP-STATE-05 pass, FWP-ACK-02 pass, FWP-RESP-01 fail",
		"resp/well-formed": "FWP-RESP-01 fail",
	} {
		scripts := candidates(suite(t))
		i := slices.IndexFunc(scripts, func(s candidate) bool { return s.id == script })
		require.GreaterOrEqual(t, i, 0, script)
		check := playBeside(t, scripts[i].Check, lf)
		var got []string
		for _, c := range check.Clauses {
			got = append(got, c.ID+" "+c.Verdict.String())
		}
		assert.Equal(t, want, strings.Join(got, ", "), script)
		assert.Len(t, check.Findings, 1, script)
	}
}
