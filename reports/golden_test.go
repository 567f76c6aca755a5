package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	interrupted := richReport()
	interrupted.Interrupted = true
	cases := []struct {
		name    string
		report  *Report
		options PageOptions
		color   bool
	}{
		{"rich", richReport(), PageOptions{}, false},
		{"rich-verbose", richReport(), PageOptions{Verbose: true, Exit: ExitOptions{Strict: true}}, false},
		{"rich-colour", richReport(), PageOptions{}, true},
		{"interrupted", interrupted, PageOptions{}, false},
		{"well", wellReport(), PageOptions{}, false},
		{"expected", expectedReport(), PageOptions{}, false},
		{"repeated", repeatedReport(), PageOptions{Verbose: true}, false},
		{"empty", &Report{}, PageOptions{}, false},
		{"unreachable", &Report{
			Target: Target{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Head:   Head{Trouble: Trouble{Unreachable: "dial tcp 127.0.0.1:1: connection refused"}},
		}, PageOptions{}, false},
		{"script", &Report{Checks: []Check{{ID: "my-bug", File: "my-bug.fwp", Verdict: Fail, Findings: []Finding{{
			Verdict: Fail, Evidence: Evidence{
				Line: 3, Source: "S: +OK", Expected: "the simple string OK", Actual: "the connection was closed",
			},
		}}}}}, PageOptions{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, c.report.Page(c.options).WriteText(&out, TextOptions{Color: c.color}))
			golden.File(t, "testdata/"+c.name+".txt.golden", out.Bytes())
		})
	}
	for _, c := range []struct {
		name   string
		report *Report
	}{{"rich", richReport()}, {"expected", expectedReport()}, {"repeated", repeatedReport()}, {"empty", &Report{}}} {
		t.Run(c.name+" as JSON", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, c.report.WriteJSON(&out, ExitOptions{}))
			golden.File(t, "testdata/"+c.name+".json.golden", out.Bytes())
		})
	}
}

// The terminal is the reader's: nothing that a server said may move its cursor, and prose keeps to its width.
func TestTextIsTame(t *testing.T) {
	t.Parallel()
	for _, verbose := range []bool{false, true} {
		var out bytes.Buffer
		r := richReport()
		r.Target.HI = "HI \x1b]0;title\a \xff \u202e"
		r.Internal = "boom \x1b[2J\nsecond line"
		require.NoError(t, r.Page(PageOptions{Verbose: verbose}).WriteText(&out, TextOptions{}))
		assert.NotContains(t, out.String(), "\x1b")
		assert.Contains(t, out.String(), `HI \x1b]0;title\x07 \xff \u202e`)
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, len([]rune(line)), 121, line)
			assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line)
		}
	}
}

func TestColourPaintsTheSameText(t *testing.T) {
	t.Parallel()
	var page, coloured bytes.Buffer
	require.NoError(t, richReport().Page(PageOptions{Verbose: true}).WriteText(&page, TextOptions{}))
	require.NoError(t, richReport().Page(PageOptions{Verbose: true}).WriteText(&coloured, TextOptions{Color: true}))
	stripped := withoutColours(coloured.String())
	require.Equal(t, page.String(), stripped)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

var errPipe = errors.New("broken pipe")

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, wellReport().Page(PageOptions{}).WriteText(brokenPipe{}, TextOptions{}), errPipe)
	require.ErrorIs(t, wellReport().WriteJSON(brokenPipe{}, ExitOptions{}), errPipe)
	require.ErrorContains(t, (&Report{Checks: []Check{{Verdict: 99}}}).WriteJSON(&bytes.Buffer{}, ExitOptions{}),
		"verdict 99 is unknown")
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	report := &Report{}
	golden.Fill(reflect.ValueOf(report).Elem())
	report.Schema, report.Scripts = Schema, map[string]string{"a": "b\n"}
	for name, r := range map[string]*Report{"rich": richReport(), "expected": expectedReport(), "every field": report} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, r.WriteJSON(&out, ExitOptions{}))
			back, want := new(Report), r.jsonReport(ExitOptions{})
			for i := range want.Checks {
				want.Checks[i].Findings = nil // in JSON they are symptoms
			}
			require.NoError(t, json.Unmarshal(out.Bytes(), back))
			assert.Equal(t, want, back)
		})
	}
}

