package workload

import (
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/internal/yamlfile"
)

// Problem is one thing that is wrong with a workload.
type Problem = yamlfile.Problem

// advise is the question whether the nearest of the known words was meant, or else
// the given advice.
func advise(word string, known []string, otherwise string) string {
	if near := nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// nearest is the known word that was probably meant, empty if all are far.
func nearest(word string, known []string) string {
	const longest = 64 // a longer one is not a mistyped word
	if len(word) > longest {
		return ""
	}
	return text.Nearest(word, known, min(max(2, len(word)/3), len(word)))
}
