package html

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fwpsuite/fwp/reports"
)

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
	left, right := widthOf(names, labelLetter, 120, 260), widthOf(words, labelLetter, 120, 260)
	reach := math.Log(1.02 + 2*f.Margin) // on each side of 1
	for _, r := range f.Rows {
		reach = max(reach, 1.05*math.Abs(math.Log(r.Low)), 1.05*math.Abs(math.Log(r.High)))
	}
	reach = min(reach, math.Log(50))
	bottom := top + row*float64(len(f.Rows))
	px := func(ratio float64) float64 {
		share := (math.Log(ratio) + reach) / (2 * reach)
		return left + min(max(share, 0), 1)*(wideWidth-left-right)
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
	s.label((left+wideWidth-right)/2, bottom+43, "middle", "ratio")
	for i := range f.Rows {
		s.forestRow(&f.Rows[i], px, top+row*(float64(i)+.5), left-8, wideWidth-right+8)
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
