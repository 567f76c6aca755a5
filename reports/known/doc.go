// Package known holds the results of a run against a file of known findings: a line for each, with its check, clause
// and kind. A finding that a line matches is known; a line that no finding matches any more is stale.
//
// [Parse] reads a file (parse.go; file.go has what a line is about, constraint.go the versions of servers),
// [File.Judge] marks the results of a run (judge.go; generated.go for checks that generate what they send), and
// [File.Update] writes the file anew after a run (update.go).
// Nothing here plays a check, reads a clock or touches a disk.
package known
