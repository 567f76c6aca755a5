package reports_test

import (
	"fmt"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// A result becomes a page once, and a renderer writes the page.
func ExampleReport_Page() {
	r := &reports.Report{
		Target: reports.Target{URL: "tcp://localhost:7419", Chosen: "from --url"},
		Head:   reports.Head{Seed: 42},
		Checks: []reports.Check{
			{ID: "info/bulk", Verdict: reports.Pass},
			{ID: "push/rejected", Verdict: reports.Fail, Findings: []reports.Finding{{
				Clause: "FWP-PUSH-03", Level: reports.LevelPlain, Verdict: reports.Fail,
				Statement: "A PUSH that is answered with an error enqueues nothing.",
				Evidence:  reports.Evidence{Expected: "a null bulk string", Actual: "a bulk string of 61 bytes"},
			}}},
		},
	}
	options := reports.PageOptions{Exit: reports.ExitOptions{Strict: true}}
	fmt.Printf("%s", page.Text(r.Page(options), page.TextOptions{}))
	// Output:
	// target    tcp://localhost:7419 (from --url)
	//
	// FINDINGS: 1 (1 fail)
	//   fail  FWP-PUSH-03  A PUSH that is answered with an error enqueues nothing.  push/rejected
	//
	// DETAILS: expected and actual
	//
	// fail  FWP-PUSH-03 (plain: stated as a fact)
	//   A PUSH that is answered with an error enqueues nothing.
	//
	//   check     push/rejected
	//   expected  a null bulk string
	//   actual    a bulk string of 61 bytes
	//
	// TOTALS
	//   checks without a clause  2: 1 fail, 1 pass
	//
	// took 0.000 s, seed 42, exit code 1
	// 1 finding: 1 fail
}

// Other programs can make pages of their own from the same blocks.
func ExamplePage() {
	queues := reports.Page{Blocks: []reports.Block{
		reports.Heading{Level: 1, Text: reports.PlainText("QUEUES")},
		reports.Table{
			Columns: []reports.Column{{Title: "name"}, {Title: "jobs", AlignRight: true}},
			Rows:    []reports.Row{reports.Cells("default", "12"), reports.Cells("mail", "3,021")},
		},
	}}
	fmt.Printf("%s", page.Text(queues, page.TextOptions{}))
	// Output:
	// QUEUES
	//   name      jobs
	//   default     12
	//   mail     3,021
}

func init() {
	reports.RenderText = func(p reports.Page, o reports.TextOptions) []byte {
		return page.Text(p, page.TextOptions(o))
	}
}
