package html

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// wideWidth is the width of every picture, in its own units, and narrowWidth that of the one for small screens.
const wideWidth, narrowWidth = 760, 340

// svg gathers a picture.
type svg struct {
	out        strings.Builder
	width      float64
	height     float64
	namesWidth float64 // width of the names in a matrix
	namesAbove bool    // the names of its runs stand above their squares
}

// isSmall reports whether the picture is that for small screens.
func (s *svg) isSmall() bool { return s.width < wideWidth }

// id returns the name of a part of the picture, which is another one for small screens.
func (s *svg) id(name string) string {
	if s.isSmall() {
		return "small-" + name
	}
	return name
}

func (s *svg) raw(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

// coord writes a length with one decimal at most.
func coord(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// label writes a text at a place; anchor is start, middle or end.
func (s *svg) label(x, y float64, anchor, words string) {
	extra := ""
	if anchor != "start" {
		extra = ` text-anchor="` + anchor + `"`
	}
	s.raw(`<text x="%s" y="%s"%s>%s</text>`, coord(x), coord(y), extra, esc(words))
}

// rect draws a box. look is the rest of its attributes, as it is for a line.
func (s *svg) rect(x, y, width, height float64, look string) {
	s.raw(`<rect x="%s" y="%s" width="%s" height="%s" %s/>`, coord(x), coord(y), coord(width), coord(height), look)
}

func (s *svg) line(x1, y1, x2, y2 float64, look string) {
	s.raw(`<line x1="%s" y1="%s" x2="%s" y2="%s"%s/>`, coord(x1), coord(y1), coord(x2), coord(y2), look)
}

// Widths of a letter, also of a wide one, and of the gap beside labels. The labels of a picture that scales are larger
// on a small screen.
const (
	letter, labelLetter = 7.5, 11.5
	namesGap            = 16
)

// widthOf returns the width of the longest of some labels, with a gap beside it, within bounds.
func widthOf(labels []string, letter, minimum, maximum float64) float64 {
	for _, words := range labels {
		minimum = max(minimum, letter*float64(utf8.RuneCountInString(words))+namesGap)
	}
	return min(minimum, maximum)
}

// note writes a small text around a place.
func (s *svg) note(x, y float64, words string) {
	s.raw(`<text x="%s" y="%s" text-anchor="middle" font-size="11">%s</text>`, coord(x), coord(y), esc(words))
}

// figure writes a picture, and its data as a table that can be opened.
func (p *page) figure(f reports.Figure) {
	s := &svg{width: wideWidth}
	class, role := " class=scales", "img"
	redraw := func(*svg) {} // draws what does not scale for small screens
	switch d := f.Drawing.(type) {
	case *reports.Chart:
		s.chart(d)
		class = ` class="chart scales"`
	case *reports.Bars:
		redraw = func(s *svg) { s.bars(d) }
		class = " class=redrawn"
	case *reports.Heat:
		s.heat(d)
	case *reports.Matrix:
		redraw = func(s *svg) { s.matrix(d) }
		class, role = " class=redrawn", "group" // it has links
	case *reports.Forest:
		s.forest(d)
	}
	redraw(s)
	if s.height == 0 {
		return
	}
	p.figures++
	p.raw("<figure%s id=figure-%d>\n<figcaption><b>%s</b> %s</figcaption>\n", class, p.figures, esc(f.Title),
		esc(f.Description))
	p.raw("<div class=scroll tabindex=0 role=group aria-label=\"Picture: %s\">", esc(f.Title))
	p.svg(f, s, role)
	small := &svg{width: narrowWidth}
	if redraw(small); small.height > 0 {
		p.svg(f, small, role)
	}
	p.raw("</div>\n")
	p.raw("<details><summary>%s as a table</summary>\n", esc(f.Title))
	p.table(f.Drawing.Table(), f.Title)
	p.raw("</details>\n</figure>\n")
}

// svg writes a drawn picture. One for small screens is hidden until the style shows it.
func (p *page) svg(f reports.Figure, s *svg, role string) {
	markup, look := s.out.String(), ""
	if f.Invalid {
		markup, look = toGrey(markup), ` opacity="0.6"`
	}
	if s.isSmall() {
		look += ` class="small" display="none"`
	}
	id := s.id(fmt.Sprintf("figure-%d", p.figures))
	p.raw(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]s %[2]s" width="%[1]s" height="%[2]s" role="%[3]s" `+
		`aria-labelledby="%[4]s-title %[4]s-words" font-family="system-ui, sans-serif" font-size="12" `+
		`fill="currentColor"%[5]s><title id="%[4]s-title">%[6]s</title><desc id="%[4]s-words">%[7]s</desc>%[8]s</svg>`,
		coord(s.width), coord(s.height), role, id, look, esc(f.Title), esc(f.Description), markup)
}

// colours are those of curves: each is at least three times as light or as dark as a white and a dark page. Dashes tell
// curves apart without them.
var colours = [...]string{"#3b82f6", "#d9730d", "#0d9488", "#a855f7", "#808080"}

var dashes = [...]string{"", "7 3", "2 3", "9 3 2 3", "4 2"}

// toGrey returns a picture with its curves in the last of the colours, which is grey: dashes tell them apart.
func toGrey(markup string) string {
	for _, colour := range colours[:len(colours)-1] {
		markup = strings.ReplaceAll(markup, colour, colours[len(colours)-1])
	}
	return markup
}

// bars draws numbers.
func (s *svg) bars(b *reports.Bars) {
	const right, row = 70.0, 24.0
	maximum, names := int64(1), []string{}
	for _, bar := range b.Bars {
		maximum, names = max(maximum, bar.Value), append(names, bar.Name)
	}
	left := widthOf(names, letter, 110, min(wideWidth/3, s.width*.6))
	y := 6.0
	for _, bar := range b.Bars {
		length := (s.width - left - right) * float64(bar.Value) / float64(maximum)
		colour := colours[0]
		if bar.Style == reports.Bad {
			colour = "#c62828"
		}
		if bar.Value > 0 {
			length = max(length, 2)
		}
		s.label(left-8, y+14, "end", text.Brief(bar.Name, int((left-namesGap)/letter)))
		s.rect(left, y+3, length, 14, `fill="`+colour+`"`)
		s.label(left+length+6, y+14, "start", reports.Number.Words(float64(bar.Value)))
		y += row
	}
	s.height = y + 6
}
