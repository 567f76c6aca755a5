package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// annotationLimit is how many annotations are shown: GitHub drops those of a step beyond the tenth silently, so the
// tenth says how many there are.
const annotationLimit = 9

// GitHub returns the cases as annotations of GitHub Actions, the worst first: workflow commands that the runner
// reads from the output of a step. Failures are errors, and so is a run without a result; what else has none is a
// warning. It writes nothing if all is well.
func GitHub(s *reports.Suite) ([]byte, error) {
	var all []*reports.Case
	for i := range s.Cases {
		c := &s.Cases[i]
		warns := c.Kind == reports.Warn.String() && c.KnownPlace == ""
		if annotationKind(c) != "notice" || warns {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *reports.Case) int { return gravity(a) - gravity(b) })
	all = onePerClause(all)
	var out bytes.Buffer
	for i, c := range all {
		if i == annotationLimit {
			fmt.Fprintf(&out, "::%s title=%s::%s\n", annotationKind(c), annotationProperty(s.Name),
				annotationText(fmt.Sprintf("and %s; the step summary and the other reports list all",
					text.Count(len(all)-i, "more finding"))))
			break
		}
		title := text.Printable(text.OneLine(reports.JoinWith(": ", s.Subject, reports.JoinWith(" ", c.Clause, c.Kind))))
		message := c.Name + ": " + shortMessage(c)
		fmt.Fprintf(&out, "::%s %stitle=%s::%s\n", annotationKind(c), place(s, c), annotationProperty(title),
			annotationText(text.Printable(message)))
	}
	return out.Bytes(), nil
}

// place returns the place of an annotation, empty if that is no file of the user's repository: the scripts of the suite
// are none.
func place(s *reports.Suite, c *reports.Case) string {
	name := inRepository(s, c.File)
	if name == "" || !isUsersFile(c) {
		return ""
	}
	return fmt.Sprintf("file=%s,line=%d,", annotationProperty(text.Printable(name)), max(c.Line, 1))
}

// onePerClause leaves the first case of each clause: all that a run finds about a clause is one finding.
func onePerClause(all []*reports.Case) []*reports.Case {
	clauses := map[string]bool{}
	return slices.DeleteFunc(all, func(c *reports.Case) bool {
		isRepeated := c.Clause != "" && clauses[c.Clause]
		clauses[c.Clause] = true
		return isRepeated
	})
}

// gravity is the rank of a case among the annotations.
func gravity(c *reports.Case) int {
	switch {
	case c.Kind == reports.Crash.String():
		return 0
	case c.State == reports.CaseFailed:
		return 1
	case c.State == reports.CaseErrored:
		return 2
	}
	return 3
}

// annotationKind returns the kind of annotation of a case.
func annotationKind(c *reports.Case) string {
	switch c.EffectiveState() {
	case reports.CaseFailed:
		return "error"
	case reports.CaseErrored:
		if c.Class == reports.RunClass {
			return "error"
		}
		return "warning"
	default:
		return "notice"
	}
}

// annotationText escapes the message of a workflow command.
func annotationText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// annotationProperty escapes a property of a workflow command.
func annotationProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
