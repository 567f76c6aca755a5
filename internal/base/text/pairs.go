package text

import "strings"

// Pairs reads a table of two columns: the last word of a line, and what is before it. A # begins a comment.
func Pairs(table string) map[string]string {
	pairs := map[string]string{}
	for line := range strings.Lines(table) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if i := strings.LastIndexByte(line, ' '); i >= 0 {
			pairs[strings.TrimSpace(line[:i])] = line[i+1:]
		}
	}
	return pairs
}
