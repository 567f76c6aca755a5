package main_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	fakeemqpworker "github.com/fwpsuite/fwp/fakes/emqp/worker"
	fakeworker "github.com/fwpsuite/fwp/fakes/worker"
	fakeworkqworker "github.com/fwpsuite/fwp/fakes/workq/worker"
)

// fakeWorker is the worker of fakes/worker as a program, with the bugs that its arguments name.
func fakeWorker(names []string) int {
	isTypeless, diesOnJob := slices.Equal(names, []string{"typeless"}), slices.Equal(names, []string{"typeless-dies"})
	if isTypeless || diesOnJob {
		names = nil
	}
	config, err := withBugs(fakeworker.Bugs(), names)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if diesOnJob {
		config.Hook = func(e *fakeworker.Event) {
			if e.Point == fakeworker.Ran {
				fmt.Fprintf(os.Stderr, "Traceback (most recent call last):\nKeyError: '%s'\n", e.Job.Type)
				os.Exit(1)
			}
		}
	}
	if isTypeless { // it knows no job type, as a new library does
		config.Hook = func(e *fakeworker.Event) {
			if e.Point == fakeworker.Ran {
				e.Verb, e.Fields["errtype"], e.Fields["message"] = "FAIL", "KeyError", "'"+e.Job.Type+"'"
				e.Fields["backtrace"] = []string{}
			}
		}
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
	config, err := withBugs(fakeworker.ProducerBugs(), names)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return fakeworker.New(config).Produce(context.Background(), os.Stdin, func(line string) { fmt.Println(line) })
}

// fakeWorkqWorker is the worker of fakes/workq/worker.
func fakeWorkqWorker(names []string) int {
	config := fakeworkqworker.Config{URL: os.Getenv("WORKQ_URL")}
	config.Concurrency, _ = strconv.Atoi(os.Getenv("FWP_CONCURRENCY"))
	var err error
	if config.Hook, err = hookOf(fakeworkqworker.Bugs(), names); err != nil {
		return 2
	}
	return fakeworkqworker.Run(context.Background(), config)
}

// fakeEMQPWorker is the worker of fakes/emqp/worker.
func fakeEMQPWorker(names []string) int {
	config := fakeemqpworker.Config{URL: os.Getenv("EMQP_URL"), Queues: strings.Split(os.Getenv("FWP_QUEUES"), ",")}
	config.Concurrency, _ = strconv.Atoi(os.Getenv("FWP_CONCURRENCY"))
	seconds, _ := strconv.ParseFloat(os.Getenv("FWP_HEARTBEAT"), 64)
	config.Heartbeat = time.Duration(seconds * float64(time.Second))
	var err error
	if config.Hook, err = hookOf(fakeemqpworker.Bugs(), names); err != nil {
		return 2
	}
	return fakeemqpworker.Run(context.Background(), config)
}

// hookOf returns the hook of the bugs with these names.
func hookOf[E any](all []catalogue.Bug[E], names []string) (hook func(*E), err error) {
	for _, name := range names {
		i := slices.IndexFunc(all, func(f catalogue.Bug[E]) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no such planted bug: %s", name)
		}
		hook = catalogue.Chain(hook, all[i].Hook())
	}
	return hook, nil
}

// impostor is a program that connects and is no worker, of a kind.
func impostor(kinds []string) int {
	u, err := url.Parse(os.Getenv("FAKTORY_URL"))
	if err != nil || len(kinds) != 1 {
		return 2
	}
	for {
		nc, err := new(net.Dialer).DialContext(context.Background(), "tcp", u.Host)
		if err != nil {
			return 1
		}
		switch kinds[0] {
		case "dials":
			nc.Close()
		case "redis":
			_, _ = fmt.Fprint(nc, "*1\r\n$4\r\nPING\r\n")
			_, _ = io.Copy(io.Discard, nc)
		case "silent":
			_, _ = io.Copy(io.Discard, nc)
		}
		time.Sleep(10 * time.Millisecond) // it is somebody else's program
	}
}

// withBugs returns what the environment says, with bugs.
func withBugs(all []fakeworker.Bug, names []string) (fakeworker.Config, error) {
	config := fakeworker.Config{
		Lookup: os.LookupEnv, Log: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Queues: strings.Split(os.Getenv("FWP_QUEUES"), ","),
	}
	config.Concurrency, _ = strconv.Atoi(os.Getenv("FWP_CONCURRENCY")) // the default, if it is none
	for _, name := range names {
		i := slices.IndexFunc(all, func(f fakeworker.Bug) bool { return f.Name == name })
		if i < 0 {
			return config, fmt.Errorf("no such planted bug: %s", name)
		}
		all[i].Configure(&config)
	}
	return config, nil
}

// crashServer is the embedded server on a port, which does not survive a PUSH of a job: it prints why, and is silent,
// closes the connection or ends.
func crashServer(port, mode string) int {
	server := fakes.NewServer(fakes.Config{
		Listen: func() (net.Listener, error) {
			return new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:"+port)
		},
		Hook: func(e *fakes.Event) {
			if e.Point != fakes.Writing || e.Command.Verb != "PUSH" {
				return
			}
			if mode == "die" {
				go panic("assignment to entry in nil map")
				select {}
			}
			fmt.Fprint(os.Stderr, "Traceback (most recent call last):\n"+
				"  File \"server.py\", line 77, in push\nKeyError: 'jid'\n")
			e.Bytes, e.Close = nil, mode == "close"
		},
	})
	defer server.Close()
	fmt.Println("listening on", port)
	select {}
}
