package html

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// verdictColours are those of the squares: a white letter is readable on each, and each can be told from a white page
// and from a dark one.
var verdictColours = map[reports.Verdict]string{
	reports.Pass: "#1a7f4b", reports.Fail: "#c62828", reports.Crash: "#c2277a", reports.Warn: "#a85b00",
	reports.Observed: "#2a6fb5", reports.Inconclusive: "#8454c0", reports.NotRun: "#8454c0", reports.Skipped: "#6b7280",
}

const (
	square = 20.0
	pitch  = 23.0
	names  = 96.0 // least width of the names of families and runs
)

// matrix draws a square for each clause; of several runs a line for each.
func (s *svg) matrix(m *reports.Matrix) {
	s.squares()
	y := 4.0
	s.names = names
	for _, run := range m.Runs {
		s.names = max(s.names, names+letter*float64(min(utf8.RuneCountInString(run), longestName)-shortName))
	}
	across := int((wide - s.names - square) / pitch) // squares in a line
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
		s.raw(`<g id="v%d"><rect width="20" height="20" rx="3" fill="%s"%s/><text x="10" y="14.5" text-anchor="middle" `+
			`fill="%s">%s</text></g>`, v, fill, outline, ink, esc(v.Letter()))
	}
	for _, v := range knownVerdicts { // a frame in the colour of the verdict
		s.raw(`<g id="k%d"><rect x="1" y="1" width="18" height="18" rx="3" fill="none" stroke="%s" stroke-width="2"/>`+
			`<text x="10" y="14.5" text-anchor="middle" fill="currentColor">%s</text></g>`, v, verdictColours[v],
			reports.KnownLetter)
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
	if row.Known[run] {
		kind = "k"
	}
	return fmt.Sprintf("%s%d", kind, row.Verdicts[run])
}

// family draws some clauses of a family, and returns where the next ones are.
func (s *svg) family(m *reports.Matrix, name string, rows []reports.MatrixRow, y float64) float64 {
	several := len(m.Runs) > 1
	s.raw(`<text x="0" y="%s" font-weight="bold">%s</text>`, at(y+14), esc(name))
	if several {
		for i, row := range rows {
			s.raw(`<text x="%s" y="%s" text-anchor="middle" font-size="10">%s</text>`, at(s.names+pitch*float64(i)+square/2),
				at(y+13), esc(row.ID[strings.LastIndex(row.ID, "-")+1:]))
		}
		y += 18
	}
	for run := range m.Runs {
		if several {
			s.label(s.names-8, y+14, "end", text.Brief(m.Runs[run], longestName))
		}
		for i, row := range rows {
			words := row.ID + ": " + row.Words(run).String()
			use := fmt.Sprintf(`<use href="#%s" x="%s" y="%s"><title>%s</title></use>`, symbol(&row, run),
				at(s.names+pitch*float64(i)), at(y), esc(words))
			if link := row.Link(run); link != "" || !several {
				use = `<a href="` + esc(cmp.Or(link, "#"+row.ID)) + `">` + use + `</a>`
			}
			s.raw("%s", use)
		}
		y += pitch
	}
	if several {
		y += 4
	}
	return y
}

// longestName is how many characters of the name of a run are shown, and shortName how many fit into the least width,
// also wide ones of this width each.
const (
	longestName, shortName = 26, 11
	letter                 = 7.5
)

// legend draws what the squares mean, as far as they occur.
func (s *svg) legend(m *reports.Matrix, y float64) {
	counts := map[string]int{}
	for _, f := range m.Families {
		for _, row := range f.Rows {
			for run := range row.Verdicts {
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
		long := 26 + 7*float64(len(words)) + 16
		if x+long > wide {
			x, y = 0, y+26
		}
		s.raw(`<use href="#%s" x="%s" y="%s"/>`, square, at(x), at(y))
		s.label(x+26, y+14, "start", words)
		x += long
	}
	for _, v := range reports.Verdicts() {
		entry(fmt.Sprintf("v%d", v), v.String())
	}
	for _, v := range knownVerdicts {
		entry(fmt.Sprintf("k%d", v), "known: "+v.String())
	}
	s.height = y + 26
}
