package html

import (
	"fmt"
	"math"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// plot is the part of a picture in which curves are, and how values lie in it.
type plot struct {
	left, top, right, bottom float64
	x, y                     scale
}

// axisLabels is the room for the values of a vertical axis.
const axisLabels = 104.0

// scale turns values of an axis into 0 to 1.
type scale struct {
	kind             reports.Scale
	minimum, maximum float64
}

func (c scale) share(v float64) float64 {
	low, high := c.transform(c.minimum), c.transform(c.maximum)
	if high <= low {
		return 0
	}
	return min(max((c.transform(v)-low)/(high-low), 0), 1)
}

// transform returns a value as it lies on the axis.
func (c scale) transform(v float64) float64 {
	switch c.kind {
	case reports.Log:
		return math.Log10(max(v, 1e-9))
	case reports.Tail:
		return -math.Log10(max(1-v, 1e-12))
	}
	return v
}

// ticks returns the values at which an axis has a line.
func (c scale) ticks() []float64 {
	switch c.kind {
	case reports.Log:
		return c.decades()
	case reports.Tail:
		all := []float64{0, 0.5}
		for q := 0.9; q <= c.maximum && len(all) < 9; q = 1 - (1-q)/10 {
			all = append(all, math.Round(q*1e9)/1e9)
		}
		return all
	}
	span := c.maximum - c.minimum
	if span <= 0 {
		return []float64{c.minimum}
	}
	step := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if span/(step*factor) <= 6 {
			step *= factor
			break
		}
	}
	var all []float64
	for v := math.Ceil(c.minimum/step) * step; v <= c.maximum*1.0001; v += step {
		all = append(all, v)
	}
	return all
}

// decades returns 1, 10, 100, and between them 2 and 5 where there is room.
func (c scale) decades() []float64 {
	var all []float64
	low, high := math.Floor(math.Log10(c.minimum)), math.Ceil(math.Log10(c.maximum))
	for d := low; d <= high; d++ {
		for _, factor := range []float64{1, 2, 5} {
			v := factor * math.Pow(10, d)
			if v >= c.minimum*0.999 && v <= c.maximum*1.001 && (factor == 1 || high-low <= 3) {
				all = append(all, v)
			}
		}
	}
	return all
}

// px and py return the place of a value in the picture.
func (p *plot) px(v float64) float64 { return p.left + p.x.share(v)*(p.right-p.left) }
func (p *plot) py(v float64) float64 { return p.bottom - p.y.share(v)*(p.bottom-p.top) }

// chart draws curves over their axes, with the names of the curves above them.
func (s *svg) chart(c *reports.Chart) {
	p, ok := plotOf(c)
	if !ok {
		return
	}
	s.height = p.bottom + 50
	s.bands(p, c.Bands)
	s.marks(p, c.Marks)
	s.axes(p, c)
	for i, curve := range c.Curves {
		s.curve(p, i, curve)
	}
	for i, at := range legend(p, c) {
		s.key(i, at, c.Curves[i].Name)
	}
}

// legend returns where the names of curves begin above a chart, in as many lines as they need.
func legend(p *plot, c *reports.Chart) (places []reports.Point) {
	at := reports.Point{X: p.left, Y: legendLine}
	for _, curve := range c.Curves {
		width := 44 + labelLetter*float64(len(curve.Name))
		if at.X > p.left && at.X+width > p.right {
			at = reports.Point{X: p.left, Y: at.Y + legendLine}
		}
		places = append(places, at)
		at.X += width
	}
	return places
}

// legendLine is the height of a line of names.
const legendLine = 21.0

// key draws the name of a curve, behind a piece of it.
func (s *svg) key(number int, place reports.Point, name string) {
	s.raw(`<g class="key" data-curve="%d">`, number)
	s.line(place.X, place.Y-5, place.X+24, place.Y-5, fmt.Sprintf(` stroke="%s" stroke-width="2.5" stroke-dasharray="%s"`,
		colours[number%len(colours)], dashes[number%len(dashes)]))
	s.label(place.X+30, place.Y, "start", name)
	s.raw("</g>")
}

