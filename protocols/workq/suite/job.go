package suite

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// state is that of a job.
type state uint8

const (
	absent state = iota // it was not added yet
	ready
	leased
	completed
	failed
	scheduled
	deleted // also by its time to live
	open    // what becomes of it is not known any more: any reply may come
)

// config is one way in which things may stand with a job. A job has several where it cannot be known which is true:
// around a moment at which time changes it, and while commands about it are under way.
type config struct {
	state           state
	attempts, fails uint64
	result          []byte    // of the worker; nil if there is none
	expired         bool      // its last lease ended with its time to run
	from, to        time.Time // between which it came into its state
	calls           int       // commands that had been sent by then
	bornBy          time.Time // its time to live began between born and this; born is that of the job
	born            time.Time
	timed           bool   // a span of time is the reason that it is in no other state
	evicted         bool   // its time to live was over before it had ended
	unfound         bool   // it was asked for by its id, and was not there
	met             []meet // what commands under way have met that may have been carried out already
}

// meet is what a command finds where it is carried out. replies are the kinds of those that it may have; view is how
// the job is then.
type meet struct {
	call    *call
	replies string
	view    *config
}

// call is a command under way.
type call struct {
	workq.Command
	// from 1: two calls differ, even where they have the same bytes and were sent at one reading of the clock
	number    int
	bytes     []byte
	malformed bool
	wrong     string    // the argument or flag for which it is malformed, empty for another reason
	sent      time.Time // no part of it is carried out before
	behind    bool      // another command was under way on the connection
	taken     string    // the clause by which it is taken, where its reply is judged
	lapses    []string  // the keys in [law.Server.Lapses] of the jobs that it may add
}

// adds reports whether the command adds a job.
func (k *call) adds() bool {
	return k.Verb == workq.Add || k.Verb == workq.Schedule || k.Verb == workq.Run
}

// job is what a law knows of a job: the command that has added it, and how things may stand.
type job struct {
	workq.Command
	configs []config
	created string // as inspect has shown it first
	cleaned bool   // it was deleted behind the play
	again   []byte // the payload of the last command that would add another one with its id; nil if there was none
	passed  passed // by a lease

	asked, added time.Time  // when the command was sent, and when it was answered
	lapses       string     // its key, as call.lapses has it
	clock        *law.Clock // of the server
}

// second reports whether a payload is that of a command that should have added nothing.
func (j *job) second(payload []byte) bool {
	return j.again != nil && bytes.Equal(payload, j.again) && !bytes.Equal(payload, j.Block)
}

// forever is more than any job lives or runs.
const forever = 10 * 365 * 24 * time.Hour

// late is by how much a server may be late with what is due. The document gives no tolerance; scripts have this one.
const late = 2 * time.Second

// skew is how far the clock of a server may be from ours, for times that are written.
const skew = time.Second

func milliseconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(forever/time.Millisecond))) * time.Millisecond //nolint:gosec // ten years
}

// leasable reports whether a worker may get the job. (add, max-attempts)
func (j *job) leasable(c config) bool {
	return c.state == ready && (j.MaxAttempts == 0 || c.attempts < j.MaxAttempts)
}

// next returns what time makes of a configuration: the earliest moment and the latest one; false if nothing.
func (j *job) next(c config) (then config, from, to time.Time, is bool) {
	then = c
	switch c.state {
	case scheduled:
		due, _ := workq.Time(j.Time) // the reader has checked it
		then.state, from, to = ready, later(due.Add(-skew), c.from), later(due.Add(skew), c.to)
	case leased:
		run := milliseconds(j.TTR)
		from, to = c.from.Add(run), c.to.Add(run)
		switch {
		case j.Verb == workq.Run: // its client gets -TIMEOUT; what becomes of the job is open
			then.state = open
		case j.MaxAttempts > 0 && c.attempts >= j.MaxAttempts:
			then.state, then.result = failed, nil
		default:
			then.state, then.expired = ready, true
		}
	default:
		if c.state != ready || j.Verb != workq.Run {
			return c, from, to, false
		}
		then.state = open // its client may have given up, and has not been told yet
		from, to = c.from.Add(milliseconds(j.Wait)), c.to.Add(forever)
	}
	then.from, then.to = from, to.Add(late)
	return then, from, then.to, true
}

