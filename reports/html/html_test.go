package html_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// sampleReport returns a run with clauses of several families, a finding and its conversation.
func sampleReport(families, checks int) *reports.Report {
	r := &reports.Report{
		Head: reports.Head{
			Version: "fwpcheck 0.1.0", Seed: 7, Took: 12 * time.Second, StartTime: time.Date(2026, 3, 9, 14, 5, 6, 0, time.UTC),
		},

		Target: reports.Target{URL: "tcp://127.0.0.1:7419", Chosen: "from --url", HI: `HI {"v":2}`},
	}
	verdicts := []reports.Verdict{
		reports.Pass, reports.Pass, reports.Observed, reports.Skipped, reports.Inconclusive, reports.NotApplicable,
		reports.NotSelected, reports.Warn, reports.Pass,
	}
	for f := range families {
		for i := range 9 {
			r.Clauses = append(r.Clauses, reports.Clause{
				ID:    fmt.Sprintf("FWP-%s-%02d", []string{"HELLO", "PUSH", "FETCH"}[f%3]+strings.Repeat("X", f/3), i+1),
				Level: reports.LevelMust, Section: "HELLO Command", Verdict: verdicts[(i+f)%len(verdicts)],
				Statement: "A command with a syntax error is refused, whatever was wrong with it & whatever came before it.",
				Checks:    []string{fmt.Sprintf("check/%d", i)}, Cause: "the server asks for no password",
			})
		}
	}
	for i := range checks {
		id := fmt.Sprintf("check/%d", i)
		c := reports.Check{ID: id, Title: "a check of something", File: id + ".fwp", Verdict: reports.Pass, Took: time.Second}
		for line := range 8 {
			c.Conversation = append(c.Conversation, reports.Line{
				At: time.Duration(line) * time.Millisecond, Conn: "producer", From: reports.FromServer,
				Text: fmt.Sprintf(`PUSH {"jid":"0123456789abcdef%d","jobtype":"<b>&'"}`, line),
			})
		}
		if i < 12 {
			c.Verdict = reports.Fail
			c.Findings = []reports.Finding{{
				Clause: r.Clauses[i%len(r.Clauses)].ID, Verdict: reports.Fail, Evidence: reports.Evidence{
					Line: 14, Col: 4, Width: 3, Source: "S: $-1", Expected: "a null bulk string", MarkedLine: 5,
					Actual: "</script><script>alert(1)</script>\x1b[2J", Reproduce: "fwpcheck run --check " + id,
				},
			}}
			c.Clauses = []reports.ClauseVerdict{{ID: c.Findings[0].Clause, Verdict: reports.Fail}}
		}
		r.Checks = append(r.Checks, c)
	}
	return r
}

// sampleLoad returns a run of so many seconds.
func sampleLoad(seconds int) *results.Load {
	const count = 299_904
	spread := func(p50 time.Duration) results.Latency {
		l := results.Latency{
			Count: count, Min: p50 / 2, Mean: p50, P50: p50, P90: p50 * 2, P99: p50 * 5, P999: p50 * 21, P9999: p50 * 43,
			Max: p50 * 87,
		}
		for i := range 30 {
			q := 1 - math.Pow(10, -float64(i)/6)
			l.Curve = append(l.Curve, results.Quantile{Q: q, Time: time.Duration(float64(p50) * (0.5 + float64(i*i)/12))})
		}
		return l
	}
	l := &results.Load{
		Head: reports.Head{
			Version: "fwpbench 0.1.0", Seed: 7, StartTime: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
			Took: time.Duration(seconds+3) * time.Second,
		},
		Run: "k3v9q2", Measured: time.Duration(seconds) * time.Second,

		Target:  results.LoadTarget{URL: "tcp://localhost:7419", Chosen: "from --url"},
		Machine: results.Machine{OS: "linux", Arch: "amd64", Cores: 2, GOMAXPROCS: 1, Go: "go1.26.8"},
		Plan:    results.LoadPlan{Words: "100 producers push 5,000 jobs/s", IsOpenLoop: true, Producers: 100, Consumers: 100},
		Phases: []results.Phase{
			{Name: "connect", Took: time.Second}, {Name: "measure", From: time.Second,
				Took: time.Duration(seconds) * time.Second},
			{Name: "drain", From: time.Duration(seconds+1) * time.Second, Took: 2 * time.Second},
		},
		Connections: results.Connections{Planned: 200, Opened: 200},
		Rate:        results.LoadRate{Op: "push", Target: 5000, Achieved: 4998, Planned: 300_000, Done: 299_904},
		Flows:       []results.LoadFlow{{Flow: "job.fetched", Time: spread(180 * time.Microsecond)}},
		Jobs: results.LoadJobs{Pushed: 325_011, Delivered: 325_008, Acked: 325_000, LostJobs: 3, Missing: 3,
			IsDrained: true},
		Health: results.Health{Length: time.Minute, CPUShare: .4, CPUPeak: .5,
			Files: results.Files{Peak: 214, Soft: 1024}},
	}
	ops := []string{"push", "fetch.found", "fetch.waited", "ack", "beat", "fail"}
	for _, op := range ops {
		l.Ops = append(l.Ops, results.LoadOp{
			Op: op, Count: 299_904, Rate: 4998, Lateness: spread(11 * time.Microsecond),
			Service: spread(104 * time.Microsecond), Response: spread(120 * time.Microsecond),
		})
	}
	l.Heat.Op = "push"
	for i := range 64 {
		l.Heat.Edges = append(l.Heat.Edges, time.Duration(1000*math.Pow(10, float64(i+1)/8)))
	}
	for i := range seconds {
		wave := time.Duration(1_000_000*(1.5+math.Sin(float64(i)/40)) + float64(i*7919%1000))
		s := results.Second{
			At: time.Duration(i+1) * time.Second, Length: time.Second, Phase: "measure", Target: 5000,
			Achieved: 5000 + float64(i*31%97), Connections: 200, InFlight: int64(i % 7), CPU: .4 + float64(i%10)/50,
		}
		for k, op := range ops {
			d := wave / time.Duration(k+1)
			s.Ops = append(s.Ops, results.SecondOp{
				Op: op, Count: int64(4990 + i%20), LatenessP99: d / 20, ServiceP50: d / 4, ServiceP99: d / 2, ResponseP50: d / 3,
				ResponseP99: d, ResponseMax: 3 * d,
			})
		}
		l.Series = append(l.Series, s)
		column := results.HeatSecond{At: s.At, Counts: make([]int64, 40)}
		for row := 14; row < 40; row++ {
			column.Counts[row] = max(0, int64(1000*math.Exp(-math.Abs(float64(row-20)-3*math.Sin(float64(i)/40)))))
		}
		l.Heat.Columns = append(l.Heat.Columns, column)
	}
	l.Findings = []results.LoadFinding{results.NewLoadFinding(results.FindingLost, 3, []string{"a", "b", "c"})}
	validity.Evaluate(l)
	return l
}

