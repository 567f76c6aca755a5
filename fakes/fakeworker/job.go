package fakeworker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The job types of the contract. (docs/judging-workers.md)
const (
	TypeOK    = "fwp.ok"    // succeeds
	TypeFail  = "fwp.fail"  // fails, with its first argument as the message
	TypeSleep = "fwp.sleep" // takes as many seconds as its first argument says, and succeeds
	TypeEcho  = "fwp.echo"  // fails, with its arguments as JSON as the message
)

var errAbandoned = errors.New("the worker was terminated while the job ran")

// run executes a job and returns its failure, nil if it succeeded.
func (w *Worker) run(ctx context.Context, job *Job) error {
	switch job.Type {
	case TypeOK:
		return nil
	case TypeFail:
		var message string
		if len(job.Args) == 0 || json.Unmarshal(job.Args[0], &message) != nil {
			message = TypeFail
		}
		return errors.New(message)
	case TypeEcho:
		text, err := json.Marshal(job.Args)
		if err != nil {
			return err
		}
		return errors.New(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))))
	case TypeSleep:
		return w.sleep(ctx, job)
	}
	return fmt.Errorf("unknown job type %q", job.Type)
}

func (w *Worker) sleep(ctx context.Context, job *Job) error {
	var seconds float64
	if len(job.Args) == 0 || json.Unmarshal(job.Args[0], &seconds) != nil {
		return errors.New("fwp.sleep takes a number of seconds")
	}
	if pauseUntil(ctx, time.Duration(seconds*float64(time.Second)), w.abandon) {
		return nil
	}
	return cmp.Or(ctx.Err(), errAbandoned)
}
