// Package docs has the documents that the programs quote.
package docs

import "embed"

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

// Faults has faults.md and worker-faults.md of FWP, and the same with the name of a protocol in front of it: a title,
// paragraphs, and a table with a row for each fault.
//
//go:embed *faults.md
var Faults embed.FS
