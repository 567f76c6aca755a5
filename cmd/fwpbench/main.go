// Command fwpbench puts load on a server of the Faktory Work Protocol and tells
// what it carried; see package cli.
package main

import (
	"os"

	"github.com/fwpsuite/fwp/internal/cli"
)

func main() {
	os.Exit(cli.Bench(cli.Process{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv}))
}
