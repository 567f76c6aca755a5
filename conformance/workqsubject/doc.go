// Package workqsubject is Workq as a subject of exploring: what clients may send, and the law that says what may be
// answered, which judges scripts too.
//
// To read: subject.go (the subject and its clean-up), moves.go, situations.go, values.go and malformed.go (the commands
// that explorations send), lives.go, ways.go, results.go and again.go (commands for jobs whose times end), turns.go
// (leases of several names), law.go (the law and what it receives), job.go (the states of a job, and the effect of
// time), carry.go (the effect of commands), rulings.go (allowed replies), leases.go (replies to lease), inspect.go,
// keys.go and cursor.go (replies to inspect), chance.go (rules of chance), decided.go (the rules that a reply decides),
// rules.txt (the rules), rules.go (their clauses), normal.go (replies with equal meaning).
package workqsubject