// plotOf returns where values lie, and whether there are any.
func plotOf(c *reports.Chart) (*plot, bool) {
	p := &plot{left: axisLabels, top: 12, right: wideWidth - 26, bottom: 290}
	if names := legend(p, c); len(names) > 0 {
		p.top += names[len(names)-1].Y
	}
	if len(c.Bands) > 0 {
		p.top += 14 // for their names
	}
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, curve := range c.Curves {
		for _, at := range curve.Points {
			if math.IsNaN(at.Y) || math.IsInf(at.Y, 0) {
				continue
			}
			low[0], high[0] = min(low[0], at.X), max(high[0], at.X)
			low[1], high[1] = min(low[1], at.Y), max(high[1], at.Y)
		}
	}
	for _, b := range c.Bands {
		low[0], high[0] = min(low[0], b.From), max(high[0], b.Until)
	}
	p.x, p.y = rangeOf(c.X.Scale, low[0], high[0]), rangeOf(c.Y.Scale, low[1], high[1])
	return p, !math.IsInf(low[1], 0)
}

// rangeOf returns a scale that has room for what is between low and high.
func rangeOf(kind reports.Scale, low, high float64) scale {
	switch kind {
	case reports.Log:
		low, high = max(low, 1), max(high, 2)
		return scale{kind, low / 1.15, max(high*1.15, low*2)}
	case reports.Tail:
		return scale{kind, 0, max(high, 0.9)}
	}
	return scale{kind, min(low, 0), max(high*1.05, low+1e-9)}
}

// bands draws the phases of a run, every second one shaded, with their names above them where there is room.
func (s *svg) bands(p *plot, bands []reports.Band) {
	for i, b := range bands {
		from, until := p.px(b.From), p.px(b.Until)
		if i%2 == 0 {
			s.rect(from, p.top, max(until-from, .5), p.bottom-p.top, `fill="#808080" fill-opacity=".12"`)
		}
		if until-from > 8*float64(len(b.Name)) {
			s.note((from+until)/2, p.top-4, b.Name)
		}
	}
}

// marks draws what was done, with its name where a pointer rests.
func (s *svg) marks(p *plot, marks []reports.Band) {
	for _, m := range marks {
		from, until := p.px(m.From), p.px(m.Until)
		s.titledRect(from, p.top, max(until-from, 2), p.bottom-p.top, `class="mark" fill="#d9730d" fill-opacity=".3"`, m.Name)
	}
}

// axes draws the lines of the axes, their values and their titles.
func (s *svg) axes(p *plot, c *reports.Chart) {
	s.raw(`<g stroke="currentColor" stroke-opacity=".18">`)
	for _, v := range p.x.ticks() {
		s.line(p.px(v), p.top, p.px(v), p.bottom, "")
	}
	for _, v := range p.y.ticks() {
		s.line(p.left, p.py(v), p.right, p.py(v), "")
	}
	s.raw(`</g>`)
	before := math.Inf(-1)
	for _, v := range p.x.ticks() {
		words := c.X.Unit.Words(v)
		if x, half := p.px(v), labelLetter*float64(len(words))/2; x-half > before {
			s.label(x, p.bottom+20, "middle", words)
			before = x + half + labelLetter
		}
	}
	before = math.Inf(1)
	for _, v := range p.y.ticks() {
		if y := p.py(v); before-y > 21 {
			s.label(p.left-6, y+4, "end", c.Y.Unit.Words(v))
			before = y
		}
	}
	s.label((p.left+p.right)/2, p.bottom+43, "middle", c.X.Title)
	s.raw(`<text class="axis" transform="translate(12 %s) rotate(-90)" text-anchor="middle">%s</text>`,
		coord((p.top+p.bottom)/2),
		esc(c.Y.Title))
}

