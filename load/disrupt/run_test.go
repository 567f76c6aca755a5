package disrupt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/disrupt"
)

// journal is a target and a watch that keep what happens and when.
type journal struct {
	start      time.Time
	lines      []string
	begin, end error
	hasEnd     bool  // one that cannot be begun has an end
	endCtx     error // of the context with which the last one was ended
}

func (j *journal) note(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf("%v ", time.Since(j.start))+fmt.Sprintf(format, args...))
}

func (j *journal) Begin(_ context.Context, d disrupt.Disruption) (func(context.Context) error, error) {
	j.note("do %s", d.Action)
	if j.begin != nil && !j.hasEnd {
		return nil, j.begin
	}
	return func(ctx context.Context) error {
		j.note("undo %s", d.Action)
		j.endCtx = ctx.Err()
		return j.end
	}, j.begin
}

func (j *journal) NoteBegin(d disrupt.Disruption)          { j.note("begins %s", d.Action) }
func (j *journal) NoteEnd(d disrupt.Disruption, err error) { j.note("ended %s %v", d.Action, err) }

func runJournal(t *testing.T, j *journal, limit time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j.start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		disrupt.Run(ctx, []disrupt.Disruption{
			{Action: target.Pause, At: time.Second, Length: 2 * time.Second}, {Action: target.Reset, At: 5 * time.Second},
		}, j, j)
	})
}

func TestRun(t *testing.T) {
	t.Parallel()
	pause := []string{"1s begins pause", "1s do pause"}
	for name, test := range map[string]struct {
		journal journal
		limit   time.Duration
		want    []string
	}{
		"in order": {limit: time.Minute, want: append(pause, "3s undo pause", "3s ended pause <nil>",
			"5s begins reset", "5s do reset", "5s undo reset", "5s ended reset <nil>")},
		"ended in the first": {limit: 2 * time.Second, want: append(pause, "2s undo pause", "2s ended pause <nil>")},
		"ended between them": {limit: 4 * time.Second, want: append(pause, "3s undo pause", "3s ended pause <nil>")},
		"ended before all":   {limit: time.Millisecond},
		"cannot be ended": {journal: journal{end: errors.New("no")}, limit: time.Minute,
			want: append(pause, "3s undo pause", "3s ended pause no")},
		"half begun": {journal: journal{begin: errors.New("half"), hasEnd: true}, limit: 4 * time.Second,
			want: append(pause, "1s undo pause", "1s ended pause half")},
		"cannot be begun": {journal: journal{begin: errors.New("no")}, limit: time.Minute,
			want: append(pause, "1s ended pause no", "5s begins reset", "5s do reset", "5s ended reset no")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := test.journal
			runJournal(t, &j, test.limit)
			assert.Equal(t, test.want, j.lines)
			assert.NoError(t, j.endCtx, "a disruption is ended whether the run is or not")
		})
	}
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	s := time.Second
	var track disrupt.ServedCounts
	served := int64(0)
	for at := time.Duration(0); at <= 20*s; at += 20 * ms {
		switch { // 100 a second; none from 6 s to 8.5 s, half of them until 10 s
		case at <= 6*s, at > 10*s:
			served += 2
		case at > 8500*ms:
			served++
		}
		track.Add(at, served)
	}
	first, back := track.Recovery(disrupt.Span{PreviousEnd: 0, Begin: 6 * s, End: 8 * s, NextBegin: 20 * s})
	assert.Equal(t, 520*ms, first)
	assert.InDelta(t, 1800*ms, back, float64(100*ms), "the first second with 90 a second begins at about 9.8 s")

	first, back = track.Recovery(disrupt.Span{Begin: 6 * s, End: 8 * s, NextBegin: 8400 * ms})
	assert.Negative(t, first, "the next one came before")
	assert.Negative(t, back)
	first, back = track.Recovery(disrupt.Span{Begin: 6 * s, End: 8 * s, NextBegin: 10 * s})
	assert.Positive(t, first)
	assert.Negative(t, back, "at half of the rate")
	first, back = track.Recovery(disrupt.Span{PreviousEnd: 6200 * ms, Begin: 8 * s, End: 9 * s, NextBegin: 20 * s})
	assert.Positive(t, first)
	assert.Negative(t, back, "there was no rate before")
	first, _ = track.Recovery(disrupt.Span{Begin: 30 * s, End: 31 * s, NextBegin: 32 * s})
	assert.Negative(t, first)
}

// The rate is back with the first second that has 90 % of the mean of the five seconds before the disruption.
func TestRecoveryOfTheRate(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct {
		before, after  int64 // served each 100 ms; before it began, and from 2 s after its end on
		until          time.Duration
		served, backAt time.Duration
	}{
		"90 %":                      {before: 10, after: 9, until: 30 * s, served: 2100 * ms, backAt: 2100 * ms},
		"less than 90 %":            {before: 10, after: 8, until: 30 * s, served: 2100 * ms, backAt: -1},
		"a second is missing":       {before: 10, after: 10, until: 13 * s, served: 2100 * ms, backAt: -1},
		"the next came just after":  {before: 10, after: 10, until: 13100 * ms, served: 2100 * ms, backAt: 2100 * ms},
		"nothing was served before": {after: 10, until: 30 * s, served: 2100 * ms, backAt: -1},
		"nothing is served after":   {before: 10, until: 30 * s, served: -1, backAt: -1},
	} {
		var track disrupt.ServedCounts
		total := int64(0)
		for at := time.Duration(0); at <= 30*s; at += 100 * ms {
			switch {
			case at <= 8*s:
				total += test.before
			case at > 12*s:
				total += test.after
			}
			track.Add(at, total)
		}
		served, back := track.Recovery(disrupt.Span{Begin: 8 * s, End: 10 * s, NextBegin: test.until})
		assert.Equal(t, test.served, served, name)
		assert.Equal(t, test.backAt, back, name)
	}
}
