// Command fwpserver is a job server that speaks the Faktory Work Protocol. It was written from the
// specification alone. On request it departs from it in exactly one way (a mutant), or uses one of
// the freedoms that the specification leaves (a variant).
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/fwpsuite/fwp/tools/strangers/table"
)

// departures are the mutants and the variants.
//
//go:embed departures.jsonl
var departures string

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fwpserver:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	cfg := config{wait: fetchWait}
	flags := flag.NewFlagSet("fwpserver", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:7419", "address to listen on")
	flags.StringVar(&cfg.password, "password", "", "password that clients must know")
	flags.StringVar(&cfg.dir, "dir", "", "folder for jobs that survive a restart")
	flags.IntVar(&cfg.mutant, "mutant", 0, "number of the departure to show")
	flags.IntVar(&cfg.variant, "variant", 0, "number of the freedom to use")
	list := flags.Bool("list", false, "print the table of mutants and variants as JSON lines")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		_, err := io.WriteString(out, departures)
		return err
	}
	if err := table.Check(departures, cfg.mutant, cfg.variant); err != nil {
		return err
	}
	s, err := newServer(cfg, *listen)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "listening on", s.address())
	return untilStopped(s)
}

// untilStopped serves until SIGTERM or SIGINT; the two user signals change the state of all workers.
func untilStopped(s *server) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGINT)
	for sig := range signals {
		switch sig {
		case syscall.SIGUSR1:
			s.tellWorkers(quiet)
		case syscall.SIGUSR2:
			s.tellWorkers(terminate)
		default:
			return s.stop()
		}
	}
	return nil
}
