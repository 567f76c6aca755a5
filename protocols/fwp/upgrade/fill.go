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
	site *RunningServer
	jobs *Inventory
	main *recordedConn
	n    int // jobs that were made
	conn int // the number of the last connection of this step

	state             State           // of the jobs that are pushed and fetched now
	byID              map[string]*Job // of an account
	isUnclear         map[string]bool // jids: what a server said of them cannot be read
	unreadableReplies int             // replies, of which so many to FETCH:
	unreadFetches     int
}

// push makes a job in a queue and pushes it. It returns nil if the server refuses it.
func (k *filler) push(state State, queue string, c *content, fields string) (*Job, error) {
	k.n++
	jid := fmt.Sprintf("%s-%d%s", k.jobs.Run, k.n, c.jid)
	queue = k.jobs.Run + "-" + queue
	all := []string{`"jid":"` + jid + `"`, `"queue":` + values.Quote(queue)}
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
		ID: fwp.JIDOf([]byte(text)), State: state, Queue: queue, Class: c.class, Unit: json.RawMessage(text),
		AlteredFields: c.alteredFields,
		Step:          k.site.Step,
	}
	sent := number.Object(j.Unit)
	e := history.Event{
		Op: history.Push, JID: j.ID, Queue: queue, Retry: integer(sent["retry"]), ReserveFor: integer(sent["reserve_for"]),
	}
	if isAccepted, err := k.main.report(e, text); err != nil || !isAccepted {
		return nil, err
	}
	return j, nil
}

// control pushes a job of each content and fetches it at once. It returns the contents that the server accepts and
// delivers, with what it alters by itself, and finds out whether it delivers jobs in order.
func (k *filler) control(all []content) (result []content, err error) {
	k.jobs.IsOrdered, k.state = true, StateDone
	c := &controls{filler: k, all: all, lastIndex: -1, indexByJID: map[string]int{}}
	for i := range all {
		queue := "control" + all[i].queue
		j, err := k.push(StateDone, queue, &all[i], "")
		if err != nil {
			return nil, err
		}
		if j != nil {
			c.indexByJID[j.ID] = i
		}
		if j != nil && all[i].queue != "" {
			if _, err := c.take(queue); err != nil {
				return nil, err
			}
		}
	}
	for {
		if ok, err := c.take("control"); err != nil || !ok {
			return c.contents, err
		}
	}
}

// controls are jobs that are fetched at once.
type controls struct {
	*filler

	all, contents []content
	indexByJID    map[string]int // by jid, the place of its content
	lastIndex     int            // place of the one that came last
}

// take fetches a job. It reports whether there was one.
func (c *controls) take(queue string) (bool, error) {
	got, err := c.main.fetch(c.jobs.Run + "-" + queue)
	if err != nil || len(got) == 0 {
		return got != nil, err
	}
	jid := fwp.JIDOf(got)
	if i, ok := c.indexByJID[jid]; ok {
		item := c.all[i]
		item.alteredFields = alteredFields(&item, got)
		c.contents = append(c.contents, item)
		if item.queue == "" {
			c.jobs.IsOrdered = c.jobs.IsOrdered && i > c.lastIndex
			c.lastIndex = i
		}
	}
	_, err = c.main.ack(jid)
	return true, err
}

// Fill brings a server jobs in all states, which are its inventory. It leaves connections of workers open until ctx is
// done.
func Fill(ctx context.Context, site *RunningServer) (*Inventory, error) {
	draw := rand.New(rand.NewPCG(site.Filling.Seed, uint64(site.Step)))
	k := &filler{ctx: ctx, site: site, isUnclear: map[string]bool{}, jobs: &Inventory{
		Run: fmt.Sprintf("fwp%016x", draw.Uint64()), FillTime: time.Now(),
	}}
	var err error
	if k.main, err = k.connect(k.jobs.Run + "-fill"); err != nil {
		return nil, err
	}
	defer k.main.Leave()
	all, err := k.control(contents(draw, site.Filling.ClassInterval))
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("it accepts jobs, but delivers none of them")
	}
	for _, b := range batches {
		if b.isSlow && site.Filling.IsQuick {
			continue
		}
		if err := k.pushBatch(&b, b.contents(all, site.Filling.LargeJobs)); err != nil {
			return nil, err
		}
	}
	k.jobs.Jobs = slices.DeleteFunc(k.jobs.Jobs, func(j *Job) bool { return k.isUnclear[j.ID] })
	k.jobs.UnclearJIDs = slices.Collect(maps.Keys(k.isUnclear))
	k.jobs.Counts, err = k.counts()
	return k.jobs, err
}

// batch is how jobs of a state are made. They have the fields, and are due after a time, if one is given.
type batch struct {
	state          State
	count          int    // so many jobs with nothing special about them; 0: one for each content
	excludedFields string // contents that are about these fields are left out
	fields         string
	delay          time.Duration
	op             history.Op // what a worker does with them: Fetch keeps them; 0: it does not get them
	isSlow         bool       // it is waited for them later
}

