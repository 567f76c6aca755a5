// Command fwpworker is a worker for the Faktory Work Protocol, written from the specification alone. It can
// be told to be wrong in one of many ways (--mutant) or to be lawful in an uncommon way (--variant), so that
// a test suite for workers can itself be measured.
//
// FAKTORY_PROVIDER names the variable with the server's URL; without it that is FAKTORY_URL. WORKER_QUEUES
// (default "default") and WORKER_CONCURRENCY (default 5) describe the work. A job whose type contains "fail"
// fails, with an error message that repeats its type and arguments; "sleep" sleeps as many milliseconds as
// its first argument says; all other jobs succeed. SIGTERM and SIGINT mean terminate, SIGTSTP means quiet.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/fwpsuite/fwp/tools/strangers/table"
)

// departures are the mutants and the variants.
//
//go:embed departures.jsonl
var departures string

// mutant and variant are the numbers of the chosen departure; 0 is none. They are set once at the start.
var mutant, variant int

func main() {
	os.Exit(start(os.Args[1:]))
}

// start reads the command line, runs the worker, and returns the exit code.
func start(args []string) int {
	flags := flag.NewFlagSet("fwpworker", flag.ContinueOnError)
	flags.IntVar(&mutant, "mutant", 0, "be wrong in the way with this number")
	flags.IntVar(&variant, "variant", 0, "differ in the lawful way with this number")
	list := flags.Bool("list", false, "print all mutants and variants as JSON lines")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *list {
		fmt.Print(departures)
		return 0
	}
	if err := table.Check(departures, mutant, variant); err != nil {
		log.Print(err)
		return 2
	}
	cfg, err := readConfig()
	if err != nil {
		log.Print(err)
		return 2
	}
	w, err := newWorker(cfg)
	if err != nil {
		log.Print(err)
		return 1
	}
	w.obeySignals()
	w.run()
	return 0
}

// obeySignals makes SIGTERM and SIGINT mean terminate, and SIGTSTP mean quiet.
func (w *worker) obeySignals() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTSTP)
	if mutant != 40 {
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	}
	go func() {
		for s := range signals {
			if s == syscall.SIGTSTP {
				w.enter(quiet)
			} else {
				w.enter(terminating)
			}
		}
	}()
}
