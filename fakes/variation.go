package fakes

import (
	"cmp"
	"slices"
)

// Variation is a way in which a server differs from others and is right.
type Variation struct {
	// Name is a slug that stays the same for good.
	Name string

	// Summary says what the server does, in one sentence.
	Summary string

	// Reading is what leaves room for it: a section of the specification, or the
	// number of a clause or of an ambiguity in the list of clauses.
	Reading string

	// Warns are clauses of level SHOULD that a check warns about all the same,
	// since the reading allows the variation and advises against it. Mostly none.
	Warns []string

	// Configure makes a server of this kind out of what the [Config] says already;
	// a hook that is there is called first. Every server needs a call of its own,
	// since some of them keep count; the catalogue itself can be shared.
	Configure func(*Config)
}

// Variations is the catalogue, sorted by name.
func Variations() []Variation {
	variations := slices.Concat(
		greetingVariations(), passwordVariations(), helloVariations(),
		connectionVariations(), endVariations(),
		paceVariations(), jsonVariations(), errorVariations(), lineVariations(),
		jobVariations(), shownVariations(), nullVariations(), timeVariations(),
		acceptVariations(), refuseVariations(),
		queueVariations(), scheduleVariations(),
		beatVariations(), quietVariations(), commandVariations(),
	)
	slices.SortFunc(variations, func(a, b Variation) int { return cmp.Compare(a.Name, b.Name) })
	return variations
}

// setting makes a variation that is a matter of configuration.
func setting(name, reading, summary string, configure func(*Config)) Variation {
	return Variation{Name: name, Summary: summary, Reading: reading, Configure: configure}
}

// variation makes one whose hook keeps nothing in mind.
func variation(name, reading, summary string, hook func(*Event)) Variation {
	return varying(name, reading, summary, func() func(*Event) { return hook })
}

// varying makes one whose hook keeps something in mind.
func varying(name, reading, summary string, hook func() func(*Event)) Variation {
	return setting(name, reading, summary, func(c *Config) { c.add(hook()) })
}

// advisedAgainst names the clauses that are warned about.
func (v Variation) advisedAgainst(clauses ...string) Variation {
	v.Warns = clauses
	return v
}

// add has a hook called after those that are there.
func (c *Config) add(hook func(*Event)) {
	before := c.Hook
	if before == nil {
		c.Hook = hook
		return
	}
	c.Hook = func(e *Event) {
		before(e)
		hook(e)
	}
}
