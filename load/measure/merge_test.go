package measure

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMergedLogsAreTheWhole splits what is recorded over several runs with starts of their own.
func TestMergedLogsAreTheWhole(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 6))
		whole, parts := NewRecorder(), make([]*Recorder, 1+random.IntN(4))
		taken := make([][]*Set, len(parts))
		for i := range parts {
			parts[i] = NewRecorder()
		}
		for second := range 1 + random.IntN(4) {
			play(random, 300, func(book func(*Recorder)) {
				book(whole)
				book(parts[random.IntN(len(parts))])
			})
			for i, part := range parts {
				taken[i] = append(taken[i], part.Take(time.Duration(second+1)*time.Second))
			}
		}
		logs := make([]*LogReader, len(parts))
		for i := range parts {
			start := begun().Add(time.Duration(random.IntN(5000)) * time.Millisecond)
			logs[i] = NewLogReader("part.hlog", strings.NewReader(written(t, start, taken[i]...)))
		}
		var merged strings.Builder
		total, err := Merge(&merged, logs...)
		require.NoError(t, err)
		same(t, whole.Take(0), total)
		for _, log := range logs {
			assert.True(t, log.Complete())
		}

		again, err := Merge(nil, NewLogReader("merged.hlog", strings.NewReader(merged.String())))
		require.NoError(t, err)
		same(t, total, again)
		assert.Equal(t, Window{total.From, total.Until}, Window{again.From, again.Until})
	}
}

func TestMergeAlignsSeconds(t *testing.T) {
	t.Parallel()
	record := func(spans ...Window) (sets []*Set) {
		for _, span := range spans {
			r := NewRecorder()
			r.Job(ToFetched, 0, time.Millisecond)
			set := r.Take(0)
			set.From, set.Until = span.From, span.Until
			sets = append(sets, set)
		}
		return sets
	}
	const s = time.Second
	early := written(t, begun(), record(Window{0, s}, Window{s, 2 * s}, Window{2 * s, 3 * s})...)
	late := written(t, begun().Add(1500*time.Millisecond), record(Window{0, s}, Window{s, 2 * s})...)
	var merged strings.Builder
	total, err := Merge(&merged,
		NewLogReader("late", strings.NewReader(late)),
		NewLogReader("early", strings.NewReader(early)))
	require.NoError(t, err)
	assert.Equal(t, Window{0, 3500 * time.Millisecond}, Window{total.From, total.Until})

	sets, reader, err := readAll(merged.String())
	require.NoError(t, err)
	assert.Equal(t, begun().Truncate(time.Millisecond), reader.Start())
	type second struct {
		span  Window
		count int64
	}
	var got []second
	for _, set := range sets {
		got = append(got, second{Window{set.From, set.Until}, set.Count(FlowSeries(ToFetched))})
	}
	assert.Equal(t, []second{
		{Window{0, s}, 1}, {Window{s, 2500 * time.Millisecond}, 2}, {Window{2 * s, 3500 * time.Millisecond}, 2},
	}, got)
}

func TestMergeTellsErrors(t *testing.T) {
	t.Parallel()
	log := written(t, begun(), twoSeconds()...)
	good := func() *LogReader { return NewLogReader("good.hlog", strings.NewReader(log)) }

	_, err := Merge(nil, good(), NewLogReader("bad.hlog", strings.NewReader("nonsense\n")))
	require.EqualError(t, err, "bad.hlog:1: no line of a log of histograms, as --hlog writes it: expected Tag=NAME,START,LENGTH,MAX,HISTOGRAM")

	_, err = Merge(nil, good(), NewLogReader("bad.hlog", strings.NewReader(log+"nonsense\n")))
	require.ErrorContains(t, err, "bad.hlog:12: more after the end")

	for _, empty := range []string{"", written(t, begun())} {
		_, err = Merge(nil, good(), NewLogReader("empty.hlog", strings.NewReader(empty)))
		require.EqualError(t, err, "empty.hlog has no intervals: is it a log of fwpbench run --hlog?")
	}

	for _, room := range []full{0, 300, 400, 500} { // in each of its intervals, and at its end
		_, err = Merge(&room, good())
		require.ErrorContains(t, err, "no space left on device")
	}

	total, err := Merge(nil)
	require.NoError(t, err)
	same(t, new(Set), total)
}

// A run that is in two logs would count twice, also if one of them was merged.
func TestMergeRefusesARunTwice(t *testing.T) {
	t.Parallel()
	log := func(runs ...string) string {
		var out strings.Builder
		var comments []string
		for _, run := range runs {
			comments = append(comments, RunComment(run))
		}
		w := NewLogWriter(&out, begun(), comments...)
		require.NoError(t, w.Write(twoSeconds()[0]))
		require.NoError(t, w.Close())
		return out.String()
	}
	merge := func(texts ...string) (merged string, err error) {
		var logs []*LogReader
		for i, text := range texts {
			logs = append(logs, NewLogReader(string(rune('a'+i))+".hlog", strings.NewReader(text)))
		}
		var out strings.Builder
		_, err = Merge(&out, logs...)
		return out.String(), err
	}
	_, err := merge(log("one"), log("two"), log("one"))
	require.EqualError(t, err, "run one is in a.hlog and in c.hlog: it would count twice")
	both, err := merge(log("one"), log("two"))
	require.NoError(t, err)
	_, err = merge(both, log("two"))
	require.EqualError(t, err, "run two is in a.hlog and in b.hlog: it would count twice")
	_, err = merge(both, log("three"))
	require.NoError(t, err)
	_, err = merge(log(), log())
	require.NoError(t, err, "a log without its run cannot be recognised")
}

func TestMergedOpsAreInTheOrderOfTables(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	for _, op := range []Op{"take", Ack, Push} {
		r.Error(op, Closed)
	}
	log := written(t, begun(), r.Take(1))
	total, err := Merge(nil, NewLogReader("run.hlog", strings.NewReader(log)))
	require.NoError(t, err)
	assert.Equal(t, []Op{Push, Ack, "take"}, total.Ops())
}
