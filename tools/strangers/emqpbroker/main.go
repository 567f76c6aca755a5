// Command emqpbroker is an EventMQ broker, written from the protocol document alone and kept in memory.
//
// Both addresses are ROUTER sockets that take all of eMQP: --listen is meant for clients, --backend for workers
// and schedulers. With --mutant N it breaks exactly one rule of the document; with --variant N it differs in a
// way that the document allows. --list prints both tables as JSON lines.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/fwpsuite/fwp/tools/strangers/table"
)

// departures are the mutants and the variants.
//
//go:embed departures.jsonl
var departures string

func main() {
	listen := flag.String("listen", "127.0.0.1:47291", "address for clients")
	backend := flag.String("backend", "127.0.0.1:47290", "address for workers and schedulers")
	mutant := flag.Int("mutant", 0, "number of the mutant, 0 for none")
	variant := flag.Int("variant", 0, "number of the variant, 0 for none")
	list := flag.Bool("list", false, "print the mutants and variants as JSON lines")
	beat := flag.Duration("beat", 2*time.Second, "time between heartbeats")
	dead := flag.Duration("dead", 15*time.Second, "silence after which a worker counts as disconnected")
	flag.Parse()
	if *list {
		fmt.Print(departures)
		return
	}
	if err := table.Check(departures, *mutant, *variant); err != nil {
		fail(2, err)
	}
	b := newBroker(*mutant, *variant, *beat, *dead)
	front, err := net.Listen("tcp", *listen)
	if err != nil {
		fail(1, err)
	}
	back, err := net.Listen("tcp", *backend)
	if err != nil {
		fail(1, err)
	}
	go b.beats()
	go b.serve(back, "back")
	b.serve(front, "front")
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "emqpbroker:", err)
	os.Exit(code)
}
