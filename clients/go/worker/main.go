// Worker is a worker of faktory_worker_go with the job types that docs/judging-workers.md describes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/contribsys/faktory/client"
	worker "github.com/contribsys/faktory_worker_go"
)

func main() {
	mgr := worker.NewManager()
	mgr.Register("fwp.ok", func(context.Context, ...any) error { return nil })
	mgr.Register("fwp.fail", func(_ context.Context, args ...any) error { return fmt.Errorf("%v", args[0]) })
	mgr.Register("fwp.sleep", func(ctx context.Context, args ...any) error {
		select {
		case <-time.After(time.Duration(args[0].(float64) * float64(time.Second))):
			return nil
		case <-ctx.Done(): // the library cancels what runs when its time to terminate is up
			return ctx.Err()
		}
	})
	mgr.Register("fwp.echo", func(_ context.Context, args ...any) error {
		text, err := json.Marshal(args)
		return errors.Join(errors.New(string(text)), err)
	})
	mgr.Register("fwp.crash", func(context.Context, ...any) error {
		os.Exit(1)
		return nil
	})
	mgr.Register("fwp.exit", func(context.Context, ...any) error { panic("fwp.exit") })
	mgr.Register("fwp.block", func(_ context.Context, args ...any) error {
		for end := time.Now().Add(time.Duration(args[0].(float64) * float64(time.Second))); time.Now().Before(end); {
		}
		return nil
	})
	mgr.Register("fwp.push", push)
	mgr.Concurrency, _ = strconv.Atoi(os.Getenv("FWP_CONCURRENCY"))
	mgr.ProcessStrictPriorityQueues(strings.Split(os.Getenv("FWP_QUEUES"), ",")...)
	log.Fatal(mgr.Run())
}

// push pushes jobs, eight at a time.
func push(ctx context.Context, args ...any) error {
	help, errs, slots := worker.HelperFor(ctx), make([]error, len(args)), make(chan struct{}, 8)
	var all sync.WaitGroup
	for i, arg := range args {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			job := new(client.Job) // those of NewJob share the default of retry
			text, err := json.Marshal(arg)
			if err == nil {
				err = json.Unmarshal(text, job)
			}
			if err == nil {
				err = help.With(func(cl *client.Client) error { return cl.Push(job) })
			}
			errs[i] = err
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
