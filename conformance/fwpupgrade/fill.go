package fwpupgrade

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

	"github.com/fwpsuite/fwp/conformance/upgrade"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/jsonnum"
	"github.com/fwpsuite/fwp/internal/values"
)

// Subject returns FWP as a subject of upgrades.
func Subject() *upgrade.Subject {
	return &upgrade.Subject{Fill: fill, Account: account, Clauses: map[upgrade.Fate]string{
		upgrade.Lost: "FWP-STATE-08", upgrade.Hidden: "FWP-STATE-08", upgrade.Doubled: "FWP-ACK-02",
		upgrade.Early: "FWP-WU-06",
	}}
}

// filler brings a server jobs, or asks it for them. It has a connection at a time, and another one for each worker that
// holds jobs.
type filler struct {
	ctx  context.Context //nolint:containedctx // of one fill or account
	site *upgrade.Site
	jobs *upgrade.Inventory
	main *keptConn
	n    int // jobs that were made

	filled     upgrade.State           // of the jobs that are pushed and fetched now
	byID       map[string]*upgrade.Job // of an account
	told       map[*upgrade.Job]bool
	unclear    map[string]bool // jids: what a server said of them cannot be read
	unreadable int             // replies, of which so many to FETCH:
	unread     int
}

// push makes a job in a queue and pushes it. It returns nil if the server refuses it.
func (k *filler) push(state upgrade.State, queue string, c *content, fields ...string) (*upgrade.Job, error) {
	k.n++
	inner := fmt.Sprintf("%s-%d%s", k.jobs.Run, k.n, c.jid)
	queue = k.jobs.Run + "-" + queue
	all := append([]string{`"jid":"` + inner + `"`, `"queue":` + values.Quote(queue)}, fields...)
	// Retry is given, although it has a default: some servers mix it up among jobs, which is no matter of the upgrade.
	for _, f := range [][2]string{{"jobtype", `"t"`}, {"args", "[]"}, {"retry", "25"}} {
		if c.field != f[0] && !strings.Contains(strings.Join(fields, ","), `"`+f[0]+`"`) {
			all = append(all, `"`+f[0]+`":`+f[1])
		}
	}
	if c.field != "" {
		all = append(all, `"`+c.field+`":`+c.value)
	}
	text := "{" + strings.Join(all, ",") + "}"
	j := &upgrade.Job{
		ID: fwp.JIDOf([]byte(text)), State: state, Queue: queue, Class: c.class, Sent: json.RawMessage(text), Was: c.was,
		Step: k.site.Step,
	}
	sent := jsonnum.Object(j.Sent)
	e := history.Event{
		Op: history.Push, JID: j.ID, Queue: queue, Retry: whole(sent["retry"]), ReserveFor: whole(sent["reserve_for"]),
	}
	if accepted, err := k.main.report(e, text); err != nil || !accepted {
		return nil, err
	}
	return j, nil
}

// add pushes jobs of a state, one for each content, into a queue that depends on its number, and returns the accepted
// ones.
func (k *filler) add(
	state upgrade.State, all []content, queue func(n int) string, fields func() []string,
) (added []*upgrade.Job, err error) {
	k.filled = state
	for i := range all {
		name := queue(i)
		if all[i].queue != "" {
			name = string(state) + all[i].queue
		}
		j, err := k.push(state, name, &all[i], fields()...)
		if err != nil {
			return added, err
		}
		if j != nil {
			added = append(added, j)
		}
	}
	k.jobs.Jobs = append(k.jobs.Jobs, added...)
	return added, nil
}

