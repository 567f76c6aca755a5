package main_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/fwpsuite/fwp/fakes/fakeworker"
)

// fakeWorker is the worker of fakes/fakeworker as a program, with the faults that its arguments name.
func fakeWorker(faults []string) int {
	config := fakeworker.Config{
		Lookup: os.LookupEnv, Log: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Queues: strings.Split(os.Getenv("FWP_QUEUES"), ","),
	}
	config.Concurrency, _ = strconv.Atoi(os.Getenv("FWP_CONCURRENCY")) // the default, if it is none
	for _, name := range faults {
		all := fakeworker.Faults()
		i := slices.IndexFunc(all, func(f fakeworker.Fault) bool { return f.Name == name })
		if i < 0 {
			fmt.Fprintln(os.Stderr, "no such fault:", name)
			return 2
		}
		all[i].Configure(&config)
	}
	worker := fakeworker.New(config)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			worker.Signal("TERM")
		}
	}()
	return worker.Run(context.Background())
}