func documentOf(t *testing.T, title string, r reports.Result) []byte {
	t.Helper()
	var data, out bytes.Buffer
	require.NoError(t, r.WriteJSON(&data, reports.ExitOptions{}))
	require.NoError(t, html.Write(&out, html.Document{Title: title, Subject: "tcp://127.0.0.1:7419",
		Page: r.Page(reports.PageOptions{Figures: true}), Data: data.Bytes()}))
	return out.Bytes()
}

func checkPage(t *testing.T, r *reports.Report) []byte {
	t.Helper()
	return documentOf(t, "fwpcheck run", r)
}

func loadPage(t *testing.T, l *results.Load) []byte {
	t.Helper()
	return documentOf(t, "fwpbench run", l)
}

// pageResult is a result with another page.
type pageResult struct {
	reports.Result
	page reports.Page
}

func (d pageResult) Page(reports.PageOptions) reports.Page { return d.page }

func TestGolden(t *testing.T) {
	t.Parallel()
	golden.File(t, "testdata/check.html.golden", checkPage(t, sampleReport(3, 3)))
	golden.File(t, "testdata/load.html.golden", loadPage(t, sampleLoad(5)))
	report := sampleReport(3, 3)
	report.Expectations = &reports.Expectations{File: "fwpcheck.expect"}
	report.Checks[0].Findings[0].KnownLine = 7
	three := reports.Page{Blocks: []reports.Block{
		reports.MatrixOf([]string{"faktory 1.8.0", "faktory 1.9.4", "my-server"}, report, sampleReport(3, 1), sampleReport(2, 0)),
	}}
	golden.File(t, "testdata/compare.html.golden", documentOf(t, "fwpcheck compare", pageResult{sampleReport(1, 1), three}))
	e := &reports.Exploration{
		Target: reports.Target{Chosen: "the embedded server"}, Commands: 870, Head: reports.Head{Seed: 7},
		States:      map[string]int{"identified": 269, "identified worker": 482, "not identified": 119},
		Transitions: map[string]int{"identified > ended": 6, "not identified > identified": 50},
		Outcomes:    map[string]int{"PUSH identified: OK": 12},
	}
	golden.File(t, "testdata/explore.html.golden", documentOf(t, "fwpcheck explore", e))
}

// Disruptions are drawn over the time in which they took place, with their names.
func TestMarks(t *testing.T) {
	t.Parallel()
	l := sampleLoad(20)
	assert.NotContains(t, string(loadPage(t, l)), `class="mark"`)
	l.Disruptions = &results.LoadDisruptions{List: []results.LoadDisruption{
		{Action: "kill", Words: "kill <for 2s>", At: 5 * time.Second, Took: 2 * time.Second},
		{Action: "fill", Words: "fill for 2s", At: 9 * time.Second, Failure: "skipped"},
	}}
	file := string(loadPage(t, l))
	assert.Equal(t, 3, strings.Count(file, `class="mark"`), "in each picture over time: one was done")
	assert.Equal(t, 3, strings.Count(file, "<title>kill &lt;for 2s&gt;</title>"))
	assert.Contains(t, file, "The coloured bars are disruptions.")
}

