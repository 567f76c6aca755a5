package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// shapes are the rows of rooms that each protocol may have, by a pattern for their names: a new protocol needs no row
// of its own in the table of rooms. Its package of bytes, if it has one, and what else it imports get a row.
var shapes = map[string]room{
	"internal/session/*session": {mayImport: []string{"internal/session", "internal/text"}, alone: true},
	"scenarios/*dialect": {mayImport: []string{
		"internal/session", "internal/session/*session", "internal/text", "scenarios",
	}},
	"conformance/*suite": {mayImport: []string{
		"conformance", "internal/session", "internal/session/*session", "scenarios/play", "scenarios/*dialect",
	}},
	"conformance/*subject": {mayImport: []string{
		"conformance/*suite", "conformance/explore", "internal/session", "internal/session/*session", "scenarios",
		"scenarios/*dialect",
	}},
	"load/*speaker": {mayImport: []string{
		"internal/session", "internal/session/*session", "load/measure", "load/protocol", "load/workload",
		"scenarios/*dialect",
	}},
	"fakes/fake*": {mayImport: []string{"fakes/catalogue", "fakes/store"}, alone: true},
}

// roomOf returns the row of a package, or of its shape, and reports whether there is one.
func roomOf(name string) (room, bool) {
	if row, ok := rooms[name]; ok {
		return row, true
	}
	for shape, row := range shapes {
		if matches([]string{shape}, name) {
			return row, true
		}
	}
	return room{}, false
}

// matches reports whether a name is one of those that are allowed, of which some are patterns.
func matches(allowed []string, name string) bool {
	return slices.ContainsFunc(allowed, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// expanded returns names with the rooms of the table in the place of patterns.
func expanded(names []string) (all []string) {
	for _, name := range names {
		if !strings.Contains(name, "*") {
			all = append(all, name)
			continue
		}
		for _, known := range slices.Sorted(maps.Keys(rooms)) {
			if matches([]string{name}, known) {
				all = append(all, known)
			}
		}
	}
	return all
}
