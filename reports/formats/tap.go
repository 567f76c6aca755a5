package formats

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// TAP returns the cases in the Test Anything Protocol, version 13, which is the latest that every reader takes.
// What is known is TODO, what is without a result is not ok, and a run that reached no target bails out.
func TAP(s *reports.Suite) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("TAP version 13\n")
	counts := s.Count()
	if s.Code == reports.ExitUnreachable && counts[reports.CasePassed]+counts[reports.CaseFailed] == 0 {
		fmt.Fprintf(&out, "Bail out! %s\n", text.Printable(text.OneLine(s.Words)))
		return out.Bytes(), nil
	}
	fmt.Fprintf(&out, "1..%d\n", len(s.Cases))
	for i := range s.Cases {
		tapCase(&out, &s.Cases[i], i+1)
	}
	if s.Target != "" {
		fmt.Fprintf(&out, "# %s of %s\n", text.Printable(s.Name), text.Printable(text.OneLine(s.Target)))
	}
	fmt.Fprintf(&out, "# %s\n", text.Printable(text.OneLine(s.Words)))
	return out.Bytes(), nil
}

// tap writes a case: its line, and a block of YAML with what is wrong.
func tapCase(out *bytes.Buffer, c *reports.Case, number int) {
	word, directive := "ok", ""
	switch {
	case c.Excused():
		word, directive = "not ok", " # TODO "+tapEscape(short(c))
	case c.State == reports.CaseSkipped:
		directive = " # SKIP " + tapEscape(short(c))
	case c.State == reports.CaseFailed, c.State == reports.CaseErrored:
		word = "not ok"
	}
	fmt.Fprintf(out, "%s %d - %s%s\n", word, number, tapEscape(text.Printable(text.OneLine(c.Name))), directive)
	if word == "ok" && c.Kind != reports.Warn.String() {
		return
	}
	out.WriteString("  ---\n")
	yamlField(out, "message", short(c))
	yamlField(out, "severity", text.Printable(c.Kind))
	if c.File != "" {
		yamlField(out, "file", text.Printable(c.File))
	}
	if c.Line > 0 {
		fmt.Fprintf(out, "  line: %d\n", c.Line)
	}
	if evidence := strings.TrimLeft(cut(c), " \n"); evidence != "" {
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
	quoted, err := reports.EncodeJSON(value)
	if err != nil {
		return // a string always has a form in JSON
	}
	fmt.Fprintf(out, "  %s: %s\n", key, quoted)
}

// tapEscape escapes what would begin a directive.
func tapEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(s)
}
