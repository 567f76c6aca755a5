package target

import (
	"errors"
	"fmt"
	"strings"
)

// The variables of the environment in which Faktory's clients look for a
// server.
const (
	providerVariable = "FAKTORY_PROVIDER" // the name of the variable with the URL
	urlVariable      = "FAKTORY_URL"
)

// Choice is the server to use.
type Choice struct {
	Address  Address
	Embedded bool   // none was named: Address is empty
	How      string // "from --url", "from FAKTORY_URL", "the embedded server"
	Variable string // the variable that the URL came from, empty if it came from none
}

// Choose returns the server to use: the one of --url if that was given, else
// the one in the variable that FAKTORY_PROVIDER names, else the one of
// FAKTORY_URL, else the embedded server. A variable that is set and empty is an
// error: if the user forgot to fill it, no other server may be tested instead. The others are
// schemes of [ParseURL].
func Choose(url string, given bool, lookup func(string) (string, bool), others ...Scheme) (Choice, error) {
	if given {
		return choice("from --url", "--url", "", url, others)
	}
	if name, ok := lookup(providerVariable); ok {
		return provided(name, lookup, others)
	}
	if url, ok := lookup(urlVariable); ok {
		return choice("from "+urlVariable, urlVariable, urlVariable, url, others)
	}
	return Choice{Embedded: true, How: "the embedded server"}, nil
}

// Argument returns the server that an argument names.
func Argument(url string, others ...Scheme) (Choice, error) {
	return choice("from the arguments", "the argument", "", url, others)
}

// provided returns the server that FAKTORY_PROVIDER leads to.
func provided(name string, lookup func(string) (string, bool), others []Scheme) (Choice, error) {
	switch {
	case name == "":
		return Choice{}, errors.New(providerVariable +
			" is set but empty: unset it, or let it name the variable that holds the URL")
	case strings.ContainsAny(name, ":/@"):
		return Choice{}, errors.New(providerVariable +
			" holds a URL; it must hold the name of the variable that holds the URL")
	}
	url, ok := lookup(name)
	if !ok {
		return Choice{}, fmt.Errorf("%s names the variable %s, which is not set", providerVariable, name)
	}
	return choice("from "+name+", which "+providerVariable+" names", name, name, url, others)
}

// choice parses the URL that was found at a place.
func choice(how, place, variable, url string, others []Scheme) (Choice, error) {
	if url == "" {
		return Choice{}, fmt.Errorf("%s is set but empty: give it a URL, or leave it out to use the embedded server", place)
	}
	a, err := ParseURL(url, others...)
	if err != nil {
		return Choice{}, fmt.Errorf("%s: %w", place, err)
	}
	return Choice{Address: a, How: how, Variable: variable}, nil
}
