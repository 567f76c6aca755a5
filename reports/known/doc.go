// Package known holds the results of a run against a file of known findings: a line for each, with its check, clause
// and kind. A finding that a line matches is known; a line that no finding matches any more is stale. [Parse] reads a
// file, [File.Judge] marks the results of a run, and [File.Update] writes the file anew after a run. Nothing here plays
// a check, reads a clock or touches a disk.
package known
