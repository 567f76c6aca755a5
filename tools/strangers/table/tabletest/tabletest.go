// Package tabletest plays the scripts of a stranger against the departures of its table.
package tabletest

import (
	"fmt"
	"os"
	"testing"

	"github.com/fwpsuite/fwp/tools/strangers/table"
)

// Script shows one mutant, or what every stranger of its kind does.
type Script[S any] struct {
	Mutant int    // 0 for what all do
	Name   string // of a script of all
	Steps  []S
}

// Suite is a stranger with its scripts.
type Suite[S any] struct {
	Mutants, Variants []table.Departure

	Scripts []Script[S] // one for each mutant
	Basics  []Script[S]

	// Run plays steps against a fresh stranger with a mutant or a variant, 0 for none, and returns what departs.
	Run func(t *testing.T, steps []S, mutant, variant int) error
}

// TestMutants plays the script of each mutant against the right stranger, where it holds, and the mutant,
// where it does not.
func (s Suite[S]) TestMutants(t *testing.T) {
	seen := map[int]bool{}
	for _, sc := range s.Scripts {
		seen[sc.Mutant] = true
		t.Run(fmt.Sprintf("%02d", sc.Mutant), func(t *testing.T) {
			t.Parallel()
			if err := s.Run(t, sc.Steps, 0, 0); err != nil {
				t.Fatal("the right stranger departs: ", err)
			}
			err := s.Run(t, sc.Steps, sc.Mutant, 0)
			if err == nil {
				t.Fatal("the mutant does not depart")
			}
			t.Log(s.Mutants[sc.Mutant-1].Text, "|", err)
		})
	}
	for i := range s.Mutants {
		if !seen[i+1] {
			t.Error("no script for mutant", i+1)
		}
	}
}

// TestVariants plays the basic scripts against the right stranger and all variants.
func (s Suite[S]) TestVariants(t *testing.T) {
	for _, sc := range s.Basics {
		for v := range len(s.Variants) + 1 {
			t.Run(fmt.Sprintf("%s/%02d", sc.Name, v), func(t *testing.T) {
				t.Parallel()
				if err := s.Run(t, sc.Steps, 0, v); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestOverlap lists, when STRANGERS_OVERLAP is set, which mutants fail the script of another one.
func (s Suite[S]) TestOverlap(t *testing.T) {
	if os.Getenv("STRANGERS_OVERLAP") == "" {
		t.Skip("STRANGERS_OVERLAP is not set")
	}
	for _, sc := range s.Scripts {
		for i := range s.Mutants {
			t.Run(fmt.Sprintf("%02d-%02d", sc.Mutant, i+1), func(t *testing.T) {
				t.Parallel()
				if err := s.Run(t, sc.Steps, i+1, 0); err != nil && i+1 != sc.Mutant {
					t.Logf("OVERLAP script %d mutant %d: %v", sc.Mutant, i+1, err)
				}
			})
		}
	}
}
