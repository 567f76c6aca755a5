package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// report is what the server is to be told about a job.
type report struct {
	verb   string
	fields Fields
}

// execute fetches jobs and runs them, one after the other, until the worker ends.
func (w *Worker) execute(ctx context.Context) {
	var pending []report // reports whose reply did not come
	for {
		c := w.connectExecutor(ctx, len(pending) > 0)
		if c == nil {
			return
		}
		err := w.work(ctx, c, &pending)
		if err == nil || ctx.Err() != nil {
			return
		}
		c.close()
		if errors.Is(err, errNoWork) {
			return
		}
		if errors.Is(err, errRenew) {
			continue
		}
		proceed, forget := w.pauseAfterLoss(ctx, false, w.cfg.FirstPause, nil, nil)
		if !proceed {
			return
		}
		if forget && len(pending) > 0 {
			pending = pending[1:]
		}
	}
}

// connectExecutor opens the connection of an executor. It returns nil if the executor ends. When the worker
// terminates, an executor that owes reports tries once more.
func (w *Worker) connectExecutor(ctx context.Context, mustReport bool) *conn {
	c := w.connect(ctx, false, w.terminateSignal)
	if c == nil && mustReport && ctx.Err() == nil {
		c, _ = w.openConn(ctx, false)
	}
	return c
}

var errRenew = errors.New("the server has forgotten the worker")

