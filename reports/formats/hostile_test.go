package formats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// hostileTexts are what a peer can have in its texts. The last word of each is one that no report has of its own.
var hostileTexts = map[string]string{
	"line ends":       "a\nstranger\r\nstranger\rstranger\u2028stranger\u0085stranger",
	"a command":       "\n::error::stranger",
	"stop-commands":   strings.Repeat("word ::stop-commands::stranger ", 40),
	"a command of v1": "word ##[error]stranger ##vso[task.complete]stranger",
	"escapes":         "\x1b]0;title\a\x1b[2J\x9b2J\b\x7fstranger",
	"not UTF-8":       "\xff\xfe\xc3(stranger",
	"bidi controls":   "\u202e\u2066\u200b\u2069stranger",
	"NUL":             "\x00stranger",
	"HTML":            `</script></pre><script>stranger()</script><!-- --><img src=x onerror=stranger>`,
	"XML":             `]]>stranger<a b="&c;">`,
	"Markdown":        "```\n# stranger\n[a](b) ![a](b) @stranger #1 <details> | a |\n~~~\n- stranger",
	"a long text":     strings.Repeat("stranger ", 2_000),
}

// quoting are the keys of a report below which a peer is quoted.
var quoting = regexp.MustCompile(`^(actual|expected|differences|detail|close|text|why|hi|source|unreachable|message)$`)

// poison returns JSON with a text in the place of all that quotes a peer.
func poison(v any, key, hostile string) any {
	switch v := v.(type) {
	case string:
		if quoting.MatchString(key) {
			return hostile
		}
	case []any:
		for i := range v {
			v[i] = poison(v[i], key, hostile)
		}
	case map[string]any:
		for k := range v {
			v[k] = poison(v[k], k, hostile)
		}
	}
	return v
}

// poisonedReport returns the report of the golden file, in which each text of the server is the hostile one.
func poisonedReport(t *testing.T, hostile string) *reports.Report {
	t.Helper()
	r := savedReport(t, "rich")
	data, err := json.Marshal(r)
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(data, &v))
	const mark = "(hostile)" // JSON has no bytes that are not UTF-8
	data, err = json.Marshal(poison(v, "", mark))
	require.NoError(t, err)
	poisoned := new(reports.Report)
	require.NoError(t, json.Unmarshal(data, poisoned))
	for i := range poisoned.Checks {
		c := &poisoned.Checks[i]
		for k := range c.Clauses {
			c.Clauses[k].Cause = strings.ReplaceAll(c.Clauses[k].Cause, mark, hostile)
		}
		for k := range c.Conversation {
			c.Conversation[k].Text = strings.ReplaceAll(c.Conversation[k].Text, mark, hostile)
		}
		for k := range c.Findings {
			f := &c.Findings[k]
			for _, s := range []*string{&f.Actual, &f.Expected, &f.Source, &f.ConnectionEnd, &f.Frequency} {
				*s = strings.ReplaceAll(*s, mark, hostile)
			}
			for n := range f.Differences {
				f.Differences[n] = strings.ReplaceAll(f.Differences[n], mark, hostile)
			}
		}
	}
	poisoned.Target.HI = hostile
	return poisoned
}

// inertLines fails if a runner of GitHub Actions or Azure Pipelines takes a line for a command. They look for ::NAME
// behind blanks, and for ##[NAME] and ##vso[NAME] anywhere.
func inertLines(t *testing.T, out string) {
	t.Helper()
	for line := range strings.SplitSeq(out, "\n") {
		trimmed := strings.TrimLeftFunc(line, unicode.IsSpace)
		assert.False(t, strings.HasPrefix(trimmed, "::"), "%q", line)
		assert.NotRegexp(t, `##\w*\[`, line)
		assert.NotRegexp(t, `^\s*Bail\s+out!`, line)
	}
}

// All formats with all hostile texts: nothing of them is a command, markup or the end of what they stand in.
func TestTextsOfAPeerAreDataInEachFormat(t *testing.T) {
	t.Parallel()
	for name, hostile := range hostileTexts {
		r := poisonedReport(t, hostile)
		o := Output{Result: r, Verbose: true}
		for _, f := range All() {
			for _, width := range []int{0, 20, 47, 120} {
				o.Text = page.TextOptions{Width: width, Fit: width > 0}
				if width > 0 && f.Name != "text" {
					continue
				}
				t.Run(name+" in "+f.Name, func(t *testing.T) {
					t.Parallel()
					var out bytes.Buffer
					require.NoError(t, Write(&out, f.Name, o))
					assert.Contains(t, strings.ReplaceAll(out.String(), "\n", ""), "stra", "the text is there")
					isData(t, f.Name, out.String())
				})
			}
		}
	}
}

// isData fails if a reader of the format would do anything else with a text of the peer than show it.
func isData(t *testing.T, format, out string) {
	t.Helper()
	assert.True(t, utf8.ValidString(out))
	for _, r := range out {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%U", r)
		}
	}
	if format != "github" { // its lines are commands
		inertLines(t, out)
	}
	switch format {
	case "github":
		for line := range strings.Lines(out) {
			assert.Regexp(t, `^::(error|warning|notice) [^:]*title=[^:]*::`, line)
		}
	case "json", "sarif":
		assert.True(t, json.Valid([]byte(out)))
	case "junit":
		d := xml.NewDecoder(strings.NewReader(out))
		var err error
		for err == nil {
			_, err = d.Token()
		}
		require.ErrorIs(t, err, io.EOF)
	case "html":
		assert.NotContains(t, out, "<script>stranger")
		assert.NotContains(t, out, "<img")
	case "markdown":
		assert.NotContains(t, unfenced(t, out), "<details>")
		assert.NotRegexp(t, `(?m)^# stranger|[^\\]\]\(b\)|[ \n]@stranger`, unfenced(t, out))
	case "text":
	default:
		t.Errorf("say here what a reader of %s must not take from a text of the peer", format)
	}
}

// unfenced returns Markdown without its blocks of code, each of which has to end.
func unfenced(t *testing.T, out string) string {
	t.Helper()
	var rest []string
	fence := ""
	for line := range strings.SplitSeq(out, "\n") {
		switch fenceLine := strings.TrimSuffix(line, "text"); {
		case fence != "":
			if line == fence {
				fence = ""
			}
		case strings.HasPrefix(line, "```") && strings.Trim(fenceLine, "`") == "":
			fence = fenceLine
		default:
			rest = append(rest, line)
		}
	}
	assert.Empty(t, fence, "a block of code has no end")
	return strings.Join(rest, "\n")
}
