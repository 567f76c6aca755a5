// Package workerload measures a worker library: it plays the server, hands out jobs that do nothing, and takes the
// times of what the worker does with them. Its result is that of any load, [results.Load], so that formats, thresholds
// and comparisons are those of a load on a server.
//
//   - workerload.go: Run, from the start of the worker to its end
//   - watch.go: what the server sees, command by command
//   - source.go: the jobs, at a rate or always so many ready
//   - report.go: the result
package workerload
