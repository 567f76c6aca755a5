package selftest

import (
	"bytes"
	"cmp"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/workq"
	"github.com/fwpsuite/fwp/reports"
)

// The names of pervasive bugs.
const (
	linesEndWithLF = "every line ends with LF alone"
	repliesAreSlow = "every reply is slow"
	createdIsLate  = "created_at is an hour late"
	otherIDs       = "every id in a reply is another one"
	extraField     = "every hash has a field more"

	acksHaveOtherIDs = "ack-other-id"
)

const slowReply = 300 * time.Millisecond

// pervasive are departures that show in most conversations of a server, by protocol.
func pervasive(t *testing.T) map[string][]registry.Bug {
	t.Helper()
	return map[string][]registry.Bug{"fwp": pervasiveFWP(t), "workq": pervasiveWorkq(), "emqp": pervasiveEMQP(t)}
}

// bugNamed returns a bug of the catalogue of a protocol.
func bugNamed(t *testing.T, protocol, name string) registry.Bug {
	t.Helper()
	entry, err := registry.Lookup(protocol)
	require.NoError(t, err)
	bug, err := entry.BugNamed(name)
	require.NoError(t, err)
	return bug
}

// ownRow is the table of a bug of this test, with its clauses.
func ownRow(name, clauses string) catalogue.Table {
	return catalogue.Table{name: {Marks: strings.Fields(clauses)}}
}

func pervasiveFWP(t *testing.T) []registry.Bug {
	t.Helper()
	newBug := func(name, clause string, hook func(*fakes.Event)) registry.Bug {
		return registry.FWPBug(catalogue.BugOf[fakes.Event](ownRow(name, "FWP-"+clause), name, hook))
	}
	return []registry.Bug{
		bugNamed(t, "fwp", "job-retry-follows"),
		newBug(linesEndWithLF, "RESP-01", func(e *fakes.Event) {
			if e.Point == fakes.Writing {
				e.Bytes = bytes.ReplaceAll(e.Bytes, []byte("\r\n"), []byte("\n"))
			}
		}),
		newBug(extraField, "WU-11", func(e *fakes.Event) {
			text := e.Reply.Text
			if (e.Point == fakes.Greeting || e.Point == fakes.Ran) && bytes.HasSuffix(text, []byte("}")) {
				e.Reply.Text = append(bytes.Clone(text[:len(text)-1]), `,"x_extra":1}`...)
			}
		}),
		newBug(repliesAreSlow, "FETCH-05", func(e *fakes.Event) {
			if e.Point == fakes.Writing {
				e.Delay = slowReply
			}
		}),
		newBug(createdIsLate, "WU-10 FWP-WU-12", func(e *fakes.Event) {
			if at, ok := e.Object.Time("created_at"); ok && e.Point == fakes.Delivered {
				e.Object.SetText("created_at", at.Add(time.Hour).Format(time.RFC3339Nano))
			}
		}),
	}
}

func pervasiveWorkq() []registry.Bug {
	newBug := func(name, clause string, hook func() func(*fakeworkq.Event)) registry.Bug {
		return registry.WorkqBug(catalogue.BugOf[fakeworkq.Event](ownRow(name, "WORKQ-"+clause), name, hook))
	}
	atPoint := func(p fakeworkq.Point) func(*fakeworkq.Event) bool {
		return func(e *fakeworkq.Event) bool { return e.Point == p }
	}
	at := func(p fakeworkq.Point, act func(*fakeworkq.Event)) func() func(*fakeworkq.Event) {
		return catalogue.Maker[fakeworkq.Event](catalogue.ActIf(atPoint(p), act))
	}
	return []registry.Bug{
		newBug(linesEndWithLF, "LINE-03", at(fakeworkq.Writing, func(e *fakeworkq.Event) {
			e.Bytes = bytes.ReplaceAll(e.Bytes, []byte("\r\n"), []byte("\n"))
		})),
		newBug(otherIDs, "LEASE-01 WORKQ-LEASE-02", at(fakeworkq.Ran, func(e *fakeworkq.Event) {
			for _, r := range e.Reply.Records {
				if id := r.Head[0]; strings.Count(id, "-") == 4 {
					r.Head[0] = "f" + id[1:]
				}
			}
		})),
		newBug(extraField, "INSP-02", at(fakeworkq.Ran, func(e *fakeworkq.Event) {
			for i := range e.Reply.Records {
				if r := &e.Reply.Records[i]; r.Keys != nil {
					last := len(r.Head) - 1
					count, _ := strconv.Atoi(r.Head[last]) // the server has written it
					r.Head[last] = strconv.Itoa(count + 1)
					r.Keys = append(slices.Clone(r.Keys), workq.Key{Name: "x-extra", Value: "1"})
				}
			}
		})),
		newBug("max-fails follows", "ADD-20", catalogue.WithMemory(atPoint(fakeworkq.Adding), func(last *uint64, e *fakeworkq.Event) {
			e.Job.MaxFails = cmp.Or(e.Job.MaxFails, *last)
			*last = e.Job.MaxFails
		})),
		newBug(repliesAreSlow, "LEASE-04", at(fakeworkq.Writing, func(*fakeworkq.Event) { time.Sleep(slowReply) })),
	}
}

