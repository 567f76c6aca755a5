package variations

import (
	"slices"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// All returns the catalogue, sorted by name.
func All() []fakes.Variation {
	return catalogue.SortVariations(
		connectionVariations, helloVariations, jobVariations, jsonVariations, paceVariations, queueVariations,
		replyVariations, reportVariations, timeVariations,
	)
}

// Named returns the variation with a name, and whether there is one.
func Named(name string) (fakes.Variation, bool) {
	all := All()
	i := slices.IndexFunc(all, func(v fakes.Variation) bool { return v.Name == name })
	if i < 0 {
		return fakes.Variation{}, false
	}
	return all[i], true
}

// setting returns a variation of the configuration.
func setting(name, reading, summary string, configure func(*fakes.Config)) fakes.Variation {
	return fakes.Variation{Name: name, Summary: summary, Reading: reading, Configure: configure}
}

// variation returns one of the hook.
func variation[H catalogue.Hook[event]](name, reading, summary string, hook H) fakes.Variation {
	maker := catalogue.Maker[event](hook)
	return setting(name, reading, summary, func(c *fakes.Config) { add(c, maker()) })
}

// add appends a hook: it is called after those that are set already.
func add(c *fakes.Config, hook func(*event)) { c.Hook = catalogue.Both(c.Hook, hook) }
