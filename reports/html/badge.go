package html

import (
	"fmt"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// Badge returns a small picture, as an SVG file, with a label and what is to be said of it, in the colour of a verdict.
func Badge(label, words string, v reports.Verdict) []byte {
	const letter, margin, high, maxLetters = 6.6, 8.0, 20.0, 60
	label, words = text.Brief(label, maxLetters), text.Brief(words, maxLetters)
	widthOf := func(s string) float64 { return letter * float64(utf8.RuneCountInString(s)) }
	left, right := widthOf(label)+2*margin, widthOf(words)+2*margin
	s := &svg{}
	s.raw(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" role="img" aria-label="%s" `+
		`font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" fill="#fff"><title>%s</title>`,
		coord(left+right), coord(high), esc(label+": "+words), esc(label+": "+words))
	s.rect(0, 0, left, high, `fill="#444"`)
	s.rect(left, 0, right, high, `fill="`+verdictColours[v]+`"`)
	for _, part := range []struct {
		x     float64
		words string
	}{{margin, label}, {left + margin, words}} {
		s.raw(`<text x="%s" y="14" textLength="%s" lengthAdjust="spacingAndGlyphs">%s</text>`, coord(part.x),
			coord(widthOf(part.words)), esc(part.words))
	}
	return fmt.Appendf(nil, "%s</svg>\n", s.out.String())
}
