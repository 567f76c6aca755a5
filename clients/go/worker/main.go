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
	"time"

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
	mgr.Concurrency, _ = strconv.Atoi(os.Getenv("FWP_CONCURRENCY"))
	mgr.ProcessStrictPriorityQueues(strings.Split(os.Getenv("FWP_QUEUES"), ",")...)
	log.Fatal(mgr.Run())
}