// The sizes that a report may have: what CI systems keep, and mail carries.
func TestBudgets(t *testing.T) {
	t.Parallel()
	var runs []*reports.Report
	var names []string
	var data []json.RawMessage
	r := sampleReport(20, 200)
	var buf bytes.Buffer
	require.NoError(t, r.WriteJSON(&buf, reports.ExitOptions{}))
	for i := range 5 {
		runs, names, data = append(runs, r), append(names, fmt.Sprintf("faktory 1.%d.0", i+5)), append(data, buf.Bytes())
	}
	all, err := json.Marshal(data)
	require.NoError(t, err)
	page := reports.Page{Blocks: []reports.Block{reports.MatrixOf(names, runs...)}}
	var out bytes.Buffer
	require.NoError(t, html.Write(&out, html.Document{Title: "fwpcheck compare", Page: page, Data: all}))
	t.Logf("matrix of five servers: %d bytes", out.Len())
	assert.LessOrEqual(t, out.Len(), 400_000)

	minutes, limit := 10, 600_000
	if golden.IsSlow() {
		minutes, limit = 30, 1_000_000
	}
	load := loadPage(t, sampleLoad(60*minutes))
	t.Logf("load of %d minutes: %d bytes", minutes, len(load))
	assert.LessOrEqual(t, len(load), limit)
}

// What was written is read back, short or long.
func TestData(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*results.Load{"short": sampleLoad(2), "long": sampleLoad(150)} {
		var want bytes.Buffer
		require.NoError(t, l.WriteJSON(&want, reports.ExitOptions{}))
		file := loadPage(t, l)
		assert.Equal(t, name == "long", bytes.Contains(file, []byte(`"gzip+base64"`)))
		got, err := html.Data(file)
		require.NoError(t, err, name)
		assert.JSONEq(t, want.String(), string(got), name)
	}
	_, err := html.Data([]byte("<p>hello</p>"))
	require.ErrorIs(t, err, html.ErrNoData)
	_, err = html.Data([]byte(`<script type="application/json" id="fwp">{"encoding":"gzip+base64","data":"AAAA"}</script>`))
	require.ErrorContains(t, err, "is damaged")
}

// A server writes nothing but text into a report, and not too much of it.
func TestHostile(t *testing.T) {
	t.Parallel()
	evil := "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"alert(1)\x1b[2J\u202e" +
		strings.Repeat("A ", 1<<12)
	r := sampleReport(3, 3)
	r.Target.HI, r.Target.URL, r.Version = evil, evil, evil
	f := &r.Checks[0].Findings[0]
	f.Expected, f.Actual, f.Source, f.ConnectionEnd, f.Reproduce, f.Script = evil, evil, evil, evil, evil,
		strings.Repeat(evil+"\n", 600)
	r.Checks[0].Conversation[4].Text, r.Checks[0].Conversation[4].Conn = evil, evil
	r.Clauses[3].ID, r.Clauses[3].Statement, r.Clauses[3].Cause = evil, evil, evil
	file := string(checkPage(t, r))
	assert.Equal(t, 2, strings.Count(file, "<script"), "the data and the own script")
	assert.Equal(t, 2, strings.Count(file, "</script"))
	for _, pattern := range []string{"<img", "onload=\"", "\x1b", "\u202e"} {
		assert.NotContains(t, file, pattern)
	}
	assert.Less(t, len(file), 4<<20)
}

// The file asks for nothing, says so in its policy, and its own script stays small.
func TestFileIsComplete(t *testing.T) {
	t.Parallel()
	file := string(loadPage(t, sampleLoad(30)))
	for _, pattern := range []string{"http:", "https:", "src=", "@import", "url(", "style=\""} {
		allowed := strings.NewReplacer("http://www.w3.org/2000/svg", "").Replace(file)
		assert.NotContains(t, allowed, pattern)
	}
	assert.Contains(t, file, "default-src 'none'; style-src 'sha256-")
	script, err := os.ReadFile("page.js")
	require.NoError(t, err)
	assert.LessOrEqual(t, bytes.Count(script, []byte("\n")), 150)
	assert.Equal(t, strings.Count(file, "<figure"), strings.Count(file, "</table></div>\n</details>\n</figure>"))
}

// What does not scale is drawn a second time for small screens, hidden until the style shows it, with names of its own.
func TestSmallScreens(t *testing.T) {
	t.Parallel()
	page := string(checkPage(t, sampleReport(3, 3)))
	_, small, _ := strings.Cut(page, `class="small" display="none"`)
	small, _, _ = strings.Cut(small, "</svg>")
	assert.Contains(t, small, `<g id="small-v`)
	assert.NotContains(t, small, `href="#v`)
	assert.Equal(t, 1, strings.Count(page, `viewBox="0 0 340 `))
}
