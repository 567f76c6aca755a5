package double

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// Expectation is what the clients should have done. Each job is an object with some of the fields that the job must
// have; it stands for one command, so that a job that is expected twice must be there twice.
type Expectation struct {
	Pushed       []json.RawMessage `json:"pushed,omitempty"`
	Fetched      []json.RawMessage `json:"fetched,omitempty"`
	Acknowledged []json.RawMessage `json:"acknowledged,omitempty"`
	Failed       []json.RawMessage `json:"failed,omitempty"`
	Queue        QueueName         `json:"queue,omitempty"` // only commands about its jobs count; absent: all
	// in the lists that are given: true, or for how long after all is as expected, "500ms"
	NothingElse json.RawMessage `json:"nothing_else,omitempty"`
	NoMistakes  bool            `json:"no_mistakes,omitempty"`
	// how far apart the times of a job may be, "2s"; empty: not at all
	Tolerance string `json:"tolerance,omitempty"`
	// of waiting until all is as expected: "5s", at most 30 s; empty: 0
	Timeout string `json:"timeout,omitempty"`
}

// terms are an expectation whose texts are read.
type terms struct {
	lists       []jobList
	queue       string
	nothingElse bool
	noMistakes  bool
	tolerance   time.Duration
	wait, calm  time.Duration // until all is as expected, and from then on
}

// jobList is one of the lists of an expectation.
type jobList struct {
	kind    string
	jobs    []json.RawMessage // nil: the list was not given
	decoded []any
}

// terms reads an expectation. It is an error if what was given expects nothing, so that all would be as expected
// whatever the clients did: an empty list is meant to say that nothing happened.
func (want Expectation) terms() (t terms, err error) {
	t = terms{queue: string(want.Queue), noMistakes: want.NoMistakes}
	if t.nothingElse, t.calm, err = readNothingElse(want.NothingElse); err != nil {
		return t, err
	}
	var timeErr, toleranceErr error
	t.wait, timeErr = readDuration("timeout", want.Timeout)
	t.tolerance, toleranceErr = readDuration("tolerance", want.Tolerance)
	if err = cmp.Or(timeErr, toleranceErr); err != nil {
		return t, err
	}
	if t.lists, err = want.lists(t.nothingElse); err != nil {
		return t, err
	}
	if len(t.lists) == 0 && (t.nothingElse || !t.noMistakes) {
		return t, errors.New("nothing is expected: give pushed, fetched, acknowledged or failed, or only no_mistakes")
	}
	if !slices.ContainsFunc(t.lists, func(l jobList) bool { return len(l.jobs) > 0 }) {
		t.wait, t.calm = 0, max(t.calm, t.wait) // what is to be seen is that nothing comes
	}
	if t.wait > maxWait || t.calm > maxWait || t.wait+t.calm > maxWait {
		return t, fmt.Errorf("timeout and nothing_else must be at most %v together", maxWait)
	}
	return t, nil
}

// lists returns those that were given.
func (want Expectation) lists(nothingElse bool) (all []jobList, err error) {
	for _, list := range []jobList{
		{kind: "pushed", jobs: want.Pushed}, {kind: "fetched", jobs: want.Fetched},
		{kind: "acknowledged", jobs: want.Acknowledged}, {kind: "failed", jobs: want.Failed},
	} {
		switch {
		case list.jobs == nil:
			continue
		case len(list.jobs) == 0 && !nothingElse:
			return nil, fmt.Errorf("%s: an empty list expects nothing: expected jobs, or nothing_else", list.kind)
		}
		if list.decoded, err = objects(list.kind, list.jobs); err != nil {
			return nil, err
		}
		all = append(all, list)
	}
	return all, nil
}

// readNothingElse reads whether nothing else may have happened, and for how long from then on.
func readNothingElse(value json.RawMessage) (isWanted bool, calm time.Duration, err error) {
	var duration string
	switch {
	case value == nil || json.Unmarshal(value, &isWanted) == nil:
		return isWanted, 0, nil
	case json.Unmarshal(value, &duration) != nil || duration == "":
		return false, 0, fmt.Errorf("nothing_else must be true, false or a duration such as \"500ms\", not %.100s", value)
	}
	calm, err = readDuration("nothing_else", duration)
	return true, calm, err
}

