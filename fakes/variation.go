package fakes

import "github.com/fwpsuite/fwp/fakes/catalogue"

// Variation is a way in which a server differs from others and conforms.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue, sorted by name.
func Variations() []Variation {
	return catalogue.SortVariations(
		greetingVariations(), passwordVariations(), helloVariations(),
		connectionVariations(), endVariations(),
		paceVariations(), jsonVariations(), errorVariations(), lineVariations(),
		jobVariations(), jobNameVariations(), shownVariations(), nullVariations(), timeVariations(),
		acceptVariations(), refuseVariations(),
		queueVariations(), scheduleVariations(),
		beatVariations(), quietVariations(), commandVariations(),
		lateVariations(), limitVariations(), forgetVariations(), closeVariations(),
		delayVariations(), valueVariations(), clientVariations(), openVariations(), writtenVariations(),
	)
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

// add appends a hook: it is called after those that are set already.
func (c *Config) add(hook func(*Event)) { c.Hook = catalogue.Both(c.Hook, hook) }
