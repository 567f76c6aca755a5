package formats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
)

// savedReport reads the golden file of a report.
func savedReport(t *testing.T, name string) *reports.Report {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + name + ".json.golden")
	require.NoError(t, err)
	r, err := reports.ReadJSON(data)
	require.NoError(t, err)
	return r
}

// writers are the formats that are written from cases, by the end of their golden files.
var writers = map[string]func(*reports.Suite) ([]byte, error){
	"junit.xml": JUnit, "github": GitHub, "sarif": SARIF,
}

func TestFormatsGolden(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]reports.Result{
		"rich": savedReport(t, "rich"), "expected": savedReport(t, "expected"),
		"explored": golden.ReadGolden[reports.Exploration](t, "../testdata/exploration.json.golden"), "compared": golden.ReadGolden[reports.Comparison](t, "../testdata/comparison.json.golden"),
		"unreachable": &reports.Report{
			Target: reports.Target{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Head:   reports.Head{Trouble: reports.Trouble{Unreachable: "dial tcp 127.0.0.1:1: connection refused"}},
		},
	} {
		suite := r.Suite(reports.ExitOptions{Require: []string{"FWP-FLUSH-02"}})
		suite.Scripts = "report.scripts"
		for format, write := range writers {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				out, err := write(&suite)
				require.NoError(t, err)
				golden.File(t, "testdata/"+name+"."+format+".golden", out)
			})
		}
	}
}

// Each format of the table writes a result, under a name of its own; any other name is an error.
func TestTheTableOfFormats(t *testing.T) {
	t.Parallel()
	r := savedReport(t, "rich")
	o := Output{Result: r}
	names := map[string]bool{}
	for i, f := range All() {
		assert.Equal(t, f.Name, Names()[i])
		assert.False(t, names[f.Name], f.Name)
		assert.True(t, strings.HasPrefix(f.Extension, "."), f.Name)
		names[f.Name] = true
		var out bytes.Buffer
		require.NoError(t, Write(&out, f.Name, o))
		assert.Contains(t, out.String(), "FWP-PUSH-03", f.Name)
	}
	require.ErrorIs(t, Write(io.Discard, "yaml", o), ErrUnknown)
	o.Result = unwritableResult{r}
	for _, name := range []string{"json", "html"} {
		require.ErrorIs(t, Write(io.Discard, name, o), errPipe, name)
	}
	require.ErrorIs(t, Write(brokenPipe{}, "text", o), errPipe)
}

// unwritableResult is a result that cannot be written as JSON.
type unwritableResult struct{ reports.Result }

func (unwritableResult) WriteJSON(io.Writer, reports.ExitOptions) error { return errPipe }

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

var errPipe = errors.New("broken pipe")

// What a case becomes in each format, by its state.
func TestStatesOfCases(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		c                   reports.Case
		junit, github, text string
	}{
		{reports.Case{State: reports.CasePassed, Kind: "pass"}, `time="0.000"></testcase>`, "", ""},
		{reports.Case{State: reports.CasePassed, Kind: "warn", Message: "m"}, "<system-out>warn: m</system-out>",
			"::notice title=warn::a: m\n", `"level": "warning"`},
		{reports.Case{State: reports.CaseFailed, Kind: "fail", Message: "m"}, `<failure message="m" type="fail">m</failure>`,
			"::error title=fail::a: m\n", `"level": "error"`},
		{reports.Case{State: reports.CaseErrored, Kind: "inconclusive"}, `<error message="" type="inconclusive">`,
			"::warning title=inconclusive::a: \n", `"kind": "open"`},
		{reports.Case{State: reports.CaseSkipped, Kind: "skipped", Message: "m"}, `<skipped message="m">m</skipped>`,
			"", ""},
		{reports.Case{State: reports.CaseFailed, Kind: "fail", KnownPlace: "x:7"}, `<skipped message="known, x:7">`,
			"", `"justification": "known, x:7"`},
	} {
		test.c.Name = "a"
		s := reports.Suite{Cases: []reports.Case{test.c}}
		for format, want := range map[string]string{
			"junit.xml": test.junit, "github": test.github, "sarif": test.text,
		} {
			out, err := writers[format](&s)
			require.NoError(t, err)
			switch {
			case format == "github":
				assert.Equal(t, want, string(out), "%+v", test.c)
			case want == "":
				assert.Contains(t, string(out), `"results": []`, "%+v", test.c)
			default:
				assert.Contains(t, string(out), want, "%+v in %s", test.c, format)
			}
		}
	}
}

// What is known fails nothing, in no format.
func TestKnownCases(t *testing.T) {
	t.Parallel()
	s := savedReport(t, "rich").Suite(reports.ExitOptions{})
	for i := range s.Cases {
		s.Cases[i].KnownPlace = "fwpcheck.expect:7"
	}
	assert.Zero(t, s.Count()[reports.CaseFailed])
	text := map[string]string{}
	for format, write := range writers {
		out, err := write(&s)
		require.NoError(t, err)
		text[format] = string(out)
	}
	assert.NotContains(t, text["junit.xml"], "<failure")
	assert.Contains(t, text["junit.xml"], `<skipped message="known, fwpcheck.expect:7: `)
	assert.NotContains(t, text["github"], "::error")
	assert.Equal(t, strings.Count(text["sarif"], `"ruleIndex"`), strings.Count(text["sarif"], `"suppressions"`))
	assert.Contains(t, text["sarif"], `"uri": "fwpcheck.expect"`)
}

