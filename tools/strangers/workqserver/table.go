package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// entry is one mutant or variant.
type entry struct {
	Kind    string   `json:"kind"`
	Number  int      `json:"number"`
	Clauses []string `json:"clauses,omitempty"` // the most specific one first
	Earlier bool     `json:"earlier"`           // needs earlier commands, or a condition
	Text    string   `json:"text"`
}

// with says what a mutant does wrong, with all clauses that would be right.
func with(earlier bool, text string, clauses ...string) entry {
	return entry{Earlier: earlier, Text: text, Clauses: clauses}
}

// table numbers both lists from 1.
func table() []entry {
	var all []entry
	for i, e := range mutants {
		e.Kind, e.Number = "mutant", i+1
		all = append(all, e)
	}
	for i, text := range variants {
		all = append(all, entry{Kind: "variant", Number: i + 1, Text: text})
	}
	return all
}

func printTable(w io.Writer) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range table() {
		enc.Encode(e)
	}
}

func checkNumbers(mutant, variant int) error {
	switch {
	case mutant < 0 || mutant > len(mutants):
		return fmt.Errorf("there is no mutant %d", mutant)
	case variant < 0 || variant > len(variants):
		return fmt.Errorf("there is no variant %d", variant)
	case mutant > 0 && variant > 0:
		return fmt.Errorf("a mutant and a variant do not go together")
	}
	return nil
}