// batches are those of a fill, the last ones those that must not be due before the server is stopped.
var batches = []batch{
	{state: StateEnqueued},
	{state: StateLarge},
	{state: StateFar, count: plainJobs, delay: farDelay},
	{state: StateDead, count: plainJobs, fields: `"retry":-1`, op: history.Fail},
	{state: StateDiscarded, count: plainJobs, fields: `"retry":0`, op: history.Fail},
	{state: StateDone, count: plainJobs, fields: `"retry":3`, op: history.Ack},
	{state: StateFailed, excludedFields: "retry backtrace", fields: `"backtrace":2`, op: history.Fail, isSlow: true},
	{state: StateFailed, count: lastTries, fields: `"retry":1`, op: history.Fail, isSlow: true},
	{state: StateStays, excludedFields: "retry reserve_for", fields: `"reserve_for":60`, op: history.Fetch},
	{state: StateLeaves, excludedFields: "retry reserve_for", fields: `"reserve_for":60`, op: history.Fetch, isSlow: true},
	{state: StateSoon, delay: soonDelay},
	{state: StateLater, delay: laterDelay, isSlow: true},
}

// contents returns those of the jobs. Jobs that are fetched one after the other are in one queue.
func (b *batch) contents(all []content, large int) (selection []content) {
	switch {
	case b.state == StateLarge:
		return make([]content, large)
	case b.count > 0:
		return make([]content, b.count)
	}
	for _, c := range all {
		if b.op == 0 || c.queue == "" && (c.field == "" || !strings.Contains(b.excludedFields, c.field)) {
			selection = append(selection, c)
		}
	}
	return selection
}

// pushBatch pushes a batch, and has a worker do its part.
func (k *filler) pushBatch(b *batch, all []content) error {
	fields, dueTime := b.fields, time.Time{}
	if b.delay > 0 {
		dueTime = time.Now().Add(b.delay)
		fields = `"at":"` + dueTime.UTC().Format(time.RFC3339Nano) + `"`
	}
	k.state = b.state
	byJID := map[string]*Job{}
	for i := range all {
		queue := string(b.state) + all[i].queue
		if b.state == StateEnqueued && all[i].queue == "" {
			queue = []string{"high", "normal", "low"}[i%3]
		}
		j, err := k.push(b.state, queue, &all[i], fields)
		if err != nil {
			return err
		}
		if j != nil {
			j.DueTime, byJID[j.ID] = dueTime, j
			k.jobs.Jobs = append(k.jobs.Jobs, j)
		}
	}
	if b.op == 0 {
		return nil
	}
	return k.work(b, byJID)
}

// work fetches the jobs of a batch, and reports them if there is something to report.
func (k *filler) work(b *batch, jobs map[string]*Job) (err error) {
	conn := k.main
	if b.op == history.Fetch { // by a worker of its own
		if conn, err = k.connect(k.jobs.Run + "-" + string(b.state)); err != nil {
			return err
		}
		context.AfterFunc(k.ctx, conn.Leave)
	}
	for range len(jobs) {
		got, err := conn.fetch(k.jobs.Run + "-" + string(b.state))
		if err != nil {
			return err
		}
		j := jobs[fwp.JIDOf(got)]
		if j == nil && k.unreadableReplies > 0 { // it is that of a reply that cannot be read
			continue
		}
		if j == nil {
			return fmt.Errorf("FETCH %s: expected one of the jobs that were accepted there, got %.100q", b.state, got)
		}
		delete(jobs, j.ID)
		switch b.op {
		case history.Ack:
			_, err = conn.ack(j.ID)
			j.IsOver = true
		case history.Fail:
			err = k.fail(conn, j, 1)
			j.IsOver = b.state != StateFailed
		default:
			j.Worker, j.DueTime = conn.wid, time.Now().Add(reservationTime)
		}
		if err != nil {
			return err
		}
	}
	for jid := range jobs {
		k.isUnclear[jid] = true
	}
	return nil
}

// fail reports the nth failure of a job.
func (k *filler) fail(by *recordedConn, j *Job, n int) error {
	argument := fmt.Sprintf(`{"jid":%s,"errtype":"Error%d","message":"failure %d of %s","backtrace":["a.go line 1 %d",`+
		`"b.go line 2 %[2]d"]}`, values.Quote(j.ID), n, n, k.jobs.Run, n)
	isAccepted, err := by.report(history.Event{Op: history.Fail, JID: j.ID}, argument)
	if isAccepted {
		j.Report = json.RawMessage(argument)
	}
	return err
}

// counts returns what the server counts, by set, nothing if it does not. The contents of INFO are not laid down, and a
// server may refuse it.
func (k *filler) counts() (map[string]int64, error) {
	m, err := k.main.ask("", fwp.INFO)
	if _, isRefused := errors.AsType[*fwpscript.RefusedError](err); isRefused || errors.Is(err, errUnreadable) {
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
