package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/fwpsuite/fwp/tools/strangers/table"
)

var mutants, variants = table.Split(departures)

// scripts has one script for each mutant, which the right server passes.
var scripts = slices.Concat(wireScripts, jobScripts, commandScripts)

// prepared is the configuration that a script needs.
func prepared(t *testing.T, sc script) config {
	t.Helper()
	cfg := config{}
	if sc.number == 0 {
		return cfg
	}
	if mutants[sc.number-1].Password {
		cfg.password = "open sesame"
	}
	if mutants[sc.number-1].Dir {
		cfg.dir = t.TempDir()
	}
	return cfg
}

// TestMain lets many scripts run at a time, because they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "24"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestTable(t *testing.T) {
	t.Parallel()
	if len(mutants) != 80 || len(variants) != 30 || len(scripts) != len(mutants) ||
		len(witnesses) != len(variants) {
		t.Fatalf("%d mutants, %d variants, %d scripts", len(mutants), len(variants), len(scripts))
	}
	for i, p := range mutants {
		if p.Number != i+1 || scripts[i].number != p.Number || len(p.Clauses) == 0 {
			t.Errorf("row %d: %+v", i+1, p)
		}
	}
	for i, p := range variants {
		if p.Number != i+1 || witnesses[i].number != p.Number || len(p.Clauses) == 0 {
			t.Errorf("row %d: %+v", i+1, p)
		}
	}
}

// TestRight shows that no script finds fault with the right server.
func TestRight(t *testing.T) {
	t.Parallel()
	for _, sc := range slices.Concat(scripts, basics) {
		t.Run(fmt.Sprint("script-", sc.number), func(t *testing.T) {
			t.Parallel()
			if err := sc.play(prepared(t, sc)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMutants shows that each mutant fails its own script, and passes the basic ones.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, sc := range scripts {
		t.Run(fmt.Sprint("mutant-", sc.number), func(t *testing.T) {
			t.Parallel()
			cfg := prepared(t, sc)
			cfg.mutant = sc.number
			err := sc.play(cfg)
			if err == nil {
				t.Fatal("the script passes: ", mutants[sc.number-1].Text)
			}
			t.Log(mutants[sc.number-1].Text, "\n   ", err)
			for i, basic := range basics {
				if err := basic.play(config{mutant: sc.number}); err != nil {
					t.Logf("basic script %d fails too: %v", i+1, err)
				}
			}
		})
	}
}

// TestOverlap lists which mutants fail the scripts of others. It takes a while, so it has to be asked for.
func TestOverlap(t *testing.T) {
	if os.Getenv("OVERLAP") == "" {
		t.Skip("set OVERLAP=1 to play every script against every mutant")
	}
	var mu sync.Mutex
	found := make([][]int, len(mutants)+1)
	t.Run("all", func(t *testing.T) {
		for _, p := range mutants {
			for _, sc := range scripts {
				t.Run(fmt.Sprintf("mutant-%d/script-%d", p.Number, sc.number), func(t *testing.T) {
					t.Parallel()
					cfg := prepared(t, sc)
					cfg.mutant = p.Number
					if err := sc.play(cfg); err != nil && sc.number != p.Number {
						mu.Lock()
						found[p.Number] = append(found[p.Number], sc.number)
						mu.Unlock()
						t.Log(err)
					}
				})
			}
		}
	})
	for number, others := range found {
		if len(others) > 0 {
			slices.Sort(others)
			t.Logf("mutant %d also fails the scripts of %v", number, others)
		}
	}
}

// TestVariants shows that everything still holds where the server uses a freedom, and that it uses it.
func TestVariants(t *testing.T) {
	t.Parallel()
	for i, p := range variants {
		cfg := config{variant: p.Number}
		t.Run(fmt.Sprintf("variant-%d/witness", p.Number), func(t *testing.T) {
			t.Parallel()
			if err := witnesses[i].play(cfg); err != nil {
				t.Error(err)
			}
			if err := witnesses[i].play(config{}); err == nil {
				t.Error("the right server does the same")
			}
		})
		for _, sc := range slices.Concat(scripts, basics) {
			t.Run(fmt.Sprintf("variant-%d/script-%d", p.Number, sc.number), func(t *testing.T) {
				t.Parallel()
				cfg := prepared(t, sc)
				cfg.variant = p.Number
				if err := sc.play(cfg); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