func TestJSONFormat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, richReport().WriteJSON(&out, ExitOptions{}))
	text := out.String()
	assert.True(t, strings.HasPrefix(text, "{\n  \"schema\": \"fwpcheck/3\",\n  \"version\": \"fwpcheck 0.1.0\",\n"),
		text[:80])
	assert.True(t, strings.HasSuffix(text, "\n}\n"))
	assert.Contains(t, text, `\"jobtype\":\"<b>&'\\u001b\"`, "no escapes for HTML")
	assert.Contains(t, text, `"seed": "18446744073709551557"`)
	assert.Contains(t, text, `"took_ns": 12345678901,`)
	assert.Contains(t, text, `"at_ns": 312000`)
	assert.NotContains(t, text, "_ms")
	local := richReport()
	local.StartTime = local.StartTime.In(time.FixedZone("east", 7200))
	out.Reset()
	require.NoError(t, local.WriteJSON(&out, ExitOptions{}))
	assert.Equal(t, text, out.String(), "times are in UTC")
	out.Reset()
	require.NoError(t, (&Report{}).WriteJSON(&out, ExitOptions{}))
	assert.Contains(t, out.String(), `"checks": []`)
	assert.Contains(t, out.String(), `"clauses": []`)
	assert.NotContains(t, out.String(), "started")
}

func TestAVerdictThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, json.Unmarshal([]byte(`{"checks":[{"verdict":"green"}]}`), new(Report)),
		`verdict "green" is unknown`)
}

// Whoever puts a part of a report into a JSON of their own gets the same keys.
func TestPartsMarshalAlike(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(map[string]any{"line": Line{At: 1500 * time.Microsecond, From: FromClient, Text: "INFO"}})
	require.NoError(t, err)
	assert.Equal(t, `{"line":{"at_ns":1500000,"from":"client","text":"INFO"}}`, string(text))
}

// What is read back is the report that was written: the same page, the same JSON, the same outcome.
func TestReadJSON(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Report{
		"rich": richReport(), "well": wellReport(), "repeated": repeatedReport(), "expected": expectedReport(), "empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first, second, page, secondPage bytes.Buffer
			o := ExitOptions{Strict: true, Require: []string{"FWP-FLUSH-02"}}
			require.NoError(t, r.WriteJSON(&first, o))
			back, err := ReadJSON(first.Bytes())
			require.NoError(t, err)
			require.NoError(t, back.WriteJSON(&second, o))
			assert.Equal(t, first.String(), second.String())
			require.NoError(t, r.Page(PageOptions{Verbose: true, Exit: o}).WriteText(&page, TextOptions{}))
			require.NoError(t, back.Page(PageOptions{Verbose: true, Exit: o}).WriteText(&secondPage, TextOptions{}))
			assert.Equal(t, page.String(), secondPage.String())
		})
	}
}

func TestWhatIsNoReport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "not a report in JSON",
		"[1]":                                "not a report in JSON",
		"{}":                                 `its schema is ""; this version reads "fwpcheck/3"`,
		`{"schema":"fwpbench/2"}`:            `its schema is "fwpbench/2"`,
		`{"schema":"fwpcheck/3","checks":7}`: "read the report: ",
	} {
		_, err := ReadJSON([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// FuzzReadJSON: whatever is read can be shown.
func FuzzReadJSON(f *testing.F) {
	var text bytes.Buffer
	require.NoError(f, expectedReport().WriteJSON(&text, ExitOptions{}))
	f.Add(text.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadJSON(data)
		if err != nil {
			return
		}
		var out bytes.Buffer
		require.NoError(t, r.Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
		_, _ = r.Outcome(ExitOptions{}).Values()
	})
}

// RenderText writes a page as text. Its room is above this one, so an internal test cannot import it: example_test.go
// sets it.
var RenderText func(p Page, o TextOptions) []byte

const textWidth = 100

// TextOptions is how tests have a page written as text.
type TextOptions struct {
	Color bool
	Width int
	Fit   bool
}

// WriteText writes a page as text.
func (p Page) WriteText(w io.Writer, o TextOptions) error {
	_, err := w.Write(RenderText(p, o))
	return err
}

func TextOf(blocks ...Block) string { return string(RenderText(Page{Blocks: blocks}, TextOptions{})) }

func joined(t Text) string { return t.String() }

// withoutColours returns text without the attributes of a terminal.
func withoutColours(s string) string {
	for _, attribute := range []string{"1", "2", "32", "1;31", "33", "35", "36", "0"} {
		s = strings.ReplaceAll(s, "\x1b["+attribute+"m", "")
	}
	return s
}
