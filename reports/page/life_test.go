package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// returned is a job that came back after its ACK, over a partition.
func returned() *reports.Life {
	span := func(from, until int) reports.LifeSpan {
		return reports.LifeSpan{From: time.Duration(from) * time.Millisecond, Until: time.Duration(until) * time.Millisecond}
	}
	return &reports.Life{
		JID: "j", Record: "run.history",
		Calls: []reports.LifeCall{
			{LifeSpan: span(0, 1), Mark: "P", Who: "client 0", Cells: []string{"#0", "PUSH j: OK"}},
			{LifeSpan: span(10, 20), Mark: "D", Who: "w1", Cells: []string{"#1", "FETCH q: job j"}, Note: "was there for 20 ms"},
			{LifeSpan: span(40, 41), Mark: "A", Who: "w1", Cells: []string{"#2", "ACK j: OK"}},
			{LifeSpan: span(50, 60), Mark: "D", Who: "w\x1b2", Cells: []string{"#3", "FETCH q: job j"}, Broken: "FWP-ACK-02"},
		},
		Stays: []reports.LifeStay{
			{LifeSpan: span(0, 20), Who: "the server"}, {LifeSpan: span(20, 41), Who: "w1", Held: true},
		},
		Bands: []reports.LifeBand{{LifeSpan: span(30, 40), Name: "partition"}},
	}
}

func TestLifeAsText(t *testing.T) {
	t.Parallel()
	p := reports.Page{Blocks: []reports.Block{reports.Figure{Of: returned()}}}
	want := `  partition                                 ##########
  client 0    P
  the server  ---------------------
  w1                              D==================A==
  w\x1b2                                                                 D!
              0                                                      60 ms
  - the server has it, = a worker holds it, # disrupted, ! a finding;
`
	text := string(page.Text(p, page.TextOptions{}))
	assert.True(t, strings.HasPrefix(text, want), text)
	assert.Contains(t, text, "#1  FETCH q: job j\n  was there for 20 ms\n")
	assert.Contains(t, text, "#3  FETCH q: job j\n  FWP-ACK-02\n")
	markdown := string(page.Markdown(p, page.MarkdownOptions{}))
	assert.Contains(t, markdown, "the server  ---------------------\n")
	assert.Contains(t, markdown, "**FWP-ACK-02**")
	nothing := reports.Page{Blocks: []reports.Block{reports.Figure{Of: &reports.Life{}}}}
	assert.Equal(t, "\n", string(page.Text(nothing, page.TextOptions{})))
}
