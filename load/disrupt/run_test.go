package disrupt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/disrupt"
)

// journal is a target and a watch that keep what happens and when.
type journal struct {
	began      time.Time
	lines      []string
	begin, end error
	endCtx     error // of the context with which the last one was ended
}

func (j *journal) note(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf("%v ", time.Since(j.began))+fmt.Sprintf(format, args...))
}

func (j *journal) Begin(_ context.Context, d disrupt.Disruption) (func(context.Context) error, error) {
	j.note("do %s", d.Action)
	return func(ctx context.Context) error {
		j.note("undo %s", d.Action)
		j.endCtx = ctx.Err()
		return j.end
	}, j.begin
}

func (j *journal) Begins(d disrupt.Disruption)           { j.note("begins %s", d.Action) }
func (j *journal) Ended(d disrupt.Disruption, err error) { j.note("ended %s %v", d.Action, err) }

func ran(t *testing.T, j *journal, limit time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j.began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		disrupt.Run(ctx, []disrupt.Disruption{
			{Action: disrupt.Pause, At: time.Second, For: 2 * time.Second}, {Action: disrupt.Reset, At: 5 * time.Second},
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
		"cannot be begun": {journal: journal{begin: errors.New("no")}, limit: time.Minute,
			want: append(pause, "1s ended pause no", "5s begins reset", "5s do reset", "5s ended reset no")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := test.journal
			ran(t, &j, test.limit)
			assert.Equal(t, test.want, j.lines)
			assert.NoError(t, j.endCtx, "a disruption is ended whether the run is or not")
		})
	}
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	s := time.Second
	var track disrupt.Track
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
	first, back := track.Recovery(disrupt.Span{Since: 0, Began: 6 * s, Ended: 8 * s, Until: 20 * s})
	assert.Equal(t, 520*ms, first)
	assert.InDelta(t, 1800*ms, back, float64(100*ms), "the first second with 90 a second begins at about 9.8 s")

	first, back = track.Recovery(disrupt.Span{Began: 6 * s, Ended: 8 * s, Until: 8400 * ms})
	assert.Negative(t, first, "the next one came before")
	assert.Negative(t, back)
	first, back = track.Recovery(disrupt.Span{Began: 6 * s, Ended: 8 * s, Until: 10 * s})
	assert.Positive(t, first)
	assert.Negative(t, back, "at half of the rate")
	first, back = track.Recovery(disrupt.Span{Since: 6200 * ms, Began: 8 * s, Ended: 9 * s, Until: 20 * s})
	assert.Positive(t, first)
	assert.Negative(t, back, "there was no rate before")
	first, _ = track.Recovery(disrupt.Span{Began: 30 * s, Ended: 31 * s, Until: 32 * s})
	assert.Negative(t, first)
}
