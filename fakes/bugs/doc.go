// Package bugs is the catalogue of the ways in which a server of package fakes breaks the specification. Each is a row
// of bugs.txt: its name, its clauses, a sentence, and its rules in the language of package rule; those of Faktory's
// additions are in faktory.txt. What no rule can say is a hook in Go, in the file of the first word of its name; words
// with fewer than four hooks share few.go. Each is needed: no two break the same clause in the same way and are found
// by the same checks.
package bugs
