// Package stress puts a load of concurrent clients that misbehave on a server, examines
// the history of every job, and makes findings of what it shows: for a check of a run of
// the suite, and for the second part of `fwpcheck explore`.
//
// To read: stress.go is one load, findings.go what it shows, check.go the check, and
// campaign.go an exploration with a load behind it.
package stress
