package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// result is what every result can do.
type result interface {
	Page(o PageOptions) Page
	Suite(o ExitOptions) Suite
}

func resultSamples() map[string]result {
	all := map[string]result{
		"rich": rich(), "well": well(), "empty": &Report{}, "repeated": repeated(), "expected": expected(),
		"unreachable": &Report{
			Target:      Target{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Unreachable: "dial tcp 127.0.0.1:1: connection refused",
		},
		"explored": explored(), "compared": compared(),
	}
	for name, l := range loadSamples() {
		all[name] = l
	}
	return all
}

// writers are the formats that are written from cases, by the end of their golden files.
var writers = map[string]func(*Suite, io.Writer) error{
	"junit.xml": (*Suite).WriteJUnit, "tap": (*Suite).WriteTAP, "github": (*Suite).WriteGitHub,
	"sarif": (*Suite).WriteSARIF,
}

func TestFormatsGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rich", "expected", "unreachable", "explored", "compared", "load-lossy",
		"load-invalid"} {
		r := resultSamples()[name]
		suite := r.Suite(ExitOptions{Require: []string{"FWP-FLUSH-02"}})
		for format, write := range writers {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				require.NoError(t, write(&suite, &out))
				golden(t, name+"."+format+".golden", out.Bytes())
			})
		}
		t.Run(name+" Markdown", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, r.Page(PageOptions{}).WriteMarkdown(&out, MarkdownOptions{Title: suite.Name}))
			golden(t, name+".md.golden", out.Bytes())
		})
	}
}

// A red exit code has a red case, and a green one has none: a CI that reads the cases alone comes to the same result.
func TestCasesAgreeWithTheExitCode(t *testing.T) {
	t.Parallel()
	for name, r := range resultSamples() {
		for _, o := range []ExitOptions{{}, {Strict: true}, {Require: []string{"FWP-FLUSH-02"}}} {
			if _, isReport := r.(*Report); !isReport && o.Require != nil {
				continue
			}
			s := r.Suite(o)
			counts := s.count()
			red := counts[CaseFailed]+counts[CaseErrored] > 0
			assert.Equal(t, s.Code != ExitWell && len(s.Cases) > 0, red, "%s %+v: exit code %d", name, o, s.Code)
			if s.Code == ExitFindings || s.Code == ExitLoss {
				assert.Positive(t, counts[CaseFailed], name)
			}
			names := map[string]bool{}
			for _, c := range s.Cases {
				assert.False(t, names[c.Name], "%s: two cases are %s", name, c.Name)
				names[c.Name] = true
			}
		}
	}
}

// What is known fails nothing, in no format.
func TestKnownCases(t *testing.T) {
	t.Parallel()
	s := rich().Suite(ExitOptions{})
	for i := range s.Cases {
		s.Cases[i].Known = "fwpcheck.expect:7"
	}
	assert.Zero(t, s.count()[CaseFailed])
	var junit, tap, github bytes.Buffer
	require.NoError(t, s.WriteJUnit(&junit))
	require.NoError(t, s.WriteTAP(&tap))
	require.NoError(t, s.WriteGitHub(&github))
	assert.NotContains(t, junit.String(), "<failure")
	assert.Contains(t, junit.String(), `<skipped message="known, fwpcheck.expect:7: `)
	assert.Contains(t, tap.String(), "# TODO known, fwpcheck.expect:7")
	assert.NotContains(t, github.String(), "::error")
	var sarif bytes.Buffer
	require.NoError(t, s.WriteSARIF(&sarif))
	assert.Equal(t, strings.Count(sarif.String(), `"ruleIndex"`), strings.Count(sarif.String(), `"suppressions"`))
	assert.Contains(t, sarif.String(), `"uri": "fwpcheck.expect"`)
}

// A result of SARIF is in the file of the user's that says most about it.
func TestPlacesInSARIF(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		c    Case
		file string
		line int
	}{
		"reproducer":      {Case{Reproducer: "found/a b.fwp", Known: "x.expect:3"}, "found/a b.fwp", 1},
		"known":           {Case{Known: "dir/x.expect:3"}, "dir/x.expect", 3},
		"a user's script": {Case{Check: "bug.fwp", File: "bug.fwp", Line: 7}, "bug.fwp", 7},
		"the suite's":     {Case{Check: "push/accepted", File: "push/accepted", Line: 7}, ".github/workflows/ci.yml", 1},
	} {
		s := Suite{Place: ".github/workflows/ci.yml"}
		file, line := s.placeOf(&test.c)
		assert.Equal(t, test.file, file, name)
		assert.Equal(t, test.line, line, name)
	}
}

