package measure

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// begun is when the runs of these tests began.
func begun() time.Time { return time.Date(2026, 9, 21, 14, 13, 20, 250_400_000, time.UTC) }

// written returns a log of the sets.
func written(tb testing.TB, start time.Time, sets ...*Set) string {
	tb.Helper()
	var out strings.Builder
	w := NewLogWriter(&out, start, "fwpbench", "two\nlines")
	for _, set := range sets {
		require.NoError(tb, w.Write(set))
	}
	require.NoError(tb, w.Close())
	return out.String()
}

func readAll(log string) (sets []*Set, r *LogReader, err error) {
	r = NewLogReader("run.hlog", strings.NewReader(log))
	for {
		set, err := r.Next()
		if errors.Is(err, io.EOF) {
			return sets, r, nil
		}
		if err != nil {
			return sets, r, err
		}
		sets = append(sets, set)
	}
}

// twoSeconds has two sets: one value, and none but an error.
func twoSeconds() []*Set {
	r := NewRecorder()
	r.SetWindow(Window{Until: time.Second})
	r.Job(ToAcked, 0, 1500*time.Microsecond)
	r.Job(ToAcked, 0, 2*time.Hour)
	r.Command(Beat, Timing{Intended: time.Minute})
	first := r.Take(1007 * time.Millisecond)
	r.Error(Push, Rejected)
	r.Drop(12)
	return []*Set{first, r.Take(2*time.Second + 1)}
}

