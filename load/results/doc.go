// Package results has the results of loads, and what is written from them.
//
//   - the data: load.go (a run), parts.go, disruption.go, finding.go, health.go; capacity.go, comparison.go, merged.go
//   - the sum of several reports: Join in merged.go, which obeys the tags of the data
//   - figures of a run by name: metrics.go, percentile.go, jobs.go (the account of the jobs, and counts),
//     lookup.go, rate.go (and what is told below the first line)
//   - what it comes to: outcome.go (exit code and words), suite.go (cases)
//   - JSON and other data: json.go (and what is hidden in it), series.go (CSV), *.schema.json
//   - for people: page.go, page_tables.go, page_comparison.go (with its form for benchstat), tiles.go (what is seen
//     first), figures.go (pictures)
package results
