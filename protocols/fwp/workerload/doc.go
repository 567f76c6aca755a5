// Package workerload measures a worker library: it plays the server, hands out jobs that do nothing, and takes the
// times of what the worker does with them. Its result is that of any load, [results.Load], so that formats, thresholds
// and comparisons are those of a load on a server.
package workerload
