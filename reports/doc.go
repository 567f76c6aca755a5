// Package reports owns the result types of the suite: the verdict of a check on a clause, with its evidence, and how
// all of it becomes an exit code, a page for people, cases for CI systems and JSON for programs. The suite fills a
// result once and never reads one back. Nothing here renders: reports/page and reports/html write pages,
// reports/formats writes cases.
//
// The model of a run: report.go (the result), subject.go (what was tested), law.go (what a law has judged), verdict.go
// (verdicts, levels of clauses, reasons, and how often each occurred), finding.go (evidence, how findings of several
// clauses fold into one, what is the same of one in every run), known.go (known findings), open.go (what has no result,
// and why), read.go (a saved report).
//
// Other results: exploration.go and page_exploration.go (generated commands), comparison.go (two servers), changes.go
// (several reports), history.go (saved histories), upgrade.go (jobs over an upgrade), life.go (one job). The results of
// loads are in load/results.
//
// What a result comes to: result.go (what all results have, and the table of exit codes), outcome.go (what a run comes
// to, in words), cases.go (cases), json.go (JSON, and what is hidden in a result or left out of it), units.go (numbers
// in words).
//
// Pages: page.go (the blocks), page_report.go and page_finding.go (a run and its findings), transcript.go (what of a
// conversation and of a job is shown), figure.go (pictures).
//
// Nothing here shortens or removes passwords for its caller: URLs and commands arrive without them, and payloads arrive
// escaped and, where they are long, already shortened. The renderers escape control characters all the same, so that a
// hostile server cannot reach the reader's terminal.
//
// A Report is plain data without locks: fill it from one goroutine, or guard it.
package reports
