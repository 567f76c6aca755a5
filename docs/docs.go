// Package docs has the documents that the programs quote.
package docs

import _ "embed"

// Ambiguities is ambiguities.md: a section for each code, whose heading begins with "## AMB-01: ".
//
//go:embed ambiguities.md
var Ambiguities string
