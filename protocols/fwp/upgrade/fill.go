package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/base/values"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

// filler brings a server jobs, or asks it for them. It has a connection at a time, and another one for each worker that
// holds jobs.
type filler struct {
	ctx  context.Context //nolint:containedctx // of one fill or account
	site *Site
	jobs *Inventory
	main *keptConn
	n    int // jobs that were made
	conn int // the number of the last connection of this step

	filled     State           // of the jobs that are pushed and fetched now
	byID       map[string]*Job // of an account
	unclear    map[string]bool // jids: what a server said of them cannot be read
	unreadable int             // replies, of which so many to FETCH:
	unread     int
}

// push makes a job in a queue and pushes it. It returns nil if the server refuses it.
func (k *filler) push(state State, queue string, c *content, fields string) (*Job, error) {
	k.n++
	inner := fmt.Sprintf("%s-%d%s", k.jobs.Run, k.n, c.jid)
	queue = k.jobs.Run + "-" + queue
	all := []string{`"jid":"` + inner + `"`, `"queue":` + values.Quote(queue)}
	if fields != "" {
		all = append(all, fields)
	}
	// Retry is given, although it has a default: some servers mix it up among jobs, which is no matter of the upgrade.
	for _, f := range [][2]string{{"jobtype", `"t"`}, {"args", "[]"}, {"retry", "25"}} {
		if c.field != f[0] && !strings.Contains(fields, `"`+f[0]+`"`) {
			all = append(all, `"`+f[0]+`":`+f[1])
		}
	}
	if c.field != "" {
		all = append(all, `"`+c.field+`":`+c.value)
	}
	text := "{" + strings.Join(all, ",") + "}"
	j := &Job{
		ID: fwp.JIDOf([]byte(text)), State: state, Queue: queue, Class: c.class, Sent: json.RawMessage(text), Was: c.was,
		Step: k.site.Step,
	}
	sent := number.Object(j.Sent)
	e := history.Event{
		Op: history.Push, JID: j.ID, Queue: queue, Retry: whole(sent["retry"]), ReserveFor: whole(sent["reserve_for"]),
	}
	if accepted, err := k.main.report(e, text); err != nil || !accepted {
		return nil, err
	}
	return j, nil
}

// control pushes a job of each content and fetches it at once. It returns the contents that the server accepts and
// delivers, with what it alters by itself, and finds out whether it delivers jobs in order.
func (k *filler) control(all []content) (known []content, err error) {
	k.jobs.InOrder, k.filled = true, Done
	c := &controls{filler: k, all: all, last: -1, pushed: map[string]int{}}
	for i := range all {
		queue := "control" + all[i].queue
		j, err := k.push(Done, queue, &all[i], "")
		if err != nil {
			return nil, err
		}
		if j != nil {
			c.pushed[j.ID] = i
		}
		if j != nil && all[i].queue != "" {
			if _, err := c.take(queue); err != nil {
				return nil, err
			}
		}
	}
	for {
		if some, err := c.take("control"); err != nil || !some {
			return c.known, err
		}
	}
}

// controls are jobs that are fetched at once.
type controls struct {
	*filler

	all, known []content
	pushed     map[string]int // by jid, the place of its content
	last       int            // place of the one that came last
}

// take fetches a job. It reports whether there was one.
func (c *controls) take(queue string) (bool, error) {
	got, err := c.main.fetch(c.jobs.Run + "-" + queue)
	if err != nil || len(got) == 0 {
		return got != nil, err
	}
	jid := fwp.JIDOf(got)
	if i, mine := c.pushed[jid]; mine {
		one := c.all[i]
		one.was = altered(&one, got)
		c.known = append(c.known, one)
		if one.queue == "" {
			c.jobs.InOrder = c.jobs.InOrder && i > c.last
			c.last = i
		}
	}
	_, err = c.main.ack(jid)
	return true, err
}

// Fill brings a server jobs in all states, which are its inventory. It leaves connections of workers open until ctx is
// done.
func Fill(ctx context.Context, site *Site) (*Inventory, error) {
	draw := rand.New(rand.NewPCG(site.Plan.Seed, uint64(site.Step)))
	k := &filler{ctx: ctx, site: site, unclear: map[string]bool{}, jobs: &Inventory{
		Run: fmt.Sprintf("fwp%016x", draw.Uint64()), Filled: time.Now(),
	}}
	var err error
	if k.main, err = k.connect(k.jobs.Run + "-fill"); err != nil {
		return nil, err
	}
	defer k.main.Leave()
	all, err := k.control(contents(draw, site.Plan.Every))
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("it accepts jobs, but delivers none of them")
	}
	for _, b := range batches {
		if b.slow && site.Plan.Quick {
			continue
		}
		if err := k.bring(&b, b.contents(all, site.Plan.Large)); err != nil {
			return nil, err
		}
	}
	k.jobs.Jobs = slices.DeleteFunc(k.jobs.Jobs, func(j *Job) bool { return k.unclear[j.ID] })
	k.jobs.Unclear = slices.Collect(maps.Keys(k.unclear))
	k.jobs.Counts, err = k.counts()
	return k.jobs, err
}