func pervasiveEMQP(t *testing.T) []registry.Bug {
	t.Helper()
	newBug := func(name, clause string, hook func() func(*fakeemqp.Event)) registry.Bug {
		return registry.EMQPBug(catalogue.BugOf[fakeemqp.Event](ownRow(name, "EMQP-"+clause), name, hook))
	}
	const atHeaders = 5
	request := func(e *fakeemqp.Event) bool {
		return e.IsFromBroker && len(e.Frames) > atHeaders && string(e.Frames[2]) == emqp.REQUEST
	}
	headers := func(e *fakeemqp.Event, text string) {
		e.Frames = slices.Clone(e.Frames)
		e.Frames[atHeaders] = []byte(text)
	}
	return []registry.Bug{
		bugNamed(t, "emqp", acksHaveOtherIDs),
		bugNamed(t, "emqp", "heartbeat-milliseconds"),
		newBug("every REQUEST has a header more", "HEAD-01", catalogue.Maker[fakeemqp.Event](catalogue.ActIf(request,
			func(e *fakeemqp.Event) {
				headers(e, strings.TrimPrefix(string(e.Frames[atHeaders])+",x-extra:1", ","))
			}))),
		newBug("headers follow", "HEAD-02", catalogue.WithMemory(request, func(last *string, e *fakeemqp.Event) {
			headers(e, cmp.Or(string(e.Frames[atHeaders]), *last))
			*last = string(e.Frames[atHeaders])
		})),
		newBug(repliesAreSlow, "ACK-01", catalogue.Maker[fakeemqp.Event](func(e *fakeemqp.Event) {
			if e.IsFromBroker {
				e.Delay = max(e.Delay, slowReply)
			}
		})),
	}
}

// hiddenBugs are the bugs that are not found beside a pervasive one, with the reason. So are those whose clause that one
// breaks itself.
var hiddenBugs = map[string]map[string]string{
	linesEndWithLF: {
		"reply-length-characters": "behind an LF for CR LF and a length that does not fit, no message can be told",
		"line-size-less":          "the same",
		"add-payload-nul":         "the same: the payload that is announced is not the one that is sent",
		"add-payload-trimmed":     "the same",

		"job-jobtype-number": "the law alone sees it, and tells nothing of a message whose bytes are wrong",
		"lease-other-name":   "the same",
	},
	extraField: {
		"inspect-count-less": "the field more is the one that is not counted",
		"hi-iterations-text": "with both, the greeting is no object",
	},
	acksHaveOtherIDs: {"frame-id-same-ack": "the ids of the ACKs are those that are wrong"},
	repliesAreSlow: {
		"push-delivered-late": "what a server takes for every reply is no part of a wait",
		"retry-at-once":       "the same",
		"retry-woken":         "the same",

		"fetch-sleeps":     "the PUSH may have been read so late, and what rests on the time of a FETCH is open",
		"fetch-stalls-all": "the same",
		"fetch-woken-once": "the same",

		"job-created-at-follows":   "the clean-up of its script, which fetches the job, is over before",
		"job-custom-follows":       "the same",
		"push-with-its-connection": "such a server ends the connection when the job has been fetched",
	},
	createdIsLate: {
		"expiry-enqueued-at-stale": "the scripts that look at this time begin with created_at",
		"enqueued-at-local":        "the same",

		"job-id-nested": "the law blames created_at for certain, and the line about the job is left to it",
		"job-id-number": "the same",
	},
}

// documents are those that say which checks catch a bug, by protocol; that of eMQP does not.
var documents = map[string]string{"fwp": "bugs.md", "workq": "workq-bugs.md", "emqp": "emqp-bugs.md"}

// playCache plays a catalogue beside pervasive bugs. Plays are remembered: each script is played once on a server with
// the same bugs.
type playCache struct {
	entry *registry.Entry
	plays sync.Map // by script and bugs: func() []string, which returns the clauses that are found broken
}

// scriptsOf returns the scripts that are about a bug: those that look at its first clause, and those that the
// document says catch it.
func scriptsOf(all []candidate, bug registry.Bug, catchers []string) []conformance.Check {
	var first, others []conformance.Check
	for _, s := range all {
		switch {
		case slices.Contains(heavyChecks, s.id):
		case slices.Contains(s.clauses, bug.Clauses[0]):
			first = append(first, s.Check)
		case slices.Contains(catchers, s.id):
			others = append(others, s.Check)
		}
	}
	if len(catchers) > 0 {
		first = slices.DeleteFunc(first, func(c conformance.Check) bool {
			return !slices.Contains(catchers, c.Describe().ID)
		})
	}
	return append(first, others...)
}

// breaks reports whether a script finds a clause broken on a server that has some bugs.
func (b *playCache) breaks(t *testing.T, clause string, script conformance.Check, bugs ...registry.Bug) bool {
	t.Helper()
	key := script.Describe().ID
	for _, f := range bugs {
		key += "\n" + f.Name
	}
	play, _ := b.plays.LoadOrStore(key, sync.OnceValue(func() []string {
		return brokenClauses(playTogether(t, b.entry, script, bugs...))
	}))
	return slices.Contains(play.(func() []string)(), clause) //nolint:forcetypeassert // nothing else is stored
}