// readDuration reads a duration that is not negative; empty: 0.
func readDuration(name, value string) (time.Duration, error) {
	if value == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s must be a duration such as \"5s\", not %.100q", name, value)
	}
	return d, nil
}

// Verify returns what is different from an expectation, nothing if all is as expected. It is an error if a job of the
// expectation is not a JSON object, or if nothing is expected.
func (d *Double) Verify(want Expectation) (differences []string, err error) {
	t, err := want.terms()
	if err != nil {
		return nil, err
	}
	return d.differences(t), nil
}

// differences returns what is different now.
func (d *Double) differences(t terms) (differences []string) {
	for _, list := range t.lists {
		var happened [][]byte
		for _, e := range d.entries(func(e *Entry) bool { return e.kind() == list.kind }) {
			for _, unit := range e.units {
				if t.queue == "" || queueOf(unit) == t.queue {
					happened = append(happened, unit)
				}
			}
		}
		differences = append(differences, list.compare(happened, t)...)
	}
	if t.noMistakes {
		for _, e := range d.Summary().Mistakes {
			if t.queue == "" || e.isAbout(t.queue) {
				differences = append(differences, fmt.Sprintf("mistake: %s (command %d: %s)", e.Mistake, e.Number, e.Command))
			}
		}
	}
	return differences
}

// maxWait is how long a verification waits at most, which is well below what the control gives a request.
const maxWait = 30 * time.Second

// Await is Verify, again and again until nothing is different or the time of the expectation is over, and from then on
// for the time in which nothing else may happen. It blocks for so long, or until ctx is done.
func (d *Double) Await(ctx context.Context, want Expectation) (differences []string, err error) {
	t, err := want.terms()
	if err != nil {
		return nil, err
	}
	isDifferent := func() bool { differences = d.differences(t); return len(differences) > 0 }
	d.watch(ctx, t.wait, func() bool { return !isDifferent() })
	if len(differences) == 0 && t.calm > 0 {
		d.watch(ctx, t.calm, isDifferent)
	}
	return differences, nil
}

// watch asks whether it is over, now and after each change, until it is, or the time is over.
func (d *Double) watch(ctx context.Context, duration time.Duration, isOver func() bool) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	for {
		d.mu.Lock()
		changed := d.journal.changed
		d.mu.Unlock()
		if isOver() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// objects decodes the jobs of an expectation.
func objects(kind string, jobs []json.RawMessage) ([]any, error) {
	var all []any
	for i, job := range jobs {
		value, err := number.Decode(job)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", kind, i, err)
		}
		if _, ok := value.(map[string]any); !ok {
			return nil, fmt.Errorf("%s[%d]: a job must be a JSON object, not %s", kind, i, job)
		}
		all = append(all, value)
	}
	return all, nil
}

// compare returns the expected jobs that did not happen, and what else happened if that matters.
func (l jobList) compare(happened [][]byte, t terms) (differences []string) {
	units := make([]any, len(happened))
	for i, unit := range happened {
		units[i], _ = number.Decode(unit) // a job that is not JSON matches nothing
	}
	pairs := pair(len(l.decoded), len(units), func(i, k int) bool { return contains(units[k], l.decoded[i], t.tolerance) })
	for i, job := range l.jobs {
		if pairs[i] < 0 {
			differences = append(differences, fmt.Sprintf("%s: no job like %s (%d were %s)", l.kind, job, len(happened), l.kind))
		}
	}
	for k, unit := range happened {
		if t.nothingElse && !slices.Contains(pairs, k) {
			differences = append(differences, fmt.Sprintf("%s: not expected: %s", l.kind, shortenLine(unit)))
		}
	}
	return differences
}

// pair pairs as many of n things as possible with one of m others each, and returns for each of the n its partner, -1
// if it has none. A thing whose only partner is taken makes the taker look for another one.
func pair(n, m int, fits func(i, k int) bool) []int {
	partner, taker := slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, m)
	var seek func(i int, tried []bool) bool
	seek = func(i int, tried []bool) bool {
		for k := range m {
			if tried[k] || !fits(i, k) {
				continue
			}
			tried[k] = true
			if taker[k] < 0 || seek(taker[k], tried) {
				partner[i], taker[k] = k, i
				return true
			}
		}
		return false
	}
	for i := range n {
		seek(i, make([]bool, m))
	}
	return partner
}
