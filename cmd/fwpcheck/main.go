// Command fwpcheck tests a server of the Faktory Work Protocol, and plays
// scripts on it; see package internal/cli/check.
package main

import (
	"os"
	"runtime/debug"

	"github.com/fwpsuite/fwp/internal/cli/check"
	"github.com/fwpsuite/fwp/internal/cli/program"
)

func main() {
	// What a start parses is kept: to collect it again and again was nearly half of its time. GOGC overrides it.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(check.Main(program.Process{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv,
	}))
}