// batch is how jobs of a state are made. They have the fields, and are due after a time, if one is given.
type batch struct {
	state  State
	plain  int    // so many jobs with nothing special about them; 0: one for each content
	but    string // contents that are about these fields are left out
	fields string
	after  time.Duration
	then   history.Op // what a worker does with them: Fetch keeps them; 0: it does not get them
	slow   bool       // it is waited for them later
}

// batches are those of a fill, the last ones those that must not be due before the server is stopped.
var batches = []batch{
	{state: Enqueued},
	{state: Large},
	{state: Far, plain: plainJobs, after: farAfter},
	{state: Dead, plain: plainJobs, fields: `"retry":-1`, then: history.Fail},
	{state: Discarded, plain: plainJobs, fields: `"retry":0`, then: history.Fail},
	{state: Done, plain: plainJobs, fields: `"retry":3`, then: history.Ack},
	{state: Failed, but: "retry backtrace", fields: `"backtrace":2`, then: history.Fail, slow: true},
	{state: Failed, plain: lastTries, fields: `"retry":1`, then: history.Fail, slow: true},
	{state: Stays, but: "retry reserve_for", fields: `"reserve_for":60`, then: history.Fetch},
	{state: Leaves, but: "retry reserve_for", fields: `"reserve_for":60`, then: history.Fetch, slow: true},
	{state: Soon, after: soonAfter},
	{state: Later, after: laterAfter, slow: true},
}

// contents returns those of the jobs. Jobs that are fetched one after the other are in one queue.
func (b *batch) contents(all []content, large int) (mine []content) {
	switch {
	case b.state == Large:
		return make([]content, large)
	case b.plain > 0:
		return make([]content, b.plain)
	}
	for _, c := range all {
		if b.then == 0 || c.queue == "" && (c.field == "" || !strings.Contains(b.but, c.field)) {
			mine = append(mine, c)
		}
	}
	return mine
}

// bring pushes a batch, and has a worker do its part.
func (k *filler) bring(b *batch, all []content) error {
	fields, due := b.fields, time.Time{}
	if b.after > 0 {
		due = time.Now().Add(b.after)
		fields = `"at":"` + due.UTC().Format(time.RFC3339Nano) + `"`
	}
	k.filled = b.state
	pushed := map[string]*Job{}
	for i := range all {
		queue := string(b.state) + all[i].queue
		if b.state == Enqueued && all[i].queue == "" {
			queue = []string{"high", "normal", "low"}[i%3]
		}
		j, err := k.push(b.state, queue, &all[i], fields)
		if err != nil {
			return err
		}
		if j != nil {
			j.Due, pushed[j.ID] = due, j
			k.jobs.Jobs = append(k.jobs.Jobs, j)
		}
	}
	if b.then == 0 {
		return nil
	}
	return k.work(b, pushed)
}

// work fetches the jobs of a batch, and reports them if there is something to report.
func (k *filler) work(b *batch, jobs map[string]*Job) (err error) {
	by := k.main
	if b.then == history.Fetch { // by a worker of its own
		if by, err = k.connect(k.jobs.Run + "-" + string(b.state)); err != nil {
			return err
		}
		context.AfterFunc(k.ctx, by.Leave)
	}
	for range len(jobs) {
		got, err := by.fetch(k.jobs.Run + "-" + string(b.state))
		if err != nil {
			return err
		}
		j := jobs[fwp.JIDOf(got)]
		if j == nil && k.unreadable > 0 { // it is that of a reply that cannot be read
			continue
		}
		if j == nil {
			return fmt.Errorf("FETCH %s: expected one of the jobs that were accepted there, got %.100q", b.state, got)
		}
		delete(jobs, j.ID)
		switch b.then {
		case history.Ack:
			_, err = by.ack(j.ID)
			j.Over = true
		case history.Fail:
			err = k.fail(by, j, 1)
			j.Over = b.state != Failed
		default:
			j.Worker, j.Due = by.wid, time.Now().Add(heldFor)
		}
		if err != nil {
			return err
		}
	}
	for jid := range jobs {
		k.unclear[jid] = true
	}
	return nil
}

// fail reports the nth failure of a job.
func (k *filler) fail(by *keptConn, j *Job, n int) error {
	argument := fmt.Sprintf(`{"jid":%s,"errtype":"Error%d","message":"failure %d of %s","backtrace":["a.go line 1 %d",`+
		`"b.go line 2 %[2]d"]}`, values.Quote(j.ID), n, n, k.jobs.Run, n)
	accepted, err := by.report(history.Event{Op: history.Fail, JID: j.ID}, argument)
	if accepted {
		j.Report = json.RawMessage(argument)
	}
	return err
}

// counts returns what the server counts, by set, nothing if it does not. The contents of INFO are not laid down, and a
// server may refuse it.
func (k *filler) counts() (map[string]int64, error) {
	m, err := k.main.ask("", fwp.INFO)
	if _, refused := errors.AsType[*fwpscript.RefusedError](err); refused || errors.Is(err, errUnreadable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var info struct {
		Faktory struct {
			Tasks map[string]struct{ Size int64 } `json:"tasks"`
		} `json:"faktory"`
	}
	_ = json.Unmarshal(bytes.TrimSpace(m.Text), &info) // what is not as expected is not counted
	counts := map[string]int64{}
	for name, set := range info.Faktory.Tasks {
		counts[strings.ToLower(name)] = set.Size
	}
	return counts, nil
}
