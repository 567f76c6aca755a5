package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// mostAnnotations is how many annotations are shown: GitHub drops those of a step beyond the tenth silently, so the
// tenth says how many there are.
const mostAnnotations = 9

// WriteGitHub writes the cases as annotations of GitHub Actions, the worst first: workflow commands that the runner
// reads from the output of a step. Failures are errors, and what has no result is a warning. It writes nothing if all
// is well. It writes once, and returns the error of that.
func (s *Suite) WriteGitHub(w io.Writer) error {
	var all []*Case
	for i := range s.Cases {
		c := &s.Cases[i]
		if state := c.state(); state == CaseFailed || state == CaseErrored || c.Kind == Warn.String() && c.Known == "" {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *Case) int { return a.gravity() - b.gravity() })
	all = onePerClause(all)
	var out bytes.Buffer
	for i, c := range all {
		if i == mostAnnotations {
			fmt.Fprintf(&out, "::%s title=%s::%s\n", c.annotation(), annotationProperty(s.Name),
				annotationText(fmt.Sprintf("and %s; the summary of the step and the other reports have all",
					text.Count(len(all)-i, "more finding"))))
			break
		}
		title := printable(text.OneLine(join2(" ", c.Clause, c.Kind)))
		message := c.Name + ": " + c.short()
		fmt.Fprintf(&out, "::%s %stitle=%s::%s\n", c.annotation(), c.place(), annotationProperty(title),
			annotationText(printable(message)))
	}
	return writeOut(w, out.Bytes())
}

// place returns the place of an annotation in the user's repository, empty if there is none: the scripts of the suite
// are no files there.
func (c *Case) place() string {
	switch {
	case c.Reproducer != "":
		return "file=" + annotationProperty(printable(c.Reproducer)) + ",line=1,"
	case c.usersFile():
		return fmt.Sprintf("file=%s,line=%d,", annotationProperty(printable(c.File)), max(c.Line, 1))
	}
	return ""
}

// usersFile reports whether File is one of the user's: a script that was given, or the file of known findings.
func (c *Case) usersFile() bool {
	return c.File != "" && c.File == c.Check && (c.Kind == "stale" || strings.HasSuffix(c.File, ".fwp"))
}

// onePerClause leaves the first case of each clause: all that a run finds about a clause is one finding.
func onePerClause(all []*Case) []*Case {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(c *Case) bool {
		known := c.Clause != "" && seen[c.Clause]
		seen[c.Clause] = true
		return known
	})
}

// gravity is the rank of a case among the annotations.
func (c *Case) gravity() int {
	switch {
	case c.Kind == Crash.String():
		return 0
	case c.State == CaseFailed:
		return 1
	case c.State == CaseErrored:
		return 2
	}
	return 3
}

// annotation returns the kind of annotation of a case.
func (c *Case) annotation() string {
	switch c.state() {
	case CaseFailed:
		return "error"
	case CaseErrored:
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