// work fetches and runs jobs on a connection. It returns nil when the connection has ended in order.
func (w *Worker) work(ctx context.Context, c *conn, pending *[]report) error {
	for {
		for len(*pending) > 0 {
			if c.isExhausted() {
				c.end(ctx)
				return errRenew
			}
			if err := w.sendReport(ctx, c, (*pending)[0]); err != nil {
				return err
			}
			*pending = (*pending)[1:]
		}
		if c.renewal < w.renewal.Load() || c.isExhausted() {
			c.end(ctx)
			return errRenew
		}
		job, err := w.next(ctx, c)
		if err != nil || job == nil {
			return err
		}
		*pending = append(*pending, w.perform(ctx, c, job)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// isExhausted reports whether no other command may be sent on a connection, as with a bug.
func (c *conn) isExhausted() bool {
	return c.w.cfg.MaxCommands > 0 && c.commands >= c.w.cfg.MaxCommands
}

// sendReport reports the outcome of a job. An error reply is final: the server has it from then on.
func (w *Worker) sendReport(ctx context.Context, c *conn, r report) error {
	reply, err := c.roundTrip(ctx, r.verb, encode(r.fields))
	if err == nil && reply.Kind == fwp.ErrorReply {
		w.logf("%s: %s", r.verb, reply.Text)
	}
	return err
}

// next returns the next job, or nil if there is none and the connection has ended in order.
func (w *Worker) next(ctx context.Context, c *conn) (*Job, error) {
	for {
		e := c.event()
		e.Queues, e.Skip = w.cfg.Queues, isClosed(w.quietSignal)
		w.at(Fetching, e)
		if e.Skip && e.Delay > 0 {
			if !machine.Sleep(ctx, e.Delay) {
				return nil, ctx.Err()
			}
			continue
		}
		if e.Skip {
			return nil, w.stayQuiet(ctx, c, e.Close)
		}
		job, err := w.fetch(ctx, c, e.Queues)
		if err != nil || job != nil {
			return job, err
		}
		if c.renewal < w.renewal.Load() || c.isExhausted() {
			c.end(ctx)
			return nil, errRenew
		}
	}
}

// stayQuiet waits until the worker terminates, and then ends the connection. With closing it ends the connection before
// the wait, too.
func (w *Worker) stayQuiet(ctx context.Context, c *conn, isClosing bool) error {
	if isClosing {
		c.end(ctx)
	}
	select {
	case <-w.terminateSignal:
		c.end(ctx)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// minFetchTime is how long a FETCH without a job takes if it waits; behind a quicker one there is a pauseAfter, so that
// it is not sent in a tight loop.
const (
	minFetchTime = 50 * time.Millisecond
	pauseAfter   = 200 * time.Millisecond

	longPause = time.Hour // of an executor that a bug has ended
)

// fetch sends one FETCH. (FETCH)
func (w *Worker) fetch(ctx context.Context, c *conn, queues []string) (*Job, error) {
	var args []byte
	if len(queues) > 0 {
		args = []byte(strings.Join(queues, " "))
	}
	begin := time.Now()
	reply, err := c.roundTrip(ctx, fwp.FETCH, args)
	if err != nil {
		return nil, err
	}
	if reply.Kind != fwp.BulkString {
		if reply.Kind == fwp.ErrorReply {
			w.logf("FETCH: %s", reply.Text)
		}
		if reply.Kind == fwp.ErrorReply || time.Since(begin) < minFetchTime {
			machine.Sleep(ctx, pauseAfter)
		}
		return nil, nil
	}
	job, err := parseJob(reply.Text)
	if err != nil {
		w.logf("FETCH: %v", err)
	}
	return job, nil
}

// Job is a work unit as the worker received it.
type Job struct {
	JID, Type string
	Args      []json.RawMessage
	Text      []byte // all of it
}

func parseJob(text []byte) (*Job, error) {
	var unit struct {
		JID     string            `json:"jid"`
		JobType string            `json:"jobtype"`
		Args    []json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(text, &unit); err != nil {
		return nil, err
	}
	return &Job{unit.JID, unit.JobType, unit.Args, bytes.Clone(text)}, nil
}

// perform runs a job, and returns what is to be reported.
func (w *Worker) perform(ctx context.Context, c *conn, job *Job) []report {
	e := c.event()
	e.Job = job
	w.at(Delivered, e)
	if e.Skip {
		return nil
	}
	var reports []report
	for range 1 + btoi(e.Repeat) {
		reports = append(reports, w.performOnce(ctx, c, job)...)
	}
	return reports
}

func (w *Worker) performOnce(ctx context.Context, c *conn, job *Job) []report {
	w.runningJobs.Add(1)
	defer w.runningJobs.Add(-1)
	failure := w.run(ctx, job)
	e := c.event()
	e.Job = job
	switch {
	case errors.Is(failure, errAbandoned):
		e.Outcome = Abandoned
	case failure != nil:
		e.Outcome = Failed
	}
	e.Verb, e.Fields = fwp.ACK, Fields{"jid": job.JID}
	if failure != nil {
		e.Verb = fwp.FAIL
		e.Fields["errtype"], e.Fields["message"] = "RuntimeError", failure.Error()
		e.Fields["backtrace"] = []string{"fakeworker.run", "fakeworker.perform"}
	}
	w.at(Ran, e)
	if e.Skip || ctx.Err() != nil {
		return nil
	}
	return slices.Repeat([]report{{e.Verb, e.Fields}}, 1+btoi(e.Repeat))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

var errAbandoned = errors.New("the worker was terminated while the job ran")

// execution executes a job and returns its failure, nil if it succeeded.
type execution = func(ctx context.Context, job *Job) error

// executions returns those of the types of [jobtype.FWP], by their names.
func (w *Worker) executions() map[string]execution {
	return map[string]execution{
		jobtype.OK: func(context.Context, *Job) error { return nil }, jobtype.Fail: fail, jobtype.Echo: echo,
		jobtype.Sleep: w.sleep, jobtype.Block: w.sleep, jobtype.Crash: w.crash, jobtype.Exit: exitByError,
		jobtype.Push: w.pushAll,
	}
}

// crash ends the process, or only that of an executor, if there are such.
func (w *Worker) crash(ctx context.Context, _ *Job) error {
	if w.cfg.SeparateProcesses {
		return errors.New("the process of the executor ended")
	}
	w.Exit(1)
	<-ctx.Done()
	return ctx.Err()
}

// A job opens a connection for every pushesPerConn of its pushes, but no more than maxPushConns.
const (
	pushesPerConn = 2
	maxPushConns  = 8
)

// pushAll pushes the arguments of a job.
func (w *Worker) pushAll(ctx context.Context, job *Job) error {
	errs := make([]error, min(maxPushConns, (len(job.Args)+pushesPerConn-1)/pushesPerConn))
	var pushes sync.WaitGroup
	for i := range errs {
		pushes.Go(func() { errs[i] = w.pushShare(ctx, job.Args, i, len(errs)) })
	}
	pushes.Wait()
	return errors.Join(errs...)
}

// pushShare pushes those of some jobs that are the share of one of several connections.
func (w *Worker) pushShare(ctx context.Context, jobs []json.RawMessage, share, count int) error {
	c, err := w.openConn(ctx, false)
	if err != nil {
		return err
	}
	for ; share < len(jobs); share += count {
		reply, err := c.roundTrip(ctx, fwp.PUSH, jobs[share])
		if err = errors.Join(err, reply.Err()); err != nil {
			c.close()
			return fmt.Errorf("push: %w", err)
		}
	}
	c.end(ctx)
	return nil
}

// run executes a job and returns its failure, nil if it succeeded.
func (w *Worker) run(ctx context.Context, job *Job) error {
	if execute := w.executions()[job.Type]; execute != nil {
		return execute(ctx, job)
	}
	return fmt.Errorf("unknown job type %q", job.Type)
}

// exitByError is a job that would end its thread: a conforming worker survives it.
func exitByError(context.Context, *Job) error { return errors.New("exit") }

func fail(_ context.Context, job *Job) error {
	var message string
	if len(job.Args) == 0 || json.Unmarshal(job.Args[0], &message) != nil {
		message = jobtype.Fail
	}
	return errors.New(message)
}

func echo(_ context.Context, job *Job) error {
	text, err := json.Marshal(job.Args)
	if err != nil {
		return err
	}
	return errors.New(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))))
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
