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
func fakeWorker(names []string) int {
	config, err := withFaults(fakeworker.Faults(), names)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
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

// fakeProducer is its producer.
func fakeProducer(names []string) int {
	config, err := withFaults(fakeworker.ProducerFaults(), names)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return fakeworker.New(config).Produce(context.Background(), os.Stdin, func(line string) { fmt.Println(line) })
}

// withFaults returns what the environment says, with faults.
func withFaults(all []fakeworker.Fault, names []string) (fakeworker.Config, error) {
	config := fakeworker.Config{
		Lookup: os.LookupEnv, Log: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Queues: strings.Split(os.Getenv("FWP_QUEUES"), ","),
	}
	config.Concurrency, _ = strconv.Atoi(os.Getenv("FWP_CONCURRENCY")) // the default, if it is none
	for _, name := range names {
		i := slices.IndexFunc(all, func(f fakeworker.Fault) bool { return f.Name == name })
		if i < 0 {
			return config, fmt.Errorf("no such fault: %s", name)
		}
		all[i].Configure(&config)
	}
	return config, nil
}