// curve draws the points of a curve, as one line for each part without a gap. A single point is a circle.
func (s *svg) curve(p *plot, number int, c reports.Curve) {
	colour, dash := colours[number%len(colours)], dashes[number%len(dashes)]
	s.raw(`<g class="curve" data-curve="%d" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s" `+
		`stroke-linejoin="round">`, number, colour, dash)
	var part []reports.Point
	flush := func() {
		if len(part) == 1 {
			s.raw(`<circle cx="%s" cy="%s" r="2.5"/>`, coord(p.px(part[0].X)), coord(p.py(part[0].Y)))
		} else if len(part) > 1 {
			s.raw(`<polyline points="`)
			for _, v := range part {
				s.raw("%s,%s ", coord(p.px(v.X)), coord(p.py(v.Y)))
			}
			s.raw(`"/>`)
		}
		part = part[:0]
	}
	for _, v := range c.Points {
		if math.IsNaN(v.Y) || math.IsInf(v.Y, 0) {
			flush()
			continue
		}
		part = append(part, v)
	}
	flush()
	s.raw("</g>")
}

// heat draws how many values were where: the more, the less of the page shines through.
func (s *svg) heat(h *reports.Heat) {
	if len(h.Columns) == 0 || len(h.Edges) == 0 {
		return
	}
	first, last := len(h.Edges), 0 // the rows that have something
	maximum := int64(1)
	for _, c := range h.Columns {
		for row, n := range c.Counts {
			if n > 0 && row < len(h.Edges) {
				first, last, maximum = min(first, row), max(last, row), max(maximum, n)
			}
		}
	}
	if first > last {
		return
	}
	end := h.Columns[len(h.Columns)-1].At + h.ColumnWidth
	minimum := h.Minimum
	if first > 0 {
		minimum = h.Edges[first-1]
	}
	p := &plot{left: axisLabels, top: 12, right: wideWidth - 26, bottom: 250,
		x: scale{reports.Linear, h.Columns[0].At, end}, y: scale{reports.Log, minimum, h.Edges[last]}}
	s.height = p.bottom + 50
	s.axes(p, &reports.Chart{X: h.X, Y: h.Y})
	var shades [heatShades]strings.Builder
	for _, c := range h.Columns {
		heatColumn(&shades, p, h, c, float64(maximum))
	}
	for i := range shades {
		if shades[i].Len() > 0 {
			s.raw(`<path fill="%s" fill-opacity="%.2f" d="%s"/>`, colours[0], float64(i+1)/heatShades, shades[i].String())
		}
	}
}

// heatShades is how many shades a map has: each is one path, because a picture has thousands of cells.
const heatShades = 8

// heatColumn adds one part of the X axis to the paths of the shades; rows above each other with the same shade are one
// cell. The shade is that of the logarithm, so that a few slow ones are seen.
func heatColumn(shades *[heatShades]strings.Builder, p *plot, h *reports.Heat, c reports.HeatColumn, maximum float64) {
	x := p.px(c.At)
	width := coord(max(p.px(c.At+h.ColumnWidth)-x, .5))
	shadeOf := func(row int) int {
		if row >= len(c.Counts) || row >= len(h.Edges) || c.Counts[row] == 0 {
			return -1
		}
		return min(int(heatShades*math.Log1p(float64(c.Counts[row]))/math.Log1p(maximum)), heatShades-1)
	}
	for row := 0; row < len(c.Counts); {
		first, shade := row, shadeOf(row)
		for row++; row < len(c.Counts) && shadeOf(row) == shade; row++ {
		}
		if shade < 0 {
			continue
		}
		low := h.Minimum
		if first > 0 {
			low = h.Edges[first-1]
		}
		top, bottom := p.py(h.Edges[min(row, len(h.Edges))-1]), p.py(low)
		fmt.Fprintf(&shades[shade], "M%s %sh%sv%sh-%sz", coord(x), coord(top), width, coord(max(bottom-top, .5)), width)
	}
}

// titledRect draws a box with words where a pointer rests.
func (s *svg) titledRect(x, y, width, height float64, look, words string) {
	s.raw(`<rect x="%s" y="%s" width="%s" height="%s" %s><title>%s</title></rect>`, coord(x), coord(y), coord(width),
		coord(height),
		look, esc(words))
}