func TestLogAsText(t *testing.T) {
	t.Parallel()
	log := written(t, begun(), twoSeconds()...)
	lines := strings.Split(log, "\n")
	payload := lines[8][strings.LastIndex(lines[8], ",")+1:]
	assert.Equal(t, strings.Join([]string{
		"#[Histogram log format version 1.3]",
		"# fwpbench",
		"# two",
		"# lines",
		"#[StartTime: 1790000000.250 (seconds since epoch), Mon Sep 21 14:13:20 UTC 2026]",
		"#[BaseTime: 1790000000.250 (seconds since epoch)]",
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`,
		"#[Interval: 0.000000,1.007000 beat.aside=1 job.acked.above=1]",
		"Tag=job.acked,0.000000,1.007000,3601330.078," + payload,
		"#[Interval: 1.007000,0.993000 dropped=12 push.rejected=1]",
		"#[Complete: 2 intervals]",
		"",
	}, "\n"), log)
	assert.True(t, strings.HasPrefix(payload, "HISTFAAAA"), "the beginning of V2 by the format's description: %s", payload)
}

func TestLogRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random, r := rand.New(rand.NewPCG(seed, 3)), NewRecorder()
		r.SetWindow(Window{Until: 900})
		var sets []*Set
		for i := range 1 + random.IntN(5) {
			play(random, random.IntN(300), func(book func(*Recorder)) { book(r) })
			sets = append(sets, r.Take(time.Duration(i+1)*time.Second+time.Duration(random.IntN(1e6))*time.Microsecond))
		}
		back, reader, err := readAll(written(t, begun(), sets...))
		require.NoError(t, err)
		require.Len(t, back, len(sets))
		for i := range sets {
			same(t, sets[i], back[i])
			assert.Equal(t, Window{sets[i].From, sets[i].Until}, Window{back[i].From, back[i].Until})
		}
		assert.True(t, reader.Complete())
		assert.Equal(t, begun().Truncate(time.Millisecond), reader.Start())
	}
}

// TestLibraryReadsOurLog reads the log with the library.
func TestLibraryReadsOurLog(t *testing.T) {
	t.Parallel()
	random, r := rand.New(rand.NewPCG(4, 4)), NewRecorder()
	var sets []*Set
	for i := range 3 {
		play(random, 200, func(book func(*Recorder)) { book(r) })
		sets = append(sets, r.Take(time.Duration(i+1)*time.Second))
	}
	theirs := hdrhistogram.NewHistogramLogReader(strings.NewReader(written(t, begun(), sets...)))
	for i, set := range sets {
		for series, want := range set.Histograms() {
			got, err := theirs.NextIntervalHistogram()
			require.NoError(t, err)
			require.NotNil(t, got)
			assert.Equal(t, series.String(), got.Tag())
			assert.True(t, want.Equals(got), series)
			start := begun().UnixMilli() + int64(i)*1000
			assert.InDelta(t, start, got.StartTimeMs(), 1, "absolute, by the base time")
			assert.InDelta(t, start+1000, got.EndTimeMs(), 1)
		}
	}
	last, err := theirs.NextIntervalHistogram()
	require.NoError(t, err)
	assert.Nil(t, last)
}

// TestWeReadTheLibrarysLog: no comments of ours, whole seconds in the head, absolute times.
func TestWeReadTheLibrarysLog(t *testing.T) {
	t.Parallel()
	set := filled(500)
	for name, base := range map[string]int64{"absolute": 0, "relative": begun().Unix() * 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			theirs := hdrhistogram.NewHistogramLogWriter(&out)
			require.NoError(t, theirs.OutputLogFormatVersion())
			require.NoError(t, theirs.OutputStartTime(begun().Unix()*1000))
			if base != 0 {
				require.NoError(t, theirs.OutputBaseTime(base))
				theirs.SetBaseTime(base)
			}
			require.NoError(t, theirs.OutputLegend())
			for second := range int64(2) {
				for series, h := range set.Histograms() {
					h = h.Clone()
					h.SetTag(series.String())
					h.SetStartTimeMs((begun().Unix() + second) * 1000)
					h.SetEndTimeMs((begun().Unix() + second + 1) * 1000)
					require.NoError(t, theirs.OutputIntervalHistogram(h))
				}
			}
			sets, reader, err := readAll(out.String())
			require.NoError(t, err)
			require.Len(t, sets, 2)
			for i, got := range sets {
				same(t, set, got)
				assert.Equal(t, time.Duration(i)*time.Second, got.From)
				assert.Equal(t, time.Duration(i+1)*time.Second, got.Until)
			}
			assert.False(t, reader.Complete())
		})
	}
}

// TestEncodingIsTheLibrarys compares what is compressed, byte for byte.
func TestEncodingIsTheLibrarys(t *testing.T) {
	t.Parallel()
	inflate := func(encoded []byte) string {
		raw, err := base64.StdEncoding.DecodeString(string(encoded))
		require.NoError(t, err)
		z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
		require.NoError(t, err)
		plain, err := io.ReadAll(z)
		require.NoError(t, err)
		return string(raw[:4]) + string(plain)
	}
	var e encoder
	random := rand.New(rand.NewPCG(5, 5))
	for values := range 200 {
		h := newHistogram()
		for range values + 1 { // the library encodes an empty histogram as one count of zero
			v := random.Int64N(highest >> random.IntN(40))
			require.NoError(t, h.RecordValues(v, 1+random.Int64N(1<<random.IntN(54)/200+1)))
		}
		ours, err := e.appendTo(nil, h)
		require.NoError(t, err)
		theirs, err := h.EncodeV2()
		require.NoError(t, err)
		require.Equal(t, inflate(theirs), inflate(ours))
	}
}

func TestDamagedLogs(t *testing.T) {
	t.Parallel()
	log := written(t, begun(), twoSeconds()...)
	lines := strings.SplitAfter(log, "\n")
	data := lines[8]
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
		{"cut in a histogram", log[:strings.Index(log, data)+len(data)-9], "run.hlog:9: histogram of job.acked: "},
		{"flipped in a histogram", swap(9, data[:len(data)-20]+"AAAA"+data[len(data)-16:len(data)-1]),
			"run.hlog:9: histogram of job.acked: "},
		{"cut before the histogram", swap(9, data[:20]), "run.hlog:9: no line of a log of histograms, as --hlog writes it: expected Tag=NAME"},
		{"no tag", swap(9, data[strings.Index(data, ",")+1:]), "run.hlog:9: no line of a log of histograms, as --hlog writes it: expected Tag=NAME"},
		{"unknown tag", swap(9, strings.Replace(data, "job.", "cow.", 1)), `run.hlog:9: unknown tag "cow.acked"`},
		{"no number", swap(9, strings.Replace(data, "1.007", "x", 1)), `run.hlog:9: expected seconds, got "x`},
		{"no finite number", swap(9, strings.Replace(data, "1.007000", "NaN", 1)), `run.hlog:9: expected seconds, got "NaN"`},
		{"no maximum", swap(9, strings.Replace(data, "3601330.078", "?", 1)),
			`run.hlog:9: expected the interval's maximum, got "?"`},
		{"other buckets", swap(9, "Tag=job.acked,0,1,1,"+string(foreign)), "run.hlog:9: histogram of job.acked: expected 3 " +
			"significant"},
		{"cut comment", strings.TrimSuffix(strings.Join(lines[:8], ""), "1]\n"), "run.hlog:8: expected ] at the end"},
		{"unknown count", swap(10, "#[Interval: 1,1 push.forgotten=1]"),
			`run.hlog:10: Interval: unknown count "push.forgotten"`},
		{"no count", swap(10, "#[Interval: 1,1 dropped]"), `run.hlog:10: Interval: count "dropped": expected a number`},
		{"no interval", swap(10, "#[Interval: 1]"), `run.hlog:10: Interval: expected seconds, got ""`},
		{"no start", swap(5, "# nothing"), "run.hlog:8: Interval: expected a StartTime before"},
		{"two starts", swap(6, strings.TrimSuffix(lines[4], "\n")), "run.hlog:6: StartTime: a second one"},
		{"other version", swap(1, "#[Histogram log format version 2.0]"), "run.hlog:1: expected version 1"},
		{"interval gone", strings.Join(append(append([]string(nil), lines[:9]...), lines[10]), ""),
			"run.hlog:10: Complete: the log was written with 2 intervals and has 1"},
		{"no number of intervals", swap(11, "#[Complete: all]"), `run.hlog:11: Complete: expected a number, got "all"`},
		{"two logs", log + log, "run.hlog:12: more after the end"},
		{"no log", strings.Repeat("x", longestLine+1), "run.hlog:1: a line of more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, reader, err := readAll(tt.log)
			var damage *LogError
			require.ErrorAs(t, err, &damage)
			assert.True(t, strings.HasPrefix(err.Error(), tt.want), "%s\nwant %s", err, tt.want)
			_, again := reader.Next()
			assert.Equal(t, err, again, "the error stays")
		})
	}
}

// TestEveryCutIsFound cuts a log at every byte: it is an error, or the log is not complete.
func TestEveryCutIsFound(t *testing.T) {
	t.Parallel()
	log := written(t, begun(), twoSeconds()...)
	for end := range len(log) - 1 { // without the last line break it is whole
		_, reader, err := readAll(log[:end])
		require.True(t, err != nil || !reader.Complete(), "cut at %d", end)
	}
}

func FuzzLogReader(f *testing.F) {
	f.Add(written(f, begun(), twoSeconds()...))
	f.Add("Tag=push.service,1,2,3,HISTFAAAA\n#[StartTime: 1]")
	f.Fuzz(func(t *testing.T, log string) {
		sets, _, err := readAll(log)
		if err != nil {
			var damage *LogError
			require.ErrorAs(t, err, &damage)
			return
		}
		for _, set := range sets {
			require.NotNil(t, set)
		}
	})
}

// full is a disk with room for that many bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return len(p) + int(*f), errors.New("no space left on device")
	}
	return len(p), nil
}

func TestFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	disk := full(400)
	w, sets := NewLogWriter(&disk, begun()), twoSeconds()
	require.NoError(t, w.Write(sets[1]))
	err := w.Write(sets[0])
	require.ErrorContains(t, err, "write histogram log: no space left on device")
	disk = 1e6
	assert.Equal(t, err, w.Write(sets[0]), "no hole in the log when there is room again")
	assert.Equal(t, err, w.Close())

	none := full(10)
	require.ErrorContains(t, WritePercentiles(&none, sets[0], FlowSeries(ToAcked)),
		"write percentiles of job.acked: no space")
}

func BenchmarkWrite(b *testing.B) {
	w, set := NewLogWriter(io.Discard, begun()), filled(5000)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, w.Write(set))
	}
}

// BenchmarkEncode compares our encoder with the library's: a histogram of a second with 5,000 commands.
func BenchmarkEncode(b *testing.B) {
	h := filled(5000).Histogram(SeriesOf(Push, Service))
	b.Run("ours", func(b *testing.B) {
		var e encoder
		var out []byte
		var err error
		b.ReportAllocs()
		for b.Loop() {
			out, err = e.appendTo(out[:0], h)
			require.NoError(b, err)
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := h.EncodeV2()
			require.NoError(b, err)
		}
	})
}