// findBug reports whether scripts find the first clause of a bug broken, and whether they still do beside another
// bug, which does not break it itself there. What is found beside another one is not played alone.
func (b *playCache) findBug(t *testing.T, scripts []conformance.Check, bug, other registry.Bug) (isFoundAlone, isFoundBeside bool) {
	t.Helper()
	const limit = 4 // scripts
	clause := bug.Clauses[0]
	for _, s := range scripts[:min(limit, len(scripts))] {
		switch {
		case b.breaks(t, clause, s, other):
		case b.breaks(t, clause, s, bug, other):
			return true, true
		default:
			isFoundAlone = isFoundAlone || b.breaks(t, clause, s, bug)
		}
	}
	return isFoundAlone, false
}

// TestBugsBesideAPervasiveOne plays bugs of the catalogues once more on a server that has a pervasive bug as
// well, which are taken in turn; with FWP_SLOW=1 each bug beside all of them, and otherwise a quarter of those of
// FWP; the race detector watches an eighth. A bug is found there if one of the scripts finds its first clause broken
// that find it alone, and that do not because of the pervasive bug.
func TestBugsBesideAPervasiveOne(t *testing.T) {
	t.Parallel()
	for protocol, others := range pervasive(t) {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			entry, err := registry.Lookup(protocol)
			require.NoError(t, err)
			counts := make([]atomic.Int32, len(others))
			t.Run("each", func(t *testing.T) { playPervasives(t, entry, others, counts) })
			for i, p := range others {
				t.Logf("beside %s: %d are found", p.Name, counts[i].Load())
			}
		})
	}
}

// playPervasives plays the catalogue of a protocol beside pervasive bugs, and counts for each.
func playPervasives(t *testing.T, entry *registry.Entry, others []registry.Bug, counts []atomic.Int32) {
	t.Helper()
	suite, err := entry.Scripts()
	require.NoError(t, err)
	b, rows, scripts := &playCache{entry: entry}, documentation(t, documents[entry.Name], 0, entry.Bugs()).bugs, candidates(suite)
	for _, f := range entry.Bugs() {
		chance := crc32.ChecksumIEEE([]byte(f.Name)) // by its name: another bug of the catalogue changes nothing
		if !golden.IsSlow() && entry.IsDefault() && chance%4 != 0 || golden.Racing && chance%8 != 0 {
			continue
		}
		selection := scriptsOf(scripts, f, rows[f.Name].catchers)
		for j, p := range others {
			if !golden.IsSlow() && int(chance/4)%len(others) != j {
				continue
			}
			t.Run(f.Name+" beside "+p.Name, func(t *testing.T) {
				t.Parallel()
				isFoundAlone, isFoundBeside := b.findBug(t, selection, f, p)
				if isFoundAlone && !isFoundBeside { // which of two connections comes first is chance
					isFoundAlone, isFoundBeside = (&playCache{entry: entry}).findBug(t, selection, f, p)
				}
				switch {
				case isFoundBeside:
					counts[j].Add(1)
				case isFoundAlone && hiddenBugs[p.Name][f.Name] == "" && !slices.Contains(p.Clauses, f.Clauses[0]):
					assert.Fail(t, "it is not found")
				}
			})
		}
	}
}

// playTogether plays one script on fresh servers that have some bugs.
func playTogether(
	t *testing.T, entry *registry.Entry, script conformance.Check, bugs ...registry.Bug,
) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		var err error
		check, err = Fixture{Entry: entry, Network: memnet.New()}.Play(t.Context(), bugs, script, nil)
		require.NoError(t, err)
	})
	checkDeclared(t, entry, check)
	return check
}

// TestALapseIsAFindingAndNoPass: where all lines end with LF, that is the finding, told once a play, and only what is
// about the bytes of a reply stays open.
func TestALapseIsAFindingAndNoPass(t *testing.T) {
	t.Parallel()
	lf := pervasiveFWP(t)[1]
	for script, want := range map[string]string{
		"resp/null":        "FWP-RESP-04 inconclusive, FWP-FETCH-03 inconclusive, FWP-RESP-01 fail",
		"ack/is-final":     "FWP-STATE-05 pass, FWP-ACK-02 pass, FWP-RESP-01 fail",
		"resp/well-formed": "FWP-RESP-01 fail",
	} {
		scripts := candidates(suite(t))
		i := slices.IndexFunc(scripts, func(s candidate) bool { return s.id == script })
		require.GreaterOrEqual(t, i, 0, script)
		check := playTogether(t, registry.Default(), scripts[i].Check, lf)
		var got []string
		for _, c := range check.Clauses {
			got = append(got, c.ID+" "+c.Verdict.String())
		}
		assert.Equal(t, want, strings.Join(got, ", "), script)
		assert.Len(t, check.Findings, 1, script)
	}
}