// ends returns between which moments the time to live is over; false for a job that has none, or is not there.
func (j *job) ends(c config) (from, to time.Time, is bool) {
	if c.state == absent || c.state == deleted || c.state == open || j.Verb == workq.Run {
		return from, to, false
	}
	life := milliseconds(j.TTL)
	return c.born.Add(life), c.bornBy.Add(life + late), true
}

// lapse returns what time may have made of a configuration by now, without what it still may be.
func (j *job) lapse(c config, now time.Time) (all []config) {
	if then, from, to, is := j.next(c); is && !now.Before(from) {
		then.timed, then.to = true, earlier(to, now)
		all = append(all, then)
	}
	if from, to, is := j.ends(c); is && !now.Before(from) {
		c.evicted = !c.over()
		c.state, c.timed, c.from, c.to = deleted, true, from, earlier(to, now)
		all = append(all, c)
	}
	return all
}

// until returns when a configuration is over at the latest.
func (j *job) until(c config) time.Time {
	end := c.to.Add(forever)
	if c.to.IsZero() {
		end = end.AddDate(9999, 0, 0)
	}
	if _, _, to, is := j.next(c); is {
		end = to
	}
	if _, to, is := j.ends(c); is {
		end = earlier(end, to)
	}
	return end
}

// follow widens the configurations by all that may have happened by now: what time does, and the commands under way in
// any order. calls is how many commands were sent so far. It returns false if the configurations are too many.
func (j *job) follow(under []*call, calls int, now time.Time) bool {
	const most = 400
	add := func(from, into config) {
		if into.state != from.state {
			into.calls = calls
		}
		j.add(into)
	}
	for seen := 0; seen < len(j.configs); { // what is added on the way has its turn, too
		c := j.configs[seen]
		seen++
		for _, n := range j.lapse(c, now) {
			add(c, n)
		}
		for _, k := range under {
			if c.metBy(k) == nil {
				for _, n := range j.carry(k, c, now) {
					add(c, n)
				}
			}
		}
		if len(j.configs) > most {
			return false
		}
	}
	return true
}

// prune drops the configurations that are over.
func (j *job) prune(now time.Time) {
	left := slices.DeleteFunc(slices.Clone(j.configs), func(c config) bool { return now.After(j.until(c)) })
	if len(left) > 0 {
		j.configs = left
	}
}

// add adds a configuration that is not there yet; one that differs in its calls alone is there.
func (j *job) add(c config) {
	for i, o := range j.configs {
		if o.calls = c.calls; o.state == c.state && o.from.Equal(c.from) && o.to.Equal(c.to) && reflect.DeepEqual(o, c) {
			j.configs[i].calls = max(j.configs[i].calls, c.calls)
			return
		}
	}
	j.configs = append(j.configs, c)
}

// precedes reports whether the configuration was there for certain when a command was sent. Much may happen at one
// reading of a clock.
func (c config) precedes(k *call) bool {
	return c.to.Before(k.sent) || c.to.Equal(k.sent) && c.calls < k.number && !k.behind
}

// open ends the judging of the job.
func (j *job) open() { j.configs = []config{{state: open}} }

// all reports whether something holds however things stand.
func (j *job) all(is func(config) bool) bool {
	return !slices.ContainsFunc(j.configs, func(c config) bool { return !is(c) })
}

// may reports whether the job may be in a state.
func (j *job) may(s state) bool {
	return slices.ContainsFunc(j.configs, func(c config) bool { return c.state == s })
}

// removed reports whether a client has deleted the job, rather than time.
func (c config) removed() bool { return c.state == deleted && !c.timed }

// gone reports whether the job is certainly not there any more, whatever has deleted it.
func (c config) gone() bool { return c.removed() || c.state == deleted && c.unfound }

func (c config) over() bool { return c.state == completed || c.state == failed }

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }
func later(a, b time.Time) time.Time   { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
