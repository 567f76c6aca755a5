// Command fwpbench puts load on a server of the Faktory Work Protocol and reports
// what it sustained; see package internal/cli/bench.
package main

import (
	"os"

	"github.com/fwpsuite/fwp/internal/cli/bench"
	"github.com/fwpsuite/fwp/internal/cli/shared"
)

func main() {
	os.Exit(bench.Main(shared.Process{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv,
	}))
}
