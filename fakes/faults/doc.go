// Package faults is the catalogue of the ways in which a server of package fakes breaks the specification. What is said
// of each, the clauses and a sentence, is a row of faults.txt; the Go files have what each does.
//
// A fault is in the file of the first word of its name: fetch-bare in fetch.go. Words with fewer than seven faults
// share few.go. A test holds this law. Those of what Faktory adds to the specification are a list of their own, in
// faktory.go. Each is needed by a check, a clause or a document: no two break the same clause in the same way and are
// found by the same checks.
//
// keeping.go has the faults of what a server keeps while it does not run, which are a list of their own. faults.go has
// the list of all others. The hooks are made of the words in condition.go (when), action.go (what then) and
// memory.go (after what); content.go changes the JSON within jobs, hands.go knows which jobs are being worked on, and
// wait.go has the hooks that wait, or know which FETCHes wait.
package faults
