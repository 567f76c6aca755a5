package suite

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
	"github.com/fwpsuite/fwp/scenarios"
)

func newTestMaker(seed uint64) *maker {
	terms := law.Terms{NamePrefix: "fwp"}
	l := newLaw(terms)
	return newMaker(explore.NewDraw(workqscript.Dialect{}, seed, 1, terms, l.Value), l)
}

// wireBytes returns what a text is on the wire.
func wireBytes(t *testing.T, m *maker, text string) []byte {
	t.Helper()
	do := m.step(2, text).Sends()
	var texts []string
	for _, s := range do.Segments {
		texts = append(texts, m.Fill(s.String()))
	}
	segments, err := workqscript.Dialect{}.Grammar().Segments(do, texts)
	assert.NoError(t, err, text)
	return slices.Concat(segments...)
}

// All moves but the malformed ones send one legal command, with all flags, and blocks with any bytes.
func TestMovesAreLegal(t *testing.T) {
	t.Parallel()
	m := newTestMaker(1)
	features := map[string]bool{}
	for range 400 {
		for _, row := range moves {
			if row.name == "malformed" || row.name == "inspect server" || !row.fits(m) && row.name != "run" {
				continue
			}
			all := wireBytes(t, m, row.text(m))
			c, n, err := workq.ParseCommand(all)
			assert.NoError(t, err, "%.200q", all)
			assert.Len(t, all, n)
			features[c.Verb] = true
			for flag, set := range map[string]bool{
				"priority": c.Priority < -1<<20, "attempts": c.MaxAttempts > 3, "fails": c.MaxFails > 255, "ttr": c.TTR > 1<<26,
				"ttl": c.TTL > 1<<62, "size": len(c.Block) == workq.MaxBlock, "bytes": strings.Contains(string(c.Block), "\r\n"),
				"name": len(c.Name()) == 128, "far": strings.HasPrefix(c.Time, "2200"),
			} {
				features[flag] = features[flag] || set
			}
		}
	}
	for _, want := range []string{
		workq.Add, workq.Schedule, workq.Run, workq.Result, workq.Complete, workq.InspectJobs, workq.InspectQueues,
		"priority", "attempts", "fails", "ttr", "ttl", "size", "bytes", "name", "far",
	} {
		assert.True(t, features[want], want)
	}
}

// No malformed command can be read, and each part that may be wrong is in some of them.
func TestMalformedCommandsFail(t *testing.T) {
	t.Parallel()
	m := newTestMaker(1)
	parts := map[string]bool{}
	for _, text := range malformedCommands() {
		_, _, err := workq.ParseCommand(wireBytes(t, m, text))
		assert.Error(t, err, text)
		parts[wrongPart(err)] = true
	}
	for part := range malformedClauses {
		assert.True(t, parts[part], part)
	}
}

// Some second commands with the id of a job have flags, and some have none.
func TestAddAgainHasFlags(t *testing.T) {
	t.Parallel()
	m := newTestMaker(1)
	m.newJob(m.newName())
	kinds := map[string]bool{}
	for range 100 {
		text := m.addAgain()
		verb, _, _ := strings.Cut(text, " ")
		kinds[verb+" "+strconv.FormatBool(strings.Contains(text, " -"))] = true
	}
	want := map[string]bool{"add true": true, "add false": true, "schedule true": true, "schedule false": true}
	assert.Equal(t, want, kinds)
}

// A server that does not know an id may say so, whatever is wrong with it; one that is to be added must be refused.
func TestRefusedIDs(t *testing.T) {
	t.Parallel()
	notFound := session.Message{Kind: workqsession.NotFound}
	for verb, clause := range map[string]string{workq.Delete: "", workq.Result: "", workq.Add: "ADD-04"} {
		k := &call{Command: workq.Command{Verb: verb}, isMalformed: true, badPart: "id"}
		assert.Equal(t, clause, k.judgeRefusal(notFound).clause, verb)
	}
}

// What a refused command breaks is the clause of its uncommon value, unless another one with it was taken.
func TestTakeClause(t *testing.T) {
	t.Parallel()
	l := &workqLaw{takenValues: map[uncommonValue]bool{{"ADD-11", "4097"}: true}}
	for line, want := range map[string]string{
		"add $id1 $name1 1000 1000 1":                              "ADD-01",
		"schedule $id1 $name1 1000 1000 2040-01-02T15:04:05Z 1":    "SCHED-01",
		"add $id1 $name1 1000 18446744073709551615 1":              "ADD-09",
		"add $id1 $name1 86400000 1000 1":                          "ADD-07",
		"add $id1 $name1 1000 1000 1 -priority=-2147483648":        "ADD-14",
		"add $id1 $name1 1000 1000 1 -max-attempts=1 -max-fails=1": "LINE-09",
		"run $id1 $name1 1000 1000 1 -priority=3":                  "RUN-01",
		"complete $id1 1":                   "DONE-01",
		"add $id1 $name1 1000 1000 1048576": "ADD-11",
		"fail $id1 1048576":                 "DONE-03",
		"add $id1 $name1 1000 1000 4096":    "ADD-11",
		"add $id1 $name1 1000 1000 4097":    "ADD-01",
	} {
		size, err := strconv.Atoi(line[strings.LastIndex(line, " ")+1:])
		if err != nil { // it is a flag
			size = 1
		}
		all := []byte(newTestMaker(1).Fill(line) + "\r\n" + strings.Repeat("x", size) + "\r\n")
		c, _, err := workq.ParseCommand(all)
		assert.NoError(t, err, line)
		assert.Equal(t, want, l.takeClause(&call{Command: c, bytes: all}), line)
	}
}

