// Package crowd puts a load of concurrent clients that misbehave on a server, evaluates
// the history of every job, and reports findings: for a check of the suite, and for the
// second part of `fwpcheck explore`.
//
// To read: stress.go is one load, findings.go its findings, check.go the check, campaign.go
// an exploration with a load after it, and others.go the explorations of other servers
// that go on meanwhile.
//
// suite.go has the checks of FWP with those of this package.
package crowd
