// Command workqserver is a Workq job server, written from the protocol document alone and kept in memory.
//
// With --mutant N it breaks exactly one rule of the document; with --variant N it differs in a way that the
// document allows. --list prints both tables as JSON lines.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/fwpsuite/fwp/tools/strangers/table"
)

// departures are the mutants and the variants.
//
//go:embed departures.jsonl
var departures string

func main() {
	listen := flag.String("listen", "127.0.0.1:9922", "address to listen on")
	mutant := flag.Int("mutant", 0, "number of the mutant, 0 for none")
	variant := flag.Int("variant", 0, "number of the variant, 0 for none")
	list := flag.Bool("list", false, "print the mutants and variants as JSON lines")
	flag.Parse()
	if *list {
		fmt.Print(departures)
		return
	}
	if err := table.Check(departures, *mutant, *variant); err != nil {
		fmt.Fprintln(os.Stderr, "workqserver:", err)
		os.Exit(2)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "workqserver:", err)
		os.Exit(1)
	}
	if err := newServer(*mutant, *variant).serve(l); err != nil {
		fmt.Fprintln(os.Stderr, "workqserver:", err)
		os.Exit(1)
	}
}
