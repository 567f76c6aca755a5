package html

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// Sizes of the picture of a life.
const (
	lifeLeft, lifeRight = 180.0, 30.0
	rowHeight           = 30.0
)

// life draws a job: a row for each party, with a bar for as long as it had the job and a letter for each call.
func (s *svg) life(l *reports.Life) {
	const apart = 16.0 / (wide - lifeLeft - lifeRight)
	instants, place := l.Scale(apart)
	if len(instants) == 0 {
		return
	}
	px := func(t time.Duration) float64 { return lifeLeft + place[t]*(wide-lifeLeft-lifeRight) }
	names := l.Parties()
	top := 22.0
	bottom := top + rowHeight*float64(len(names))
	for _, b := range l.Bands {
		s.titled(px(b.From), top, max(px(b.Until)-px(b.From), 2), bottom-top, `fill="#d9730d" fill-opacity=".3"`, b.Name)
		s.note((px(b.From)+px(b.Until))/2, top-8, b.Name)
	}
	for i, name := range names {
		s.partyRow(l, name, px, top+rowHeight*float64(i))
	}
	for _, c := range l.Calls {
		if c.Broken != "" {
			s.line(px(c.Until), top, px(c.Until), bottom, ` stroke="#c62828" stroke-width="2" stroke-dasharray="4 3"`)
			s.raw(`<text x="%s" y="%s" text-anchor="end" fill="#c62828">%s</text>`, at(px(c.Until)-4), at(bottom+34),
				esc(c.Broken))
		}
	}
	before := 0.0
	for _, t := range instants {
		if x := px(t); x-before > 70 {
			s.label(x, bottom+16, "middle", l.Instant(t))
			before = x
		}
	}
	s.height = bottom + 42
}

// partyRow draws a party below y.
func (s *svg) partyRow(l *reports.Life, name string, px func(time.Duration) float64, y float64) {
	s.label(0, y+20, "start", text.Brief(name, 26))
	s.line(lifeLeft, y+rowHeight, wide-lifeRight, y+rowHeight, ` stroke="currentColor" stroke-opacity=".18"`)
	for _, stay := range l.Stays {
		if stay.Who == name {
			look := `fill="#808080" fill-opacity=".35"`
			if stay.Held {
				look = fmt.Sprintf(`fill="%s" fill-opacity=".55"`, colours[0])
			}
			s.titled(px(stay.From), y+12, max(px(stay.Until)-px(stay.From), 2), 12, look, stay.Words)
		}
	}
	for _, c := range l.Calls {
		if c.Who == name {
			x := px(c.At())
			s.titled(x-1, y+8, 2, 18, `fill="currentColor"`, c.Cells[len(c.Cells)-1])
			s.label(x+3, y+10, "start", c.Mark)
		}
	}
}

// titled draws a box with words where a pointer rests.
func (s *svg) titled(x, y, width, height float64, look, words string) {
	s.raw(`<rect x="%s" y="%s" width="%s" height="%s" %s><title>%s</title></rect>`, at(x), at(y), at(width), at(height),
		look,
		esc(words))
}
