package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// WriteTAP writes the cases in the Test Anything Protocol, version 13, which is the latest that every reader takes.
// What is known is TODO, what is without a result is not ok, and a run that reached no target bails out. It writes
// once, and returns the error of that.
func (s *Suite) WriteTAP(w io.Writer) error {
	var out bytes.Buffer
	out.WriteString("TAP version 13\n")
	if s.Code == ExitUnreachable && !s.decided() {
		fmt.Fprintf(&out, "Bail out! %s\n", printable(text.OneLine(s.Words)))
		return writeOut(w, out.Bytes())
	}
	fmt.Fprintf(&out, "1..%d\n", len(s.Cases))
	for i := range s.Cases {
		s.Cases[i].tap(&out, i+1)
	}
	fmt.Fprintf(&out, "# %s\n", printable(text.OneLine(s.Words)))
	return writeOut(w, out.Bytes())
}

// decided reports whether a case has a result.
func (s *Suite) decided() bool {
	counts := s.count()
	return counts[CasePassed]+counts[CaseFailed] > 0
}

// tap writes a case: its line, and a block of YAML with what is wrong.
func (c *Case) tap(out *bytes.Buffer, number int) {
	word, directive := "ok", ""
	switch {
	case c.listed():
		word, directive = "not ok", " # TODO "+tapEscape(c.short())
	case c.State == CaseSkipped:
		directive = " # SKIP " + tapEscape(c.short())
	case c.State == CaseFailed, c.State == CaseErrored:
		word = "not ok"
	}
	fmt.Fprintf(out, "%s %d - %s%s\n", word, number, tapEscape(printable(text.OneLine(c.Name))), directive)
	if word == "ok" && c.Kind != Warn.String() {
		return
	}
	out.WriteString("  ---\n")
	yamlField(out, "message", c.short())
	yamlField(out, "severity", printable(c.Kind))
	if c.File != "" {
		yamlField(out, "file", printable(c.File))
	}
	if c.Line > 0 {
		fmt.Fprintf(out, "  line: %d\n", c.Line)
	}
	if evidence := strings.TrimLeft(c.cut(), " \n"); evidence != "" {
		out.WriteString("  evidence: |\n")
		for line := range strings.SplitSeq(evidence, "\n") {
			if line = strings.TrimRight(line, " "); line != "" { // prove's reader takes no empty line
				out.WriteString("    " + line + "\n")
			}
		}
	}
	out.WriteString("  ...\n")
}

// yamlField writes a text in quotes: JSON's escapes are those of YAML.
func yamlField(out *bytes.Buffer, key, value string) {
	quoted, err := encode(value)
	if err != nil {
		return // a string always has a form in JSON
	}
	fmt.Fprintf(out, "  %s: %s\n", key, quoted)
}

// tapEscape escapes what would begin a directive.
func tapEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(s)
}
