package fakes

import (
	"cmp"
	"slices"
)

// Variation is a way in which a server differs from others and conforms.
type Variation struct {
	// Name is a slug that never changes.
	Name string

	// Summary describes the server's behaviour in one sentence.
	Summary string

	// Reading is what allows it: a section of the specification, or the number of a
	// clause or of an ambiguity in the list of clauses.
	Reading string

	// Warns are clauses of level SHOULD for which a check warns, because the reading
	// allows the variation but advises against it. Usually there are none.
	Warns []string

	// Leaves are checks that cannot decide on a server like this one, and are inconclusive. Usually there are none.
	Leaves []string

	// Configure adds the variation to a [Config]; a hook that is set already is
	// called first. Every server needs a call of its own, since some variations have
	// state; the catalogue itself can be shared.
	Configure func(*Config)
}

// Variations returns the catalogue, sorted by name.
func Variations() []Variation {
	variations := slices.Concat(
		greetingVariations(), passwordVariations(), helloVariations(),
		connectionVariations(), endVariations(),
		paceVariations(), jsonVariations(), errorVariations(), lineVariations(),
		jobVariations(), jobNameVariations(), shownVariations(), nullVariations(), timeVariations(),
		acceptVariations(), refuseVariations(),
		queueVariations(), scheduleVariations(),
		beatVariations(), quietVariations(), commandVariations(),
		lateVariations(), limitVariations(), forgetVariations(), closeVariations(),
	)
	slices.SortFunc(variations, func(a, b Variation) int { return cmp.Compare(a.Name, b.Name) })
	return variations
}

// setting returns a variation of the configuration.
func setting(name, reading, summary string, configure func(*Config)) Variation {
	return Variation{Name: name, Summary: summary, Reading: reading, Configure: configure}
}

// variation returns one whose hook has no state.
func variation(name, reading, summary string, hook func(*Event)) Variation {
	return statefulVariation(name, reading, summary, func() func(*Event) { return hook })
}

// statefulVariation returns one whose hook has state.
func statefulVariation(name, reading, summary string, hook func() func(*Event)) Variation {
	return setting(name, reading, summary, func(c *Config) { c.add(hook()) })
}

// advisedAgainst returns v with the clauses that checks warn about.
func (v Variation) advisedAgainst(clauses ...string) Variation {
	v.Warns = clauses
	return v
}

// leaving returns v with the checks that cannot decide.
func (v Variation) leaving(checks ...string) Variation {
	v.Leaves = checks
	return v
}

// add appends a hook: it is called after those that are set already.
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
