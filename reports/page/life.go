package page

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// Sizes of the time line of a life, in characters.
const (
	timeLine = 60
	longName = 30
)

// life writes the time line of a job as lines: its parties below each other, a column for each instant.
func life(l *reports.Life) (lines []string) {
	instants, place := l.Scale(1.0 / (timeLine - 1))
	if len(instants) == 0 {
		return nil
	}
	column := func(t time.Duration) int { return int(place[t]*(timeLine-1) + .5) }
	names := l.Parties()
	wide := 0
	for _, band := range l.Bands {
		wide = max(wide, nameWidth(band.Name))
	}
	for _, name := range names {
		wide = max(wide, nameWidth(name))
	}
	add := func(name string, cells []byte) {
		shown := text.Brief(text.Printable(name), longName)
		lines = append(lines, fmt.Sprintf("%s%s  %s", shown, strings.Repeat(" ", wide-utf8.RuneCountInString(shown)), cells))
	}
	for _, band := range l.Bands {
		add(band.Name, filled(blank(), '#', column(band.From), column(band.Until)))
	}
	for _, name := range names {
		add(name, partyRow(l, name, column))
	}
	first, last := l.Instant(instants[0]), l.Instant(instants[len(instants)-1])
	add("", fmt.Appendf(nil, "%s%*s", first, timeLine-len(first), last))
	return append(lines, "- the server has it, = a worker holds it, # disrupted, ! a finding;", reports.LifeMarks)
}

func nameWidth(name string) int { return min(utf8.RuneCountInString(text.Printable(name)), longName) }

// blank returns an empty line, with a place behind its end for what is wrong.
func blank() []byte { return []byte(strings.Repeat(" ", timeLine+1)) }

func filled(cells []byte, with byte, from, until int) []byte {
	for i := from; i <= until; i++ {
		cells[i] = with
	}
	return cells
}

// partyRow returns the line of a party: its stays, its calls, and what is wrong.
func partyRow(l *reports.Life, name string, column func(time.Duration) int) []byte {
	cells := blank()
	for _, s := range l.Stays {
		if s.Who == name {
			with := byte('-')
			if s.Held {
				with = '='
			}
			filled(cells, with, column(s.From), column(s.Until))
		}
	}
	for _, c := range l.Calls {
		if c.Who == name {
			cells[column(c.At())] = c.Mark[0]
		}
	}
	for _, c := range l.Calls {
		if c.Who == name && c.Broken != "" {
			cells[column(c.Until)+1] = '!'
		}
	}
	return cells
}
