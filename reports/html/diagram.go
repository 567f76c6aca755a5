package html

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fwpsuite/fwp/reports"
)

// diagram draws states on a circle, and transitions as arrows between them. What was never reached has a broken
// outline.
func (s *svg) diagram(d *reports.Diagram) {
	if len(d.Nodes) == 0 {
		return
	}
	cx, cy, rx, ry, first := wide/2.0, 190.0, 290.0, 140.0, -math.Pi
	if s.small() {
		cx, cy, rx, ry, first = narrow/2.0, 210, (narrow-box)/2-4, 180, -math.Pi/2
	}
	s.height = 2*cy + 4
	place := func(i int) (x, y float64) {
		a := 2*math.Pi*float64(i)/float64(len(d.Nodes)) + first
		return cx + rx*math.Cos(a), cy + ry*math.Sin(a)
	}
	s.raw(`<defs><marker id="%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">`+
		`<path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>`, s.id("arrow"))
	for _, e := range d.Edges {
		x1, y1 := place(e.From)
		x2, y2 := place(e.To)
		if e.From == e.To {
			continue
		}
		// bent, so that both directions are seen; it ends at the edge of the box
		bx, by := (x1+x2)/2+(y2-y1)*.12, (y1+y2)/2-(x2-x1)*.12
		x1, y1 = edgeOf(x1, y1, bx, by)
		x2, y2 = edgeOf(x2, y2, bx, by)
		dash := ""
		if e.Count == 0 {
			dash = ` stroke-dasharray="4 4"`
		}
		s.raw(`<path d="M%s %sQ%s %s %s %s" fill="none" stroke="currentColor" stroke-opacity=".7"%s `+
			`marker-end="url(#%s)"/>`, at(x1), at(y1), at(bx), at(by), at(x2), at(y2), dash, s.id("arrow"))
		away := 12 / math.Max(math.Hypot(x2-x1, y2-y1), 1) // the number stands beside the line
		s.note((x1+2*bx+x2)/4+(y2-y1)*away, (y1+2*by+y2)/4+4-(x2-x1)*away, reports.Number.Words(float64(e.Count)))
	}
	for i, n := range d.Nodes {
		x, y := place(i)
		s.node(n, x, y)
	}
}

// box and tall are the size of a state.
const box, tall = 112.0, 36.0

// node draws a state around a place.
func (s *svg) node(n reports.Node, x, y float64) {
	look := fmt.Sprintf(`fill="%s"`, colours[0])
	if n.Count == 0 {
		look = `fill="none" stroke="#808080" stroke-dasharray="4 4"`
	}
	s.rect(x-box/2, y-tall/2, box, tall, `rx="6" `+look+` fill-opacity=".16"`)
	s.label(x, y-2, "middle", n.Name)
	s.note(x, y+13, reports.Number.Words(float64(n.Count)))
}

// edgeOf returns where a line from the middle of a box towards another point leaves the box.
func edgeOf(x, y, toX, toY float64) (float64, float64) {
	dx, dy := toX-x, toY-y
	if dx == 0 && dy == 0 {
		return x, y
	}
	by := math.Min(box/2/math.Max(math.Abs(dx), 1e-9), tall/2/math.Max(math.Abs(dy), 1e-9))
	return x + dx*by, y + dy*by
}

// forest draws ratios on a logarithmic axis, each a point on the line of its interval, over the shaded margin.
func (s *svg) forest(f *reports.Forest) {
	if len(f.Rows) == 0 {
		return
	}
	const row, top = 26.0, 10.0
	var names, words []string
	for _, r := range f.Rows {
		names, words = append(names, r.Name), append(words, r.Words())
	}
	left, right := widest(names, labelLetter, 120, 260), widest(words, labelLetter, 120, 260)
	reach := math.Log(1.02 + 2*f.Margin) // on each side of 1
	for _, r := range f.Rows {
		reach = max(reach, 1.05*math.Abs(math.Log(r.Low)), 1.05*math.Abs(math.Log(r.High)))
	}
	reach = min(reach, math.Log(50))
	bottom := top + row*float64(len(f.Rows))
	px := func(ratio float64) float64 {
		share := (math.Log(ratio) + reach) / (2 * reach)
		return left + min(max(share, 0), 1)*(wide-left-right)
	}
	low, high := px(1/(1+f.Margin)), px(1+f.Margin)
	s.rect(low, top, high-low, bottom-top, `fill="#808080" fill-opacity=".16"`)
	s.line(px(1), top, px(1), bottom, ` stroke="currentColor" stroke-opacity=".5"`)
	before := math.Inf(-1)
	for _, v := range []float64{math.Exp(-reach * .95), 1 / (1 + f.Margin), 1, 1 + f.Margin, math.Exp(reach * .95)} {
		if x := px(v); x-before > 5*labelLetter {
			s.label(x, bottom+20, "middle", strconv.FormatFloat(v, 'f', 2, 64))
			before = x
		}
	}
	s.label((left+wide-right)/2, bottom+43, "middle", "ratio")
	for i := range f.Rows {
		s.forestRow(&f.Rows[i], px, top+row*(float64(i)+.5), left-8, wide-right+8)
	}
	s.height = bottom + 50
}

// forestRow draws a ratio at a height, with its name up to a place and its words from a place on.
func (s *svg) forestRow(r *reports.ForestRow, px func(float64) float64, y, name, words float64) {
	colour, thick, size := "#808080", 2, 4.0
	switch r.Style {
	case reports.Bad:
		colour = "#c62828"
	case reports.Good:
		colour = colours[0]
	}
	if r.Strong {
		thick, size = 3, 6
	}
	s.label(name, y+4, "end", r.Name)
	s.line(px(r.Low), y, px(r.High), y, fmt.Sprintf(` stroke="%s" stroke-width="%d"`, colour, thick))
	s.rect(px(r.Ratio)-size, y-size, 2*size, 2*size, `fill="`+colour+`"`)
	s.label(words, y+4, "start", r.Words())
}
