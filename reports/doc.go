// Package reports owns the result types of the suite: the verdict of a check on a clause, with its evidence, and how
// all of it becomes an exit code, a page for people, cases for CI systems and JSON for programs. It reaches no
// protocol. The suite fills a result once and never reads one back. Nothing here renders: reports/page and reports/html
// write pages, reports/formats writes cases. The results of loads are in load/results.
package reports