// control pushes a job of each content and fetches it at once. It returns the contents that the server accepts and
// delivers, with what it alters by itself, and finds out whether it delivers jobs in order.
func (k *filler) control(all []content) (known []content, err error) {
	k.jobs.InOrder, k.filled = true, upgrade.Done
	c := &controls{filler: k, all: all, last: -1, pushed: map[string]int{}}
	for i := range all {
		queue := "control" + all[i].queue
		j, err := k.push(upgrade.Done, queue, &all[i])
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

// fill brings a server jobs in all states.
func fill(ctx context.Context, site *upgrade.Site) (*upgrade.Inventory, error) {
	draw := rand.New(rand.NewPCG(site.Plan.Seed, uint64(site.Step)))
	k := &filler{ctx: ctx, site: site, unclear: map[string]bool{}, jobs: &upgrade.Inventory{
		Protocol: "fwp", Run: fmt.Sprintf("fwp%016x", draw.Uint64()), Filled: time.Now(),
	}}
	var err error
	if k.main, err = k.connect(1, k.jobs.Run+"-fill"); err != nil {
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
	steps := []func([]content) error{k.fillQueues, k.fillEnds, k.fillFailed, k.fillHeld, k.fillSchedule}
	for _, step := range steps {
		if err := step(all); err != nil {
			return nil, err
		}
	}
	k.jobs.Jobs = slices.DeleteFunc(k.jobs.Jobs, func(j *upgrade.Job) bool { return k.unclear[j.ID] })
	k.jobs.Unclear = slices.Collect(maps.Keys(k.unclear))
	k.jobs.Counts, err = k.counts()
	return k.jobs, err
}

// in returns a function for jobs that are all in one queue.
func in(queue upgrade.State) func(int) string { return func(int) string { return string(queue) } }

// with returns a function for jobs that all have some fields.
func with(fields ...string) func() []string { return func() []string { return fields } }

func (k *filler) fillQueues(all []content) error {
	priorities := []string{"high", "normal", "low"}
	_, err := k.add(upgrade.Enqueued, all, func(i int) string { return priorities[i%len(priorities)] }, with())
	if err == nil {
		_, err = k.add(upgrade.Large, make([]content, k.site.Plan.Large), in(upgrade.Large), with())
	}
	return err
}

// fillEnds makes jobs that are not to come again.
func (k *filler) fillEnds([]content) error {
	plain := make([]content, plainJobs)
	far := time.Now().Add(farAfter)
	jobs, err := k.add(upgrade.Far, plain, in(upgrade.Far), with(`"at":"`+far.UTC().Format(time.RFC3339)+`"`))
	if err != nil {
		return err
	}
	for _, j := range jobs {
		j.Due = far
	}
	for _, end := range []struct {
		state upgrade.State
		retry string
		op    history.Op
	}{
		{upgrade.Dead, `"retry":-1`, history.Fail}, {upgrade.Discarded, `"retry":0`, history.Fail},
		{upgrade.Done, `"retry":3`, history.Ack},
	} {
		if err := k.taken(k.main, end.state, plain, end.op, end.retry); err != nil {
			return err
		}
	}
	return nil
}

// taken pushes jobs, fetches them and reports them, if there is something to report.
func (k *filler) taken(by *keptConn, state upgrade.State, all []content, op history.Op, fields ...string) error {
	jobs, err := k.add(state, all, in(state), with(fields...))
	if err != nil {
		return err
	}
	byID := map[string]*upgrade.Job{}
	for _, j := range jobs {
		byID[j.ID] = j
	}
	for range jobs {
		got, err := by.fetch(k.jobs.Run + "-" + string(state))
		if err != nil {
			return err
		}
		j := byID[fwp.JIDOf(got)]
		if j == nil && k.unreadable > 0 { // it is that of a reply that cannot be read
			continue
		}
		if j == nil {
			return fmt.Errorf("FETCH %s: expected one of the jobs that were accepted there, got %.100q", state, got)
		}
		switch op {
		case history.Ack:
			_, err = by.ack(j.ID)
			j.Over = true
		case history.Fail:
			err = k.fail(by, j, 1)
			j.Over = state != upgrade.Failed
		default:
			j.Due = time.Now().Add(heldFor)
		}
		if err != nil {
			return err
		}
		delete(byID, j.ID)
	}
	for jid := range byID {
		k.unclear[jid] = true
	}
	return nil
}

// fail reports the nth failure of a job.
func (k *filler) fail(by *keptConn, j *upgrade.Job, n int) error {
	argument := fmt.Sprintf(`{"jid":%s,"errtype":"Error%d","message":"failure %d of %s","backtrace":["a.go line 1 %d",`+
		`"b.go line 2 %[2]d"]}`, values.Quote(j.ID), n, n, k.jobs.Run, n)
	accepted, err := by.report(history.Event{Op: history.Fail, JID: j.ID}, argument)
	if accepted {
		j.Report = json.RawMessage(argument)
	}
	return err
}

func (k *filler) fillFailed(all []content) error {
	if k.site.Plan.Quick {
		return nil
	}
	all = notAbout(all, "retry backtrace")
	if err := k.taken(k.main, upgrade.Failed, all, history.Fail, `"backtrace":2`); err != nil {
		return err
	}
	return k.taken(k.main, upgrade.Failed, make([]content, lastTries), history.Fail, `"retry":1`)
}

// fillHeld has two workers hold jobs.
func (k *filler) fillHeld(all []content) error {
	all = notAbout(all, "retry reserve_for")
	for i, state := range []upgrade.State{upgrade.Stays, upgrade.Leaves} {
		if state == upgrade.Leaves && k.site.Plan.Quick {
			return nil
		}
		wid := k.jobs.Run + "-" + string(state)
		c, err := k.connect(2+i, wid)
		if err != nil {
			return err
		}
		context.AfterFunc(k.ctx, c.Leave)
		before := len(k.jobs.Jobs)
		if err := k.taken(c, state, all, 0, `"reserve_for":60`); err != nil {
			return err
		}
		for _, j := range k.jobs.Jobs[before:] {
			j.Worker = wid
		}
	}
	return nil
}

// fillSchedule schedules jobs: the last ones, so that they are not due before the server is stopped.
func (k *filler) fillSchedule(all []content) error {
	for state, after := range map[upgrade.State]time.Duration{upgrade.Soon: soonAfter, upgrade.Later: laterAfter} {
		if state == upgrade.Later && k.site.Plan.Quick {
			continue
		}
		due := time.Now().Add(after)
		jobs, err := k.add(state, all, in(state), with(`"at":"`+due.UTC().Format(time.RFC3339Nano)+`"`))
		if err != nil {
			return err
		}
		for _, j := range jobs {
			j.Due = due
		}
	}
	return nil
}

// counts returns what the server counts, by set, nothing if it does not. The contents of INFO are not laid down.
func (k *filler) counts() (map[string]int64, error) {
	m, err := k.main.ask("", fwp.INFO)
	if errors.Is(err, errUnreadable) {
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
