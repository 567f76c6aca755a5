package reports

import (
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// The attributes of a terminal (ECMA-48) that the text output uses.
const (
	bold    = "1"
	dim     = "2"
	red     = "1;31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	cyan    = "36"
)

// verdictColours holds the attribute of each verdict's word; the others are printed as they are.
var verdictColours = map[Verdict]string{
	Crash: red, Fail: red, Warn: yellow, Pass: green, Observed: cyan, Inconclusive: magenta, NotRun: magenta,
}

// paint puts text between the codes of attribute, if there is one and colour was asked for.
func (t *textWriter) paint(attribute, words string) string {
	if !t.Color || attribute == "" || words == "" {
		return words
	}
	return "\x1b[" + attribute + "m" + words + "\x1b[0m"
}

// word returns the word of v, padded to width and then painted: the codes have no width of their own.
func (t *textWriter) word(v Verdict, width int) string {
	return t.paint(verdictColours[v], v.String()) + strings.Repeat(" ", max(0, width-len(v.String())))
}

// lines cleans s line by line. No text gives no line.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	split := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range split {
		split[i] = text.Printable(strings.TrimSuffix(split[i], "\r"))
	}
	return split
}

// wrap breaks prose between words into lines of at most width characters, and cleans it.
func wrap(prose string, width int) []string {
	words := strings.Fields(prose)
	for i := range words {
		words[i] = text.Printable(words[i])
	}
	return text.Wrap(strings.Join(words, " "), width)
}