// An annotation has a place only if that is a file of the user's: a script of the suite has the name of its check.
func TestPlacesOfAnnotations(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{"push/rejected": false, "my-bug.fwp": true, "": false} {
		s := Suite{Cases: []Case{{Name: "x", Check: file, File: file, Line: 3, State: CaseFailed}}}
		var out bytes.Buffer
		require.NoError(t, s.WriteGitHub(&out))
		assert.Equal(t, want, strings.Contains(out.String(), "file="+file+",line=3,"), file)
	}
}

// What a server said stays text in every format.
func TestFormatsAreTame(t *testing.T) {
	t.Parallel()
	hostile := "\x1b[2J</failure>]]>\n::error::owned\n![x](http://evil.example/) <script>alert(1)</script> @octocat #12 " +
		"\xff\x00\n```\n# TODO"
	r := rich()
	r.Target.HI, r.Checks[1].Findings[0].Actual, r.Checks[1].Findings[0].Expected = hostile, hostile, hostile
	r.Checks[4].Clauses[0].Why = hostile
	suite := r.Suite(ExitOptions{})
	for format, write := range writers {
		var out bytes.Buffer
		require.NoError(t, write(&suite, &out))
		assert.NotContains(t, out.String(), "\x1b", format)
		for line := range strings.Lines(out.String()) {
			assert.False(t, strings.HasPrefix(line, "::error::"), format)
		}
		if format == "junit.xml" {
			require.NoError(t, readXML(out.Bytes()))
		}
	}
	var out bytes.Buffer
	require.NoError(t, r.Page(PageOptions{}).WriteMarkdown(&out, MarkdownOptions{}))
	prose, fenced := unfenced(out.String())
	prose = regexp.MustCompile(`<code>.*?</code>`).ReplaceAllString(prose, "") // in which GitHub makes no links
	for _, active := range []string{"<script", "![x](", "http://", "@octocat", "#12", "\x1b"} {
		assert.NotContains(t, prose, active)
	}
	assert.NotContains(t, fenced, "\x1b")
}

// unfenced returns Markdown without its blocks of code, and those.
func unfenced(markdown string) (prose, code string) {
	fence := ""
	for line := range strings.Lines(markdown) {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(strings.TrimSpace(line), "text")
		case fence != "" && strings.TrimSpace(line) == fence:
			fence = ""
		case fence == "":
			prose += line
		default:
			code += line
		}
	}
	return prose, code
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

// GitHub shows ten annotations of a step, and a summary of a megabyte or none at all.
func TestFormatsAreBounded(t *testing.T) {
	t.Parallel()
	r := rich()
	long := strings.Repeat("0123456789 ", 1<<11)
	for range 40 {
		c := rejected()
		c.Clauses[0].ID = "FWP-PUSH-" + strings.Repeat("1", len(r.Checks))
		c.Findings[0].Clause, c.Findings[0].Actual, c.Findings[0].Expected = c.Clauses[0].ID, long, long
		r.Checks = append(r.Checks, c)
	}
	suite := r.Suite(ExitOptions{})
	var annotations, junit, markdown bytes.Buffer
	require.NoError(t, suite.WriteGitHub(&annotations))
	assert.Equal(t, 10, strings.Count(annotations.String(), "\n"))
	assert.Contains(t, annotations.String(), "and 37 more findings; ")
	require.NoError(t, suite.WriteJUnit(&junit))
	assert.Less(t, junit.Len(), 2<<20)
	require.NoError(t, r.Page(PageOptions{Verbose: true}).WriteMarkdown(&markdown, MarkdownOptions{Most: 20_000}))
	assert.LessOrEqual(t, markdown.Len(), 20_000)
	assert.True(t, strings.HasSuffix(markdown.String(), "too long for this place.\n"))
	assert.True(t, strings.HasPrefix(markdown.String(), "**"))
}
