// Package judge says whether the figures of a run of load are about the target, and whether they are good enough: a
// judgment, no report.
//
//   - validity.go, achieved.go: why a run is INVALID
//   - remarks.go: what the reader of valid figures should know; drift.go: figures that changed all the time
//   - threshold.go, parse.go: requirements of the user; needed.go: how many arrivals they need
package judge
