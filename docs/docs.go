// Package docs has the documents that the programs quote.
package docs

import (
	"embed"
	"slices"
	"strings"
)

// Ambiguities is ambiguities.md: a section for each code, whose heading begins with "## AMB-01: ".
//
//go:embed ambiguities.md
var Ambiguities string

// Workq and EMQP are workq.md and emqp.md. A row of a table of ambiguities begins with its code: "| EMQ-AMB-01 | ".
var (
	//go:embed workq.md
	Workq string
	//go:embed emqp.md
	EMQP string
)

// The pages that say how to fix what is found: tables whose rows begin with the clauses, in sections.
var (
	//go:embed how-to-fix-servers.md
	fixServers string
	//go:embed how-to-fix-workers.md
	fixWorkers string
)

// Fix returns the page, and the section of it, that says how to fix a client, or a server, that breaks a clause:
// "docs/how-to-fix-workers.md#jobs-lost". It is empty if no row is about the clause.
func Fix(isClient bool, clause string) string {
	page, text := "docs/how-to-fix-servers.md", fixServers
	if isClient {
		page, text = "docs/how-to-fix-workers.md", fixWorkers
	}
	section := ""
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			section = strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(title, ",", "")), " ", "-")
		}
		row, ok := strings.CutPrefix(line, "| ")
		clauses, _, _ := strings.Cut(row, " | ")
		if ok && slices.Contains(strings.Split(clauses, ", "), clause) {
			return page + "#" + section
		}
	}
	return ""
}

// Bugs has bugs.md and worker-bugs.md of FWP, and the same with the name of a protocol in front of it: a title,
// paragraphs, and a table with a row for each bug.
//
//go:embed *bugs.md
var Bugs embed.FS
