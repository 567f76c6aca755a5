package fakeworker

import (
	"slices"

	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// Variation is a way in which a worker differs from others and conforms.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue of workers, sorted by name.
func Variations() []Variation { return catalogue.SortVariations(lineVariations, jobVariations) }

// ofAnyProducer are the variations of workers that producers can have too.
var ofAnyProducer = []string{
	"hello-more-fields", "hello-late", "hash-upper-case", "json-spaces", "json-ascii", "line-in-pieces",
	"end-reply-unread",
}

// ProducerVariations returns the permitted variations of producers, sorted by name.
func ProducerVariations() []Variation {
	shared := slices.DeleteFunc(Variations(), func(v Variation) bool { return !slices.Contains(ofAnyProducer, v.Name) })
	return catalogue.SortVariations(shared, producerVariations)
}

// variation returns one that a hook makes, or a function that makes a hook for each worker because it remembers
// something.
func variation[H catalogue.Hook[Event]](name, reading, summary string, hook H) Variation {
	maker := catalogue.Maker[Event](hook)
	return configured(name, reading, summary, func(c *Config) { c.Hook = maker() })
}

// configured returns a variation of the configuration.
func configured(name, reading, summary string, configure func(*Config)) Variation {
	return Variation{Name: name, Summary: summary, Reading: reading, Configure: configure}
}
