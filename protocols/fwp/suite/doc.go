// Package suite is the Faktory Work Protocol as a protocol of the suite: its catalogue of clauses, what a pass of
// each takes, which clause a breach breaks, how its servers are recognized, and the check that explores.
//
// The files by idea: suite.go has the protocol as a whole and the catalogue, whose text is in
// clauses_*.txt; profile.go what families of servers add; goals.go the goals; retired.txt has the checks
// that are no more; identify.go asks a server what it is, and
// explore.go is a short exploration as a check.
package suite
