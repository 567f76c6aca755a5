// Package workqsubject is Workq as a subject of exploring: what clients may send, and the law that says what may be
// answered, which judges scripts too.
//
// To read: subject.go (the subject and its clean-up), moves.go, situations.go, values.go and malformed.go (the
// alphabet), lives.go, ways.go, results.go and again.go (the one whose times end), law.go (what is told to the law),
// job.go (how things may stand with a job, and what time does), carry.go (what commands do), rulings.go (which
// replies may come), leases.go (those to lease), inspect.go, keys.go and cursor.go (those to inspect), chance.go
// (what is left to chance), decided.go (which rules a reply decides), rules.txt (the rules), rules.go (their
// clauses), normal.go (replies that mean the same), inputs.go (of what fields commands consist).
package workqsubject
