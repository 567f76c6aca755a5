// Package bugs is the catalogue of the ways in which a server of package fakes breaks the specification. Each is a
// row of faults.txt: its name, its clauses and a sentence, and below them the rules that are what it does, in the
// language of package rule. What no rule can say is a hook in Go.
//
// A hook is in the file of the first word of its fault: fetch-order in fetch.go. Words with fewer than four hooks share
// few.go. A test holds this law. The faults of what Faktory adds to the specification are a list of their own, in
// faktory.txt and faktory.go. Each is needed by a check, a clause or a document: no two break the same clause in the
// same way and are found by the same checks.
//
// keeping.go has the faults of what a server keeps while it does not run, which are a list of their own. faults.go has
// the list of all others. The hooks are made of the words in condition.go (when), action.go (what then) and
// memory.go (after what); content.go changes the JSON within jobs, hands.go knows which jobs are being worked on, and
// wait.go has the hooks that wait, or know which FETCHes wait.
package bugs
