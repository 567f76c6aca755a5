// Package table reads the departures of a stranger from JSON lines, which are also what --list prints.
package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Departure is one place where a stranger differs: a mutant breaks its specification, a variant keeps it.
type Departure struct {
	Kind    string   `json:"kind"`    // mutant or variant
	Number  int      `json:"number"`  // of its kind, from 1
	Clauses []string `json:"clauses"` // the most specific one first; any of them is right
	Text    string   `json:"text"`

	Password bool `json:"password"` // shows with a password only
	Dir      bool `json:"dir"`      // shows with a folder only
}

// Split returns the departures of a list by their kind. It panics if a line is none: the list is part of the program.
func Split(lines string) (mutants, variants []Departure) {
	for line := range strings.Lines(lines) {
		var d Departure
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			panic(err)
		}
		if d.Kind == "mutant" {
			mutants = append(mutants, d)
		} else {
			variants = append(variants, d)
		}
	}
	return mutants, variants
}

// Check returns an error unless the two numbers name one departure of a list at most; 0 names none.
func Check(lines string, mutant, variant int) error {
	mutants, variants := Split(lines)
	switch {
	case mutant != 0 && variant != 0:
		return errors.New("--mutant and --variant exclude each other")
	case mutant < 0 || mutant > len(mutants):
		return fmt.Errorf("there is no mutant %d", mutant)
	case variant < 0 || variant > len(variants):
		return fmt.Errorf("there is no variant %d", variant)
	}
	return nil
}
