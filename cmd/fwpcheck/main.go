// Command fwpcheck tests a server of the Faktory Work Protocol, and plays
// scripts on it; see package internal/cli/check.
package main

import (
	"os"

	"github.com/fwpsuite/fwp/internal/cli/check"
	"github.com/fwpsuite/fwp/internal/cli/shared"
)

func main() {
	p := shared.Process{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv,
	}
	p.LimitMemory()
	os.Exit(check.Main(p))
}
