package load

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// bookJobs books what becomes of some jobs by chance.
func bookJobs(l *ledger.Ledger, random *rand.Rand, jobs int64) {
	for k := range jobs {
		l.BookSent(k, 0)
		switch random.IntN(8) {
		case 0:
			l.BookRefusal(k)
		case 1:
			l.BookDoubt(k)
		default:
			l.BookPush(k)
		}
		if random.IntN(60) == 0 {
			l.BookStop(random.IntN(2) == 0)
			l.BookRestart()
		}
	}
	for k := range jobs {
		if random.IntN(3) == 0 {
			l.BookDelivery(k, 0)
			if random.IntN(3) > 0 {
				l.BookAck(k)
			}
		}
		if random.IntN(20) == 0 {
			l.BookFetchLoss()
		}
	}
}

// randomLoad returns the report of a load with accounts by chance: of one run, or of several segments.
func randomLoad(t *testing.T, random *rand.Rand) *results.Load {
	t.Helper()
	w := plan.Workload{Producers: 1, Consumers: 1}
	drained := random.IntN(3) > 0
	var parts []Part
	for i := range random.IntN(3) + 1 {
		a := account{ledger: ledger.New(), jobs: w.Jobs("x", 1), isDrained: drained}
		bookJobs(a.ledger, random, 100)
		if !drained {
			a.drainFailure = "the time was up"
		}
		l := &results.Load{
			LoadFrom: time.Unix(1, 0), Run: "x", Rate: results.LoadRate{Op: "push", Done: 1},
			Phases: []results.Phase{{Name: "measure"}},
			Ops:    []results.LoadOp{{Op: "push", Count: 1}}, Measured: time.Second, Jobs: a.report(), Findings: a.findings(),
			Head: reports.Head{Trouble: reports.Trouble{Interrupted: random.IntN(4) == 0}},
		}
		validity.Evaluate(l)
		parts = append(parts, Part{Name: strconv.Itoa(i), Report: l})
	}
	if len(parts) == 1 {
		return parts[0].Report
	}
	for i, p := range parts {
		p.Report.Plan.Segment = plan.Segment{Index: i, Count: 3}.String() // the last ones may be missing
	}
	joined, err := Join(parts)
	require.NoError(t, err)
	return joined
}

// numberIn returns the number that a pattern finds in words, and whether it finds one.
func numberIn(pattern, words string) (int64, bool) {
	found := regexp.MustCompile(pattern).FindStringSubmatch(words)
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(found[1], ",", ""), 10, 64)
	return n, err == nil
}

// The first line, the findings, the table and the JSON of a report say the same number of the same thing.
func TestEveryNumberIsOfOneAccount(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	random := rand.New(rand.NewPCG(7, 9))
	for range golden.Sample(150, 3000) {
		l := randomLoad(t, random)
		_, words := l.Outcome(reports.ExitOptions{}).Values()
		text := string(page.Text(l.Page(reports.PageOptions{}), page.TextOptions{}))
		j := l.Jobs
		if n, says := numberIn(`([\d,]+) jobs? lost \(?[^b]`, words+" "); says {
			assert.Equal(t, finding(l, results.FindingLost), n, words)
		}
		if j.IsDrained {
			stopped := l.Jobs.LostJobs - finding(l, results.FindingLost) - finding(l, results.FindingLostByRestart)
			assert.GreaterOrEqual(t, stopped, int64(0), text)
			assert.Equal(t, j.Missing, j.LostJobs+j.InDoubt, text)
		}
		if n, says := numberIn(`all ([\d,]+) jobs? delivered`, words); says {
			assert.LessOrEqual(t, n, j.Delivered, text)
		}
		if n, says := numberIn(`all ([\d,]+) jobs? accounted for`, words); says {
			assert.Equal(t, j.Pushed, n, text)
			assert.Zero(t, j.Missing+j.Doubtful, text)
		}
		if n, says := numberIn(`([\d,]+) of [\d,]+ jobs? unaccounted`, words); says {
			assert.Equal(t, j.Missing, n, text)
		}
		for row, want := range map[string]int64{"lost": j.LostJobs, "missing": j.Missing, "in doubt": j.InDoubt,
			"delivered": j.Delivered} {
			if n, says := numberIn(`(?m)^  `+row+` +([\d,]+)`, text); says {
				assert.Equal(t, want, n, text)
			}
		}
		for _, f := range l.Findings {
			assert.LessOrEqual(t, f.Count, max(j.LostJobs, j.Duplicated, j.Foreign, j.Delivered), text)
		}
	}
}

// finding returns how often a kind of finding is in a report.
func finding(l *results.Load, kind results.FindingKind) (n int64) {
	for _, f := range l.Findings {
		if f.Kind == kind {
			n += f.Count
		}
	}
	return n
}
