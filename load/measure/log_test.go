package measure

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startTime is when the runs of these tests began.
func startTime() time.Time { return time.Date(2026, 9, 21, 14, 13, 20, 250_000_000, time.UTC) }

// writeLog returns a log of the sets.
func writeLog(tb testing.TB, start time.Time, sets ...*Set) string {
	tb.Helper()
	var out strings.Builder
	w := NewLogWriter(&out, start)
	for _, set := range sets {
		require.NoError(tb, w.Write(set))
	}
	require.NoError(tb, w.Close())
	return out.String()
}

func read(log string) (*Log, error) { return ReadLog("run.hlog", strings.NewReader(log)) }

// twoSeconds has two sets: one value, and none but an error.
func twoSeconds() []*Set {
	r := NewRecorder()
	r.SetWindow(Window{Until: time.Second})
	r.Job(ToAcked, 0, 1500*time.Microsecond)
	r.Job(ToAcked, 0, 2*time.Hour)
	r.Command(Beat, Timing{Intended: time.Minute})
	first := r.Take(1007 * time.Millisecond)
	r.CountError(Push, Rejected)
	r.Drop(12)
	return []*Set{first, r.Take(2*time.Second + 1)}
}

func TestLogAsText(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := NewLogWriter(&out, startTime(), "one", "two")
	for _, set := range twoSeconds() {
		require.NoError(t, w.Write(set))
	}
	require.NoError(t, w.Close())
	lines := strings.Split(out.String(), "\n")
	payload := lines[6][strings.LastIndex(lines[6], ",")+1:]
	assert.Equal(t, strings.Join([]string{
		"#[Histogram log format version 1.3]",
		"# fwpbench run one",
		"# fwpbench run two",
		"#[StartTime: 1790000000 (seconds since epoch), 2026-09-21T14:13:20Z]",
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`,
		"# fwpbench counts beat.aside=1 job.acked.above=1",
		"Tag=job.acked,1790000000.250000,1.007000,3601330.077695," + payload,
		"# fwpbench counts dropped=12 push.rejected=1",
		"# fwpbench end: 1 histograms",
		"",
	}, "\n"), out.String())
	assert.True(t, strings.HasPrefix(payload, "HISTFAAAA"), "the beginning of V2 by the format's description: %s", payload)
}

// What is written is read again, and the seconds of a log are added up.
func TestLogRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random, r := rand.New(rand.NewPCG(seed, 3)), NewRecorder()
		r.SetWindow(Window{Until: 900})
		total := new(Set)
		var sets []*Set
		for i := range 1 + random.IntN(5) {
			bookRandom(random, 1+random.IntN(300), func(book func(*Recorder)) { book(r) })
			sets = append(sets, r.Take(time.Duration(i+1)*time.Second+time.Duration(random.IntN(1e3))*time.Millisecond))
			total.Add(sets[i])
		}
		log, err := read(writeLog(t, startTime(), sets...))
		require.NoError(t, err)
		requireSameSets(t, total, log.Total)
		assert.InDelta(t, total.Until, log.Total.Until, float64(time.Millisecond), "the library has milliseconds")
		assert.True(t, log.IsComplete)
		assert.WithinDuration(t, startTime(), log.Start, time.Millisecond)
	}
}

// Other tools leave out the comments: the counts beside the histograms are lost then, and nothing else.
func TestLogsWithoutComments(t *testing.T) {
	t.Parallel()
	set := newFilledSet(500)
	var out strings.Builder
	writer := hdrhistogram.NewHistogramLogWriter(&out)
	require.NoError(t, writer.OutputStartTime(startTime().Unix()*1000))
	require.NoError(t, writer.OutputBaseTime(startTime().Unix()*1000))
	writer.SetBaseTime(startTime().Unix() * 1000)
	for second := range int64(2) {
		for series, h := range set.Histograms() {
			h = h.Clone()
			h.SetTag(series.String())
			h.SetStartTimeMs((startTime().Unix() + second) * 1000)
			h.SetEndTimeMs((startTime().Unix() + second + 1) * 1000)
			require.NoError(t, writer.OutputIntervalHistogram(h))
		}
	}
	log, err := read(out.String())
	require.NoError(t, err)
	total := new(Set)
	total.Add(set)
	total.Add(set)
	requireSameSets(t, total, log.Total)
	assert.Equal(t, 2*time.Second, log.Total.Until)
	assert.True(t, startTime().Truncate(time.Second).Equal(log.Start))
	assert.False(t, log.IsComplete)
}

func TestDamagedLogs(t *testing.T) {
	t.Parallel()
	log := writeLog(t, startTime(), twoSeconds()...)
	lines := strings.SplitAfter(log, "\n")
	data := lines[4]
	other := hdrhistogram.New(1, 1000, 2)
	require.NoError(t, other.RecordValue(5))
	foreign, err := other.EncodeV2()
	require.NoError(t, err)
	swap := func(line int, text string) string {
		changed := append([]string(nil), lines...)
		changed[line-1] = text + "\n"
		return strings.Join(changed, "")
	}
	tests := []struct{ name, log, want string }{
		{"cut in a histogram", log[:strings.Index(log, data)+len(data)-9], "run.hlog:5: "},
		{"flipped in a histogram", swap(5, data[:len(data)-20]+"AAAA"+data[len(data)-16:len(data)-1]), "run.hlog:5: "},
		{"cut before the histogram", swap(5, data[:20]), "run.hlog:7: this is not a line of a histogram log (--hlog)"},
		{"no tag", swap(5, data[strings.Index(data, ",")+1:]), `run.hlog:5: unknown tag ""`},
		{"unknown tag", swap(5, strings.Replace(data, "job.", "cow.", 1)), `run.hlog:5: unknown tag "cow.acked"`},
		{"other buckets", swap(5, "Tag=job.acked,0,1,1,"+string(foreign)), "run.hlog:5: histogram of job.acked: expected 3 " +
			"significant"},
		{"unknown count", swap(6, "# fwpbench counts push.forgotten=1"), `run.hlog:6: unknown count "push.forgotten"`},
		{"no count", swap(6, "# fwpbench counts dropped"), `run.hlog:6: count "dropped": expected a number`},
		{"a histogram is gone", strings.Replace(log, data, "", 1),
			"run.hlog:6: the log should have 1 histograms and has 0"},
		{"two logs", log + log, "run.hlog:8: data after the end"},
		{"no log", strings.Repeat("x", longestLine+1), "run.hlog:0: bufio.Scanner: token too long"},
		{"nothing", "", "run.hlog has no histograms: is it a log of fwpbench run --hlog?"},
		{"words", "nonsense\n", "run.hlog:1: this is not a line of a histogram log"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(tt.log)
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), tt.want), "%s\nwant %s", err, tt.want)
		})
	}
}

// TestEveryCutIsFound cuts a log at every byte: it is an error, or the log is not complete.
func TestEveryCutIsFound(t *testing.T) {
	t.Parallel()
	log := writeLog(t, startTime(), twoSeconds()...)
	for end := range len(log) - 1 { // without the last line break it is whole
		cut, err := read(log[:end])
		require.True(t, err != nil || !cut.IsComplete, "cut at %d", end)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add(writeLog(f, startTime(), twoSeconds()...))
	f.Add("Tag=push.service,1,2,3,HISTFAAAA\n#[StartTime: 1]")
	f.Fuzz(func(t *testing.T, text string) {
		log, err := read(text)
		if err == nil {
			require.NotNil(t, log.Total)
		}
	})
}

// smallDisk is a disk with room for that many bytes.
type smallDisk int

func (f *smallDisk) Write(p []byte) (int, error) {
	if *f -= smallDisk(len(p)); *f < 0 {
		return len(p) + int(*f), errors.New("no space left on device")
	}
	return len(p), nil
}

func TestFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	disk := smallDisk(400)
	w, sets := NewLogWriter(&disk, startTime()), twoSeconds()
	require.NoError(t, w.Write(sets[1]))
	err := w.Write(sets[0])
	require.ErrorContains(t, err, "write histogram log: no space left on device")
	disk = 1e6
	assert.Equal(t, err, w.Write(sets[0]), "no hole in the log when there is room again")
	assert.Equal(t, err, w.Close())

	none := smallDisk(10)
	require.ErrorContains(t, WritePercentiles(&none, sets[0], FlowSeries(ToAcked)),
		"write percentiles of job.acked: no space")
}

// TestMergedLogsAreTheSum splits what is recorded over several runs with starts of their own.
func TestMergedLogsAreTheSum(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 6))
		sumRecorder, parts := NewRecorder(), make([]*Recorder, 1+random.IntN(4))
		sets := make([][]*Set, len(parts))
		for i := range parts {
			parts[i] = NewRecorder()
		}
		for second := range 1 + random.IntN(4) {
			bookRandom(random, 300, func(book func(*Recorder)) {
				book(sumRecorder)
				book(parts[random.IntN(len(parts))])
			})
			for i, part := range parts {
				sets[i] = append(sets[i], part.Take(time.Duration(second+1)*time.Second))
			}
		}
		var logs []*Log
		first := startTime().Add(time.Hour)
		for i := range parts {
			start := startTime().Add(time.Duration(random.IntN(5000)) * time.Millisecond)
			if start.Before(first) {
				first = start
			}
			log, err := read(writeLog(t, start, sets[i]...))
			require.NoError(t, err)
			logs = append(logs, log)
		}
		sum, err := Merge(logs...)
		require.NoError(t, err)
		requireSameSets(t, sumRecorder.Take(0), sum.Total)
		assert.WithinDuration(t, first, sum.Start, time.Millisecond)
		assert.True(t, sum.IsComplete)
	}
}

// A run that is in two logs would count twice, also if one of them was merged.
func TestMergeRefusesARunTwice(t *testing.T) {
	t.Parallel()
	log := func(name string, runs ...string) *Log { return &Log{File: name, Runs: runs, Total: new(Set)} }
	_, err := Merge(log("a.hlog", "one"), log("b.hlog", "two"), log("c.hlog", "one"))
	require.EqualError(t, err, "run one is in a.hlog and in c.hlog: it would count twice")
	merged, err := Merge(log("a.hlog", "one"), log("b.hlog", "two"))
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two"}, merged.Runs)
	merged.File = "both.hlog"
	_, err = Merge(merged, log("c.hlog", "two"))
	require.EqualError(t, err, "run two is in both.hlog and in c.hlog: it would count twice")
	_, err = Merge(log("a.hlog"), log("b.hlog"))
	require.NoError(t, err, "a log without its run cannot be recognised")
}

func TestMergedOpsAreInTheOrderOfTables(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	for _, op := range []Op{"take", Ack, Push} {
		r.CountError(op, Closed)
	}
	log, err := read(writeLog(t, startTime(), r.Take(1)))
	require.NoError(t, err)
	sum, err := Merge(log)
	require.NoError(t, err)
	assert.Equal(t, []Op{Push, Ack, "take"}, sum.Total.Ops())
}

func BenchmarkWrite(b *testing.B) {
	disk := smallDisk(1 << 62)
	w, set := NewLogWriter(&disk, startTime()), newFilledSet(5000)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, w.Write(set))
	}
}
