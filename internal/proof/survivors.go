package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/scenarios"
)

// file returns where a script of a catalogue is.
func (c catalogue) file(s *scenarios.Script) string {
	folder := "scripts"
	if profile, is := strings.CutPrefix(c.name, c.on.Peer.Name+"-"); is {
		folder = "profiles/" + profile
	}
	return fmt.Sprintf("protocols/%s/script/%s/%s.fwp", c.on.Peer.Name, folder, s.Name)
}

// allowed returns what the comments right above the S: lines of a script allow, by the numbers of these lines.
func (c catalogue) allowed(s *scenarios.Script) (all map[int][]allow.Row, err error) {
	all = map[int][]allow.Row{}
	var above []allow.Row
	for i, line := range append(slices.Clone(s.Source), "") {
		line = strings.TrimSpace(line)
		text, is := strings.CutPrefix(line, "# ")
		switch {
		case is && strings.HasPrefix(text, "allow "):
			row, err := allow.Parse(fmt.Sprintf("%s:%d", c.file(s), i+1), text)
			if err != nil {
				return nil, err
			}
			above = append(above, row)
		case strings.HasPrefix(line, "#"):
		case len(above) > 0 && !strings.HasPrefix(line, "S"):
			return nil, fmt.Errorf("%s: %q is not right above an S: line: move it", above[0].In, above[0])
		default:
			all[i+1], above = above, nil
		}
	}
	return all, nil
}

// row returns what would allow a mutant to survive, but for the reason: a comment above its line.
func (m mutant) row() allow.Row {
	return allow.Row{
		What: m.change.name, Where: strings.Fields(strings.ReplaceAll(m.change.at, " ", "-")), Why: allow.Why,
	}
}

// String shows what is changed.
func (m mutant) String() string {
	switch {
	case m.change.closes:
		return "the connection ends"
	case m.change.change == nil:
		return "it comes " + m.change.late.String() + " later"
	}
	return fmt.Sprintf("%.500q -> %.500q", m.raw, m.change.change(m.reply))
}

// survivors plays mutants of the lines of a script that decide a clause: those that are drawn, and those that a row of
// the script may allow. It returns an error for each that is not found and not allowed, and for each row that allows
// none; met notes what allows them, and count how often.
func (c catalogue) survivors(
	b bubbles, s conformance.ScriptCheck, draw func(mutant) bool, met *allow.Met, count map[string]int,
) (wrong []string, err error) {
	rows, err := c.allowed(s.Script)
	if err != nil {
		return nil, err
	}
	all, err := c.mutantsOf(b, s)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.role != decides || len(rows[m.line]) == 0 && !draw(m) {
			continue
		}
		count["all"]++
		o, err := c.outcome(b, m)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", m.name, err)
		case o.found != nothing || o.exit != 0:
			continue
		}
		by := c.allows(m, rows[m.line], met)
		if count[by]++; by == "" {
			wrong = append(wrong, fmt.Sprintf("%s:%d: a reply that is changed is not found; let the line say more, or write "+
				"above it, with the reason:\n# %s\n%s", c.file(s.Script), m.line, m.row(), m))
		}
	}
	for _, line := range slices.Sorted(maps.Keys(rows)) {
		wrong = append(wrong, met.Stale(rows[line])...)
	}
	return wrong, nil
}

// allows returns what allows a mutant to survive: a class, or rows above its line; "" if nothing does.
func (c catalogue) allows(m mutant, rows []allow.Row, met *allow.Met) string {
	for step := range m.script.Script.All() {
		e, is := step.(*scenarios.Expect)
		if !is || e.Line != m.line {
			continue
		}
		for _, class := range classes {
			if class.holds(c, e, m) && met.Allows(class.row(), class.what, "") {
				return class.what
			}
		}
	}
	if met.Allows(rows, m.change.name, strings.Join(m.row().Where, "")) {
		return "rows"
	}
	return ""
}
