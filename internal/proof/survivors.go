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
	if extension, ok := strings.CutPrefix(c.name, c.fixture.Entry.Name+"-"); ok {
		folder = "extensions/" + extension
	}
	return fmt.Sprintf("protocols/%s/script/%s/%s.fwp", c.fixture.Entry.Name, folder, s.Name)
}

// allowRows returns what the comments right above the S: lines of a script allow, by the numbers of these lines.
func (c catalogue) allowRows(s *scenarios.Script) (all map[int][]allow.Row, err error) {
	all = map[int][]allow.Row{}
	var rows []allow.Row
	for i, line := range append(slices.Clone(s.Source), "") {
		line = strings.TrimSpace(line)
		text, ok := strings.CutPrefix(line, "# ")
		switch {
		case ok && strings.HasPrefix(text, "allow "):
			row, err := allow.Parse(fmt.Sprintf("%s:%d", c.file(s), i+1), text)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		case strings.HasPrefix(line, "#"):
		case len(rows) > 0 && !strings.HasPrefix(line, "S"):
			return nil, fmt.Errorf("%s: %q is not right above an S: line: move it", rows[0].Source, rows[0])
		default:
			all[i+1], rows = rows, nil
		}
	}
	return all, nil
}

// row returns what would allow a mutant to survive, but for the reason: a comment above its line.
func (m mutant) row() allow.Row {
	return allow.Row{
		Item: m.change.name, Places: strings.Fields(strings.ReplaceAll(m.change.at, " ", "-")),
		Reason: allow.ReasonPlaceholder,
	}
}

// String shows what is changed.
func (m mutant) String() string {
	switch {
	case m.change.isClose:
		return "the connection ends"
	case m.change.change == nil:
		return "it comes " + m.change.delay.String() + " later"
	}
	return fmt.Sprintf("%.500q -> %.500q", m.raw, m.change.change(m.reply))
}

// survivors plays mutants of the lines of a script that decide a clause: those that are drawn, and those that a row of
// the script may allow. It returns an error for each that is not found and not allowed, and for each row that allows
// none; met notes what allows them, and count how often.
func (c catalogue) survivors(
	b bubbles, s conformance.ScriptCheck, draw func(mutant) bool, uses *allow.Usage, count map[string]int,
) (list []string, err error) {
	rows, err := c.allowRows(s.Script)
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
		case o.result != resultNothing || o.exit != 0:
			continue
		}
		name := c.allows(m, rows[m.line], uses)
		if count[name]++; name == "" {
			list = append(list, fmt.Sprintf("%s:%d: a reply that is changed is not found; let the line say more, or write "+
				"above it, with the reason:\n# %s\n%s", c.file(s.Script), m.line, m.row(), m))
		}
	}
	for _, line := range slices.Sorted(maps.Keys(rows)) {
		list = append(list, uses.Stale(rows[line])...)
	}
	return list, nil
}

// allows returns what allows a mutant to survive: a class, or rows above its line; "" if nothing does.
func (c catalogue) allows(m mutant, rows []allow.Row, uses *allow.Usage) string {
	for step := range m.script.Script.All() {
		e, ok := step.(*scenarios.Expect)
		if !ok || e.Line != m.line {
			continue
		}
		for _, class := range classes {
			if class.holds(c, e, m) && uses.Allows(class.row(), class.name, "") {
				return class.name
			}
		}
	}
	if uses.Allows(rows, m.change.name, strings.Join(m.row().Places, "")) {
		return "rows"
	}
	return ""
}
