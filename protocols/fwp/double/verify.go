package double

import (
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
	Pushed       []json.RawMessage `json:"pushed"`
	Fetched      []json.RawMessage `json:"fetched"`
	Acknowledged []json.RawMessage `json:"acknowledged"`
	Failed       []json.RawMessage `json:"failed"`
	NothingElse  bool              `json:"nothing_else"` // in the lists that are given
	NoMistakes   bool              `json:"no_mistakes"`
	// of waiting until all is as expected: "5s", at most 30 s; empty: 0
	Timeout string `json:"timeout,omitempty"`
}

// jobList is one of the lists of an expectation; nil jobs: it was not given.
type jobList struct {
	kind string
	jobs []json.RawMessage
}

// lists returns those that were given. It is an error if what was given expects nothing, so that all would be as
// expected whatever the clients did: an empty list is meant to say that nothing happened.
func (want Expectation) lists() (lists []jobList, err error) {
	for _, list := range []jobList{
		{"pushed", want.Pushed}, {"fetched", want.Fetched},
		{"acknowledged", want.Acknowledged}, {"failed", want.Failed},
	} {
		switch {
		case list.jobs == nil:
			continue
		case len(list.jobs) == 0 && !want.NothingElse:
			return nil, fmt.Errorf("%s: an empty list expects nothing: expected jobs, or nothing_else", list.kind)
		}
		lists = append(lists, list)
	}
	if len(lists) == 0 && (want.NothingElse || !want.NoMistakes) {
		return nil, errors.New("nothing is expected: give pushed, fetched, acknowledged or failed, or only no_mistakes")
	}
	return lists, nil
}

// Verify returns what is different from an expectation, nothing if all is as expected. It is an error if a job of the
// expectation is not a JSON object, or if nothing is expected.
func (d *Double) Verify(want Expectation) (differences []string, err error) {
	lists, err := want.lists()
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		expected, err := objects(list.kind, list.jobs)
		if err != nil {
			return nil, err
		}
		var happened [][]byte
		for _, e := range d.entries(func(e *Entry) bool { return e.kind() == list.kind }) {
			happened = append(happened, e.units...)
		}
		differences = append(differences, compare(list.kind, list.jobs, expected, happened, want.NothingElse)...)
	}
	if want.NoMistakes {
		for _, e := range d.Summary().Mistakes {
			differences = append(differences, fmt.Sprintf("mistake: %s (command %d: %s)", e.Mistake, e.Number, e.Command))
		}
	}
	return differences, nil
}

// maxWait is how long a verification waits at most, which is well below what the control gives a request.
const maxWait = 30 * time.Second

// Await is Verify, again and again until nothing is different or the time of the expectation is over. It blocks for so
// long, or until ctx is done.
func (d *Double) Await(ctx context.Context, want Expectation) (differences []string, err error) {
	if want.Timeout != "" {
		wait, err := time.ParseDuration(want.Timeout)
		if err != nil || wait < 0 || wait > maxWait {
			return nil, fmt.Errorf("timeout must be a duration of at most %v, such as \"5s\"", maxWait)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	for {
		d.mu.Lock()
		changed := d.journal.changed
		d.mu.Unlock()
		if differences, err = d.Verify(want); err != nil || len(differences) == 0 || want.Timeout == "" {
			return differences, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return differences, nil
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
func compare(kind string, jobs []json.RawMessage, expected []any, happened [][]byte, nothingElse bool) []string {
	units := make([]any, len(happened))
	for i, unit := range happened {
		units[i], _ = number.Decode(unit) // a job that is not JSON matches nothing
	}
	pairs := pair(len(expected), len(units), func(i, k int) bool { return contains(units[k], expected[i]) })
	var differences []string
	for i := range expected {
		if pairs[i] < 0 {
			differences = append(differences, fmt.Sprintf("%s: no job like %s (%d were %s)", kind, jobs[i], len(happened), kind))
		}
	}
	for k, unit := range happened {
		if nothingElse && !slices.Contains(pairs, k) {
			differences = append(differences, fmt.Sprintf("%s: not expected: %s", kind, shortenLine(unit)))
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
