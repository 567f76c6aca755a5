package html_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// A row links to its entry, entries of one thing fold together, and each anchor is there once. A link whose entry is
// not on the page is none.
func TestRowsLinkToEntries(t *testing.T) {
	t.Parallel()
	row := reports.Cells("fail", "A")
	row.Link = "finding-A"
	lostRow := reports.Cells("warn", "B")
	lostRow.Link = "finding-B"
	line := func(s string) reports.Entry { return reports.Entry{Line: reports.Line{Text: s}} }
	entry := func(anchor string) reports.Heading {
		return reports.Heading{Level: 2, Text: reports.PlainText(anchor), Anchor: anchor}
	}
	page := reports.Page{Blocks: []reports.Block{
		reports.Tiles{Tiles: []reports.Tile{{Value: "2", Word: "fail", Style: reports.Bad}}},
		reports.Table{Rows: []reports.Row{row, lostRow}},
		entry("finding-A"), reports.Prose{Lines: []reports.Text{reports.PlainText("why")}}, entry("finding-C"),
		reports.Transcript{Entries: []reports.Entry{line("first"), {Omitted: 3}}, All: []reports.Entry{line("middle")}},
		entry("finding-A"),
	}}
	var out bytes.Buffer
	require.NoError(t, html.Write(&out, html.Document{Page: page}))
	got := out.String()
	assert.Equal(t, 1, strings.Count(got, `href="#finding-A"`))
	assert.NotContains(t, got, `href="#finding-B"`)
	assert.Equal(t, 1, strings.Count(got, `id="finding-A"`))
	assert.Equal(t, 2, strings.Count(got, "<details class=entry"))
	assert.Equal(t, strings.Count(got, "<details"), strings.Count(got, "</details>"))
	assert.Regexp(t, `(?s)first.*<summary>3 lines left out: the whole conversation</summary>.*middle.*</details>`, got)
	assert.Contains(t, got, `data-word="fail"><b>2</b> fail</li>`)
}
