package html_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

func TestALifeIsAPicture(t *testing.T) {
	t.Parallel()
	l := &reports.Life{
		JID: "<j>", Record: "run.history",
		Calls: []reports.LifeCall{
			{LifeSpan: reports.LifeSpan{From: 0, Until: 5}, Mark: "P", Who: "<client>", Cells: []string{"PUSH <j>: OK"}},
			{LifeSpan: reports.LifeSpan{From: 50, Until: 60}, Mark: "D", Who: "w", Cells: []string{"FETCH"}, Broken: "FWP-ACK-02"},
		},
		Stays: []reports.LifeStay{{LifeSpan: reports.LifeSpan{From: 0, Until: 60}, Who: "the server", Words: "was there"}},
		Bands: []reports.LifeBand{{LifeSpan: reports.LifeSpan{From: 20, Until: 30}, Name: "<partition>"}},
	}
	all := &reports.Histories{Job: "<j>", Files: []reports.History{{Name: "run.history", Lives: []reports.Life{*l}}}}
	var out strings.Builder
	require.NoError(t, html.Write(&out, html.Document{Page: all.Page(reports.PageOptions{Figures: true})}))
	for _, want := range []string{
		`<title>was there</title>`, `<title>&lt;partition&gt;</title>`, `>&lt;client&gt;</text>`, `fill="#c62828">FWP-ACK-02</text>`,
		`<title>PUSH &lt;j&gt;: OK</title>`, `id="job-&lt;j&gt;"`,
	} {
		assert.Contains(t, out.String(), want)
	}
	assert.NotContains(t, out.String(), "NaN")
	out.Reset()
	require.NoError(t, html.Write(&out, html.Document{Page: reports.Page{Blocks: []reports.Block{reports.Figure{Of: &reports.Life{}}}}}))
	assert.NotContains(t, out.String(), "<svg")
}
