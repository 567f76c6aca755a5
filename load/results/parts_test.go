package results_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// partsLoad is a load of four parts: one that was late, one that was killed, one that is there twice, and one that is
// well. A fifth one is missing.
func partsLoad() *results.Load {
	l := soundLoad()
	l.Machine, l.Health, l.Engine = results.Machine{}, results.Health{}, ""
	for i, name := range []string{"east.json", "west.json", "again.json", "north.json"} {
		part := soundLoad()
		part.Plan.Segment, part.Run = string(rune('1'+i))+"/4", part.Run+"-"+string(rune('1'+i))
		p := results.LoadPart{Name: name}
		switch i {
		case 0:
			part.Validity = invalidLoad().Validity
		case 1:
			p.Problem, p.IsLeftOut = "it has no report: was its run killed?", true
			l.Parts = append(l.Parts, p)
			continue
		case 2:
			part.Plan.Segment = "1/4"
			p.Problem, p.IsLeftOut = "east.json is segment 1/4 already", true
		}
		p.Fill(part)
		l.Parts = append(l.Parts, p)
	}
	for _, segment := range []string{"2/4", "3/4"} {
		l.Parts = append(l.Parts, results.LoadPart{Segment: segment, IsLeftOut: true, Problem: "its report is missing"})
	}
	l.Jobs.UncountedParts = "what segments 2/4, 3/4 did is not known, and the jobs of again.json are not counted"
	l.Jobs.IsDrained = false
	validity.Evaluate(l)
	return l
}

// Each part that is not as planned is a reason, and each other reason of a part is one of the whole, with its name.
// Remarks are those of all.
func TestTheVerdictOfParts(t *testing.T) {
	t.Parallel()
	l := partsLoad()
	reasons := invalidLoad().Validity.Reasons
	require.Len(t, l.Validity.Reasons, 4+len(reasons))
	var texts []string
	for _, r := range l.Validity.Reasons[:5] {
		texts = append(texts, r.ID+": "+r.Description)
	}
	assert.Equal(t, []string{
		"part: part west.json: it has no report: was its run killed?",
		"part: part again.json: east.json is segment 1/4 already",
		"part: segment 2/4: its report is missing", "part: segment 3/4: its report is missing",
		reasons[0].ID + ": part east.json: " + reasons[0].Description,
	}, texts)
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "at least 325,011 jobs pushed, 325,011 delivered and 325,011 acknowledged: what segments "+
		"2/4, 3/4 did is not known, and the jobs of again.json are not counted")
	l.Parts = l.Parts[3:4]
	l.Parts[0].Validity.Remarks = []string{"Slow."}
	validity.Evaluate(l)
	assert.True(t, l.Validity.IsValid)
	assert.Equal(t, []string{"Part north.json: Slow."}, l.Validity.Remarks)
	alone := soundLoad()
	alone.StartFailure = "too late"
	validity.Evaluate(alone)
	assert.Equal(t, "start", alone.Validity.Reasons[0].ID)
}

func TestAddingAccounts(t *testing.T) {
	t.Parallel()
	counts := func(n int64) results.ClientCounts { return results.ClientCounts{TakenAtEnd: n} }
	part := results.LoadJobs{Pushed: 1, LostJobs: 2, ClientCounts: counts(3), IsDrained: true}
	sum := part
	results.Join(&sum, &part)
	assert.Equal(t, results.LoadJobs{Pushed: 2, LostJobs: 4, ClientCounts: counts(6), IsDrained: true}, sum)
}

func TestVerbosePagesTellMachines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := partsLoad()
	out.Write(page.Text(l.Page(reports.PageOptions{Verbose: true}), page.TextOptions{}))
	assert.Contains(t, out.String(), "run k3v9q2-4, linux 6.18.5 amd64, AMD EPYC 7B13")
}

// The parts of reports are joined as their tags say, and what has no tag stays.
func TestJoin(t *testing.T) {
	t.Parallel()
	l := results.Load{Run: "a", Head: reports.Head{Took: 3 * time.Second}, Measured: time.Second}
	interrupted := reports.Trouble{Interrupted: true}
	results.Join(&l, &results.Load{Run: "b",
		Head:     reports.Head{Took: time.Second, Trouble: interrupted},
		Measured: 2 * time.Second})
	results.Join(&l, &results.Load{Run: "c"})
	assert.Equal(t, results.Load{Run: "a",
		Head:     reports.Head{Took: 3 * time.Second, Trouble: interrupted},
		Measured: 2 * time.Second}, l,
		"the longest, and interrupted if one was")

	c := results.Connections{Planned: 3, Opened: 3}
	results.Join(&c, &results.Connections{Planned: 4, Opened: 2, Refusal: "full", Losses: 1, FirstLoss: "EOF"})
	results.Join(&c, &results.Connections{Refusal: "later", Losses: 2, FirstLoss: "reset", Disconnects: 5})
	assert.Equal(t, results.Connections{
		Planned: 7, Opened: 5, Refusal: "full", Losses: 3, FirstLoss: "EOF", Disconnects: 5,
	}, c, "why is that of the first")

	h := results.Health{CPUShare: 0.5, NoFiles: 1}
	results.Join(&h, &results.Health{CPUShare: 0.7, NoFiles: 2, NoPorts: 3, NoMemory: 4})
	assert.Equal(t, results.Health{CPUShare: 0.5, NoFiles: 3, NoPorts: 3, NoMemory: 4}, h,
		"how busy machines were does not add up")

	s := results.Second{At: time.Second, Achieved: 5, CPU: 0.5, Connections: 1, MemoryBytes: 10}
	results.Join(&s, &results.Second{At: 2 * time.Second, Achieved: 7, CPU: 1.25, Connections: 2, InFlight: 3, Backlog: 4,
		Dropped: 5, Unserved: 6, MemoryBytes: 20})
	assert.Equal(t, results.Second{At: time.Second, Achieved: 5, CPU: 1.75, Connections: 3, InFlight: 3, Backlog: 4,
		Dropped: 5, Unserved: 6, MemoryBytes: 30}, s, "rates are added up by who knows whose they are")

	p := results.LoadPlan{Words: "a", Producers: 1, Consumers: 2}
	results.Join(&p, &results.LoadPlan{Words: "b", Producers: 10, Idle: 3})
	assert.Equal(t, results.LoadPlan{Words: "a", Producers: 11, Consumers: 2, Idle: 3}, p)
}
