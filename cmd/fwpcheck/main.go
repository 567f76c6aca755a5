// Command fwpcheck judges a server of the Faktory Work Protocol, and plays
// scripts on it; see package cli.
package main

import (
	"os"

	"github.com/fwpsuite/fwp/internal/cli"
)

func main() {
	os.Exit(cli.Check(cli.Process{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv}))
}