// What a server said stays text in every format.
func TestFormatsAreTame(t *testing.T) {
	t.Parallel()
	hostile := "\x1b[2J</failure>]]>\n::error::owned\n![x](http://evil.example/) <script>alert(1)</script> @octocat #12 " +
		"\xff\x00\n```\n# TODO"
	r := savedReport(t, "rich")
	r.Target.HI, r.Checks[1].Findings[0].Actual, r.Checks[1].Findings[0].Expected = hostile, hostile, hostile
	r.Checks[4].Clauses[0].Cause = hostile
	suite := r.Suite(reports.ExitOptions{})
	for format, write := range writers {
		out, err := write(&suite)
		require.NoError(t, err)
		assert.NotContains(t, string(out), "\x1b", format)
		for line := range strings.Lines(string(out)) {
			assert.False(t, strings.HasPrefix(line, "::error::"), format)
		}
		if format == "junit.xml" {
			require.NoError(t, readXML(out))
		}
	}
}

func readXML(text []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// GitHub shows ten annotations of a step; a file of JUnit has no more than GitLab reads.
func TestFormatsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789 ", 1<<11)
	s := reports.Suite{Name: "fwpcheck run"}
	for range 40 {
		s.Add(reports.Case{
			Name: "a", Clause: "C-" + strings.Repeat("1", len(s.Cases)+1), State: reports.CaseFailed, Kind: "fail",
			Message: long, Evidence: []reports.Block{reports.Code{Lines: []string{long}}},
		})
	}
	annotations, err := GitHub(&s)
	require.NoError(t, err)
	assert.Equal(t, 10, strings.Count(string(annotations), "\n"))
	assert.Contains(t, string(annotations), "and 31 more findings; ")
	junit, err := JUnit(&s)
	require.NoError(t, err)
	assert.Less(t, len(junit), 2<<20)
	assert.Contains(t, string(junit), " … (cut)")
}

// A rule of SARIF is a clause, or the kind of a case that has none; each is there once.
func TestRulesOfSARIF(t *testing.T) {
	t.Parallel()
	s := reports.Suite{Version: "fwpcheck 0.1.0", Outcome: reports.Outcome{Code: reports.ExitInternal},
		Cases: []reports.Case{
			{Name: "a", Clause: "A-01", State: reports.CaseFailed, Kind: "fail"},
			{Name: "b", State: reports.CaseErrored, Kind: "internal error"},
			{Name: "c", Clause: "A-01", State: reports.CasePassed, Kind: "warn"},
			{Name: "d", Clause: "B-01", State: reports.CasePassed, Kind: "pass"},
		}}
	out, err := SARIF(&s)
	require.NoError(t, err)
	var log sarifLog
	require.NoError(t, json.Unmarshal(out, &log))
	run := log.Runs[0]
	assert.Equal(t, "0.1.0", run.Tool.Driver.Version)
	assert.False(t, run.Invocations[0].Successful)
	var rules []string
	for _, rule := range run.Tool.Driver.Rules {
		rules = append(rules, rule.ID)
	}
	assert.Equal(t, []string{"A-01", "internal error"}, rules)
	assert.Equal(t, []int{0, 1, 0}, []int{run.Results[0].Index, run.Results[1].Index, run.Results[2].Index})
}

// A result in which nothing was tested, or whose exit code no case explains, is well in no format.
func TestNothingTestedIsNotGreen(t *testing.T) {
	t.Parallel()
	skipped := reports.Check{ID: "flush/ok", Verdict: reports.Skipped, Cause: "needs exclusive use",
		Clauses: []reports.ClauseVerdict{{ID: "FWP-FLUSH-01", Verdict: reports.Skipped}}}
	openReport, well := skipped, skipped
	openReport.Verdict, openReport.Clauses = reports.Inconclusive, nil
	well.Verdict, well.Clauses = reports.Pass, nil
	for name, test := range map[string]struct {
		r      reports.Report
		failed string // the case; empty: none was added
	}{
		"all skipped":      {reports.Report{Checks: []reports.Check{skipped}}, reports.NothingTested},
		"no check":         {reports.Report{}, reports.NothingTested},
		"all inconclusive": {reports.Report{Checks: []reports.Check{openReport}}, reports.NothingTested},
		"unreachable": {reports.Report{Head: reports.Head{Trouble: reports.Trouble{Unreachable: "refused"}}},
			"the target can be reached"},
		"a planted bug that did not show": {reports.Report{Checks: []reports.Check{well}, MissReason: "the planted bug was not found"},
			"the outcome of the run"},
		"one passed": {reports.Report{Checks: []reports.Check{well, skipped}}, ""},
	} {
		o := Output{Result: &test.r}
		suite := o.suite()
		counts := suite.Count()
		assert.Equal(t, test.failed != "", counts[reports.CaseFailed]+counts[reports.CaseErrored] > 0, name)
		for format, mark := range map[string]string{
			"junit": `name="` + test.failed + `"`, "github": "::error ", "sarif": `"level": "error"`,
		} {
			var out bytes.Buffer
			require.NoError(t, Write(&out, format, o))
			assert.Equal(t, test.failed != "", strings.Contains(out.String(), mark), "%s in %s:\n%s", name, format, &out)
		}
		var out bytes.Buffer
		require.NoError(t, Write(&out, "markdown", o))
		assert.Equal(t, test.failed == reports.NothingTested, strings.Contains(out.String(), "NOTHING WAS TESTED"), name)
	}
}
