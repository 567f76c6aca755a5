package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// verdictColours are those of the squares: a white letter is readable on each, and each can be told from a white page
// and from a dark one.
var verdictColours = map[reports.Verdict]string{
	reports.Pass: "#1a7f4b", reports.Fail: "#c62828", reports.Crash: "#c2277a", reports.Warn: "#a85b00",
	reports.Observed: "#2a6fb5", reports.Inconclusive: "#8454c0", reports.NotRun: "#8454c0", reports.Skipped: "#6b7280",
}

const (
	square        = 20.0
	pitch         = 23.0
	minNamesWidth = 96.0 // least width of the names of families and runs
)

// matrix draws a square for each clause; of several runs a line for each.
func (s *svg) matrix(m *reports.Matrix) {
	s.squares()
	y := 4.0
	if s.namesWidth = widthOf(m.Runs, letter, minNamesWidth, s.width*.4); s.namesWidth < widthOf(m.Runs, letter, 0,
		math.Inf(1)) {
		s.namesAbove, s.namesWidth = true, minNamesWidth
	}
	across := int((s.width - s.namesWidth - square) / pitch) // squares in a line
	for _, f := range m.Families {
		for from := 0; from < len(f.Rows); from += across {
			rows := f.Rows[from:min(from+across, len(f.Rows))]
			y = s.family(m, f.Name, rows, y)
		}
	}
	s.legend(m, y+8)
}

// squares defines the square of each verdict once.
func (s *svg) squares() {
	s.raw(`<defs>`)
	for v := reports.NotRun; v <= reports.Crash; v++ {
		fill, ink := verdictColours[v], "#fff"
		outline := ""
		if fill == "" {
			fill, ink, outline = "none", "currentColor", ` stroke="#808080"`
		}
		s.raw(`<g id="%s"><rect width="20" height="20" rx="3" fill="%s"%s/><text x="10" y="14.5" text-anchor="middle" `+
			`fill="%s">%s</text></g>`, s.id(fmt.Sprintf("v%d", v)), fill, outline, ink, esc(v.Letter()))
	}
	for _, v := range knownVerdicts { // a frame in the colour of the verdict
		s.raw(`<g id="%s"><rect x="1" y="1" width="18" height="18" rx="3" fill="none" stroke="%s" stroke-width="2"/>`+
			`<text x="10" y="14.5" text-anchor="middle" fill="currentColor">%s</text></g>`, s.id(fmt.Sprintf("k%d", v)),
			verdictColours[v], reports.KnownLetter)
	}
	s.raw(`</defs>`)
}

// knownVerdicts are those that can be known, the worst first.
var knownVerdicts = [...]reports.Verdict{
	reports.Crash, reports.Fail, reports.Inconclusive, reports.NotRun, reports.Warn,
}

// symbol returns the name of the square of a clause in a run.
func symbol(row *reports.MatrixRow, run int) string {
	kind := "v"
	if row.IsKnown[run] {
		kind = "k"
	}
	return fmt.Sprintf("%s%d", kind, row.Verdicts[run])
}

// family draws some clauses of a family, and returns where the next ones are.
func (s *svg) family(m *reports.Matrix, name string, rows []reports.MatrixRow, y float64) float64 {
	isMultiple := len(m.Runs) > 1 || m.Sparse
	s.raw(`<text x="0" y="%s" font-weight="bold">%s</text>`, coord(y+14), esc(name))
	if isMultiple {
		y += s.columns(rows, y)
	}
	for run := range m.Runs {
		if m.Sparse && !slices.ContainsFunc(rows, func(r reports.MatrixRow) bool { return r.Verdicts[run].IsNotable() }) {
			continue
		}
		if isMultiple {
			y += s.run(m.Runs[run], y)
		}
		for i, row := range rows {
			if m.Sparse && row.Verdicts[run] == reports.NotSelected {
				continue
			}
			words := row.ID + ": " + row.Words(run).String()
			use := fmt.Sprintf(`<use href="#%s" x="%s" y="%s"><title>%s</title></use>`, s.id(symbol(&row, run)),
				coord(s.namesWidth+pitch*float64(i)), coord(y), esc(words))
			if link := row.Link(run); link != "" || !isMultiple {
				use = `<a href="` + esc(cmp.Or(link, "#"+row.ID)) + `">` + use + `</a>`
			}
			s.raw("%s", use)
		}
		y += pitch
	}
	if isMultiple {
		y += 4
	}
	return y
}

// run writes the name of a run before its squares, or above them where it is too long for that, and returns how much
// lower they are then.
func (s *svg) run(name string, y float64) float64 {
	if !s.namesAbove {
		s.label(s.namesWidth-8, y+14, "end", name)
		return 0
	}
	const line = 18
	s.label(0, y+14, "start", text.Brief(name, int(s.width/letter)))
	return line
}

// columns writes over each square the number of its clause, or upwards the whole of a name without one, and returns how
// tall that is.
func (s *svg) columns(rows []reports.MatrixRow, y float64) float64 {
	const number, letter = 18.0, 6.5
	tall := number
	words := make([]string, len(rows))
	for i, row := range rows {
		if words[i] = row.ID[strings.LastIndex(row.ID, "-")+1:]; words[i] == "" || words[i][0] > '9' {
			words[i] = row.ID
			tall = max(tall, letter*float64(len(row.ID)))
		}
	}
	for i := range rows {
		x := s.namesWidth + pitch*float64(i) + square/2
		if tall == number {
			s.raw(`<text x="%s" y="%s" text-anchor="middle" font-size="10">%s</text>`, coord(x), coord(y+13), esc(words[i]))
			continue
		}
		s.raw(`<text transform="translate(%s %s) rotate(-90)" font-size="11">%s</text>`, coord(x+4), coord(y+tall-4),
			esc(words[i]))
	}
	return tall
}

// legend draws what the squares mean, as far as they occur.
func (s *svg) legend(m *reports.Matrix, y float64) {
	counts := map[string]int{}
	for _, f := range m.Families {
		for _, row := range f.Rows {
			for run, v := range row.Verdicts {
				if m.Sparse && v == reports.NotSelected {
					continue
				}
				counts[symbol(&row, run)]++
			}
		}
	}
	x := 0.0
	entry := func(square, words string) {
		if counts[square] == 0 {
			return
		}
		words = fmt.Sprintf("%d %s", counts[square], words)
		width := 26 + 7*float64(len(words)) + 16
		if x+width > s.width {
			x, y = 0, y+26
		}
		s.raw(`<use href="#%s" x="%s" y="%s"/>`, s.id(square), coord(x), coord(y))
		s.label(x+26, y+14, "start", words)
		x += width
	}
	for _, v := range reports.Verdicts() {
		entry(fmt.Sprintf("v%d", v), v.String())
	}
	for _, v := range knownVerdicts {
		entry(fmt.Sprintf("k%d", v), "known: "+v.String())
	}
	s.height = y + 26
}
