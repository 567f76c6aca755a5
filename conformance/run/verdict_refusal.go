package run

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// A server that ends a connection before its introduction, instead of refusing a command there, has let no client in: the
// clauses about who is let in are not broken, but that of the answer is.

// isAuth reports whether all marks are those of clauses about who is let in.
func (v *verdicts) isAuth(marks []scenarios.Mark) bool {
	prefix := v.protocol().Admission
	return prefix != "" &&
		!slices.ContainsFunc(marks, func(m scenarios.Mark) bool { return !strings.HasPrefix(m.Clause, prefix) })
}

func (v *verdicts) unrefusedWords(r play.Result) string {
	return "the connection was closed without the error that " + v.protocol().Unrefused(r.Unrefused) + " asks for"
}