// A habit shows when it is followed more often, or less often, than chance explains.
func TestChance(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tally
		biased bool
	}{
		"always":        {tally{31, 31, 15.5}, true},
		"soon":          {tally{29, 29, 14.5}, false},
		"never":         {tally{0, 60, 20}, true},
		"mostly":        {tally{90, 100, 50}, true},
		"by chance":     {tally{60, 100, 50}, false},
		"rather seldom": {tally{35, 100, 50}, false},
	} {
		assert.Equal(t, test.biased, test.chance() <= maxLogChance, name)
	}
}

// The lives have an end: ways are begun first, and then jobs added; everything rests, and each job is looked at.
func TestLives(t *testing.T) {
	t.Parallel()
	m := newTestMaker(1)
	a := Lives().Generate(m.Draw, m.law)
	fits := func() (names []string) {
		for _, move := range a.Moves {
			if move.Fits(2) {
				names = append(names, move.Name)
			}
		}
		return names
	}
	assert.NotContains(t, fits(), "add", "ways are begun first")
	assert.NotContains(t, fits(), "rest")
	assert.False(t, a.Done())
	assert.Equal(t, scenarios.Producer, a.Open(2).Do.(*scenarios.Connect).Role)
	assert.Less(t, livesEnd, quickWait)
}

// quickWait is the longest wait of a check of a quick run.
const quickWait = 5 * time.Second

// The steps of a situation are legal, and what waits in it waits on another connection than what ends the wait.
func TestSituations(t *testing.T) {
	t.Parallel()
	for name, steps := range situations {
		waits := 0
		for seed := range uint64(30) {
			m := newTestMaker(seed)
			for _, step := range steps(m, 2, 3) {
				do := step.Sends()
				var texts []string
				for _, s := range do.Segments {
					texts = append(texts, m.Fill(s.String()))
				}
				segments, err := workqscript.Dialect{}.Grammar().Segments(do, texts)
				assert.NoError(t, err, name)
				assert.NotEmpty(t, splitCommands(slices.Concat(segments...)), "%s: %s", name, texts)
				if step.Ahead {
					waits++
					assert.Equal(t, 2, step.Conn(), name)
				}
			}
		}
		assert.Equal(t, strings.Contains(name, "wait"), waits > 0, name)
	}
}

// TestSeveralAtOnce: several commands in one piece have a reply each; bytes that are anything else are not judged.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"inspect server\r\ninspect server\r\n":               2,
		"complete ID 2\r\n\r\n\r\ninspect server\r\n":        2,
		"inspect server\r\ninspect server":                   -2,
		"inspect server\r\nlease\r\ninspect server\r\n":      -2,
		"inspect server\r\n":                                 1,
		"inspect server\r\n" + "complete ID 3\r\nx\r\ny\r\n": -2,
	} {
		l := newLaw(law.Terms{})
		l.Open(1, time.Now())
		text = strings.ReplaceAll(text, "ID", "6ba7b810-9dad-41d1-80b4-00c04fd430c4")
		assert.Equal(t, want, l.Sent(1, []byte(text), false, time.Now()).DueReplies, "%q", text)
	}
}

// TestUndescribed: of a job whose run was answered, and of an end behind a time to live, a reply says nothing.
func TestUndescribed(t *testing.T) {
	t.Parallel()
	newJob := func(verb string, c possibleState) *job {
		return &job{Command: workq.Command{Verb: verb}, possibleStates: []possibleState{c}}
	}
	newCall := func(verb string) *call { return &call{Command: workq.Command{Verb: verb}} }
	lapsed := possibleState{state: deleted, isTimed: true}
	for name, test := range map[string]struct {
		j    *job
		k    *call
		kind byte
		want bool
	}{
		"a run that has ended": {
			newJob(workq.Run, possibleState{state: completed}), newCall(workq.InspectJob), workqsession.NotFound, true,
		},
		"a run that has not": {
			newJob(workq.Run, possibleState{state: leased}), newCall(workq.InspectJob), workqsession.NotFound, false,
		},
		"a run that is there": {
			newJob(workq.Run, possibleState{state: failed}), newCall(workq.InspectJob), workqsession.Timeout, false,
		},
		"a job that has ended": {
			newJob(workq.Add, possibleState{state: completed}), newCall(workq.Result), workqsession.NotFound, false,
		},
		"an end behind its time": {
			newJob(workq.Add, lapsed), newCall(workq.Complete), workqsession.OK, true,
		},
		"a result behind its time": {
			newJob(workq.Add, lapsed), newCall(workq.Result), workqsession.OK, false,
		},
		"an end of one that had not one": {
			newJob(workq.Add, possibleState{state: deleted, isTimed: true, isEvicted: true}), newCall(workq.Fail), workqsession.OK, false,
		},
		"an end of one that was deleted": {
			newJob(workq.Add, possibleState{state: deleted}), newCall(workq.Fail), workqsession.OK, false,
		},
	} {
		assert.Equal(t, test.want, test.j.isUndescribed(test.k, test.kind), name)
	}
}
