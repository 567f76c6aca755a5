package html_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// render returns what is written of some blocks, between the header and the script.
func render(t *testing.T, blocks ...reports.Block) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, html.Write(&out, html.Document{Title: "x", Page: reports.Page{Blocks: blocks}}))
	_, body, _ := strings.Cut(out.String(), "<main>\n")
	body, _, _ = strings.Cut(body, "</main>")
	return body
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("w", 49)
	for name, c := range map[string]struct {
		block reports.Block
		want  string
	}{
		"prose": {reports.Prose{Lines: []reports.Text{reports.PlainText("a\nb"), reports.StyledText(reports.Bad, "c")}},
			"<p>a\n<br>b\n<br><span class=bad>c</span></p>"},
		"nothing can be markup": {reports.Prose{Lines: []reports.Text{reports.PlainText(`<b> & "\x1b"`)}},
			`<p>&lt;b&gt; &amp; &#34;\x1b&#34;</p>`},
		"fields": {reports.Fields{Fields: []reports.Field{reports.NewField("why", "so"), {Label: "none"},
			{Label: "rerun", Lines: reports.LinesOf("a\nb")}}},
			"<div><dt>why</dt><dd>so</dd></div>\n<div><dt>rerun</dt><dd><code>a<br>b</code></dd></div>\n</dl>"},
		"a short row": {reports.Table{Columns: []reports.Column{{}, {AlignRight: true}}, Rows: []reports.Row{
			reports.Cells("a"), reports.Cells("", "1"), reports.Cells("  in", "2")}},
			`<tr><td class=short>a</td><td></td></tr>` + "\n" + `<tr><td></td><td class=right>1</td></tr>` + "\n" +
				`<tr><td class=short>&nbsp;&nbsp;in</td><td class=right>2</td></tr>`},
		"words":      {reports.Table{Rows: []reports.Row{reports.Cells(wide)}}, "<td class=words>" + wide + "</td>"},
		"some words": {reports.Table{Rows: []reports.Row{reports.Cells(wide[:30])}}, "<td>" + wide[:30] + "</td>"},
		"a head": {reports.Table{Columns: []reports.Column{{}, {Title: "n", AlignRight: true}}},
			"<td></td><th scope=col class=right>n</th>"},
		"a note": {reports.Table{Note: reports.PlainText("and 3 more")}, "<p class=note>and 3 more</p>"},
		"more of one": {reports.Table{Rows: []reports.Row{
			{Cells: reports.Cells("a", "b", "c").Cells, Detail: reports.LinesOf("d")}}},
			"<tr class=detail><td></td><td colspan=2>d</td></tr>"},
		"what can be linked to": {reports.Table{Rows: []reports.Row{{Anchor: "A<1", Cells: []reports.Text{
			reports.PlainText("A<1"), {{Text: "x"}, {Text: "\n"}, {Text: "y", Style: reports.Faint}},
		}}}}, `<tr id="A&lt;1"><th scope=row>A&lt;1</th><td>x<br><span class=faint>y</span></td></tr>`},
		"a line of a conversation": {reports.Transcript{Entries: []reports.Entry{{
			Line: reports.Line{From: reports.FromServer, Conn: "a", Text: "+OK"}, Mark: "expected $-1",
		}, {Repeats: 2}, {Omitted: 1}}},
			`<tr class="server marked"><td class=right>0.000 s</td><td>a</td><td>S:</td><td><code>&#43;OK</code></td></tr>` +
				"\n<tr class=marked><td></td><td></td><td>^^</td><td><code>expected $-1</code></td></tr>\n" +
				"<tr><td colspan=4 class=faint>… 2 more lines like this</td></tr>\n" +
				"<tr><td colspan=4 class=faint>1 line left out</td></tr>"},
	} {
		assert.Contains(t, render(t, c.block), strings.ReplaceAll(c.want, "&#43;", "+"), name)
	}
}

// What is long is cut, and says how much is missing.
func TestLongBlocks(t *testing.T) {
	t.Parallel()
	lines := make([]string, 403)
	conversation := reports.Transcript{Entries: make([]reports.Entry, 403)}
	for i := range conversation.Entries {
		conversation.Entries[i].Line.Text = fmt.Sprint("line ", i)
	}
	for name, block := range map[string]reports.Block{"code": reports.Code{Lines: lines}, "conversation": conversation} {
		assert.Equal(t, 1, strings.Count(render(t, block), "3 lines left out"), name)
	}
	assert.NotContains(t, render(t, conversation), "line 400")
	text := render(t, reports.Prose{Lines: []reports.Text{reports.PlainText(strings.Repeat("ä", 2500))}})
	assert.Contains(t, text, "ä … (cut)</p>", "not within a character")
	assert.Less(t, len(text), 4100)
}

// A section lasts until the next one; smaller headings open none.
func TestSections(t *testing.T) {
	t.Parallel()
	heading := func(level int) reports.Block { return reports.Heading{Level: level, Text: reports.PlainText("h")} }
	body := render(t, heading(1), heading(2), heading(3), heading(1))
	assert.Equal(t, "<section>\n<h2>h</h2>\n<h3 class=level2>h</h3>\n<h3 class=level3>h</h3>\n</section>\n"+
		"<section>\n<h2>h</h2>\n</section>\n", body)
}

// The outcome is in the header, with the facts, and not a second time where the page begins with it.
func TestOutcomeIsInTheHeader(t *testing.T) {
	t.Parallel()
	well := reports.StyledText(reports.Good, "all well")
	var out bytes.Buffer
	require.NoError(t, html.Write(&out, html.Document{Title: "x", Page: reports.Page{Blocks: []reports.Block{
		reports.Prose{Lines: []reports.Text{well}}, reports.Conclusion{Facts: "exit code 0", Words: well},
	}}}))
	assert.Equal(t, 1, strings.Count(out.String(), "all well"))
	assert.Contains(t, out.String(), "<span class=good>all well</span></p>\n<p class=facts>exit code 0</p>\n</header>")
}

// A file that was made to fill the memory of its reader is refused.
func TestDataIsBounded(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	zeros := make([]byte, 1<<20)
	for range 65 {
		_, err := z.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	data, err := json.Marshal(map[string]any{"encoding": "gzip+base64", "data": zipped.Bytes()})
	require.NoError(t, err)
	in := func(data []byte) []byte {
		return fmt.Appendf(nil, `<script type="application/json" id="fwp">%s</script>`, data)
	}
	_, err = html.Data(in(data))
	require.ErrorContains(t, err, "has more than 67108864 bytes")
	cut, err := json.Marshal(map[string]any{"encoding": "gzip+base64", "data": zipped.Bytes()[:100]})
	require.NoError(t, err)
	for _, damaged := range [][]byte{cut, []byte("{"), []byte(`[1]`)} {
		_, err = html.Data(in(damaged))
		require.ErrorContains(t, err, "is damaged")
	}
	require.Error(t, html.Write(&bytes.Buffer{}, html.Document{Data: []byte("{")}), "what is no JSON is not written")
}
