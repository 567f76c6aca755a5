// Package crowd puts a load of concurrent clients that misbehave on a server, evaluates the history of every job, and
// reports findings: for a check of the suite, and for the second part of `fwpcheck explore`.
package crowd
