package scenarios

import (
	"slices"
	"strings"
)

// delivered reports whether a try has received what the block waits for, and in a way that does not match: the server
// hands it out once, so that no later try can match. What has another name is something else, and does not count.
func (th *thread) delivered(b *Block, results map[Step]Result) bool {
	grammar := th.dialect().Grammar()
	verbs := map[string]string{} // of the last command, by connection
	for _, s := range b.Steps {
		switch s := s.(type) {
		case *Send:
			verbs[s.Conn] = s.Verb()
		case *Expect:
			_, handsOut := grammar.Waits[verbs[s.Conn]]
			if r := results[s]; handsOut && r.Outcome == Mismatched && insideReply(map[Step]Result{s: r}) {
				return !slices.ContainsFunc(r.Differences, grammar.isNameOf)
			}
		}
	}
	return false
}

// isNameOf reports whether a difference is in the name of what a reply brings.
func (g *Grammar) isNameOf(d Difference) bool {
	return slices.Contains(g.Families, strings.TrimPrefix(d.Path, "."))
}
