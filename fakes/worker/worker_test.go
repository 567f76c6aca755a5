package worker

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// singleExecutor has a worker with one executor, and a BEAT each 15 s.
func singleExecutor(c *Config) { c.Concurrency = 1 }

const hello = `0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}`

// What a conforming worker sends, on several days, to the byte.
func TestLifeOfAWorker(t *testing.T) {
	t.Parallel()
	const fail = `FAIL {"backtrace":["fakeworker.run","fakeworker.perform"],"errtype":"RuntimeError","jid":`
	tests := map[string]struct {
		day  day
		want string
	}{
		"jobs": {
			day{jobs: []string{unit("a", jobtype.OK, "[]"), unit("b", jobtype.Fail, `["why"]`)}, ends: 3 * time.Second}, `
0.100 s C: ACK {"jid":"a"}
0.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
0.100 s C: ` + fail + `"b","message":"why"}
0.100 s C: FETCH high low
0.100 s C: FETCH high low
0.100 s C: FETCH high low
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
2.100 s C: FETCH high low
4.100 s C: END
4.100 s C: END
5.100 s exit 0
`},
		"quiet": {
			day{rules: stateRule("quiet"), ends: 31 * time.Second, jobs: []string{unit("a", jobtype.Sleep, "[14]")}}, `
0.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
0.100 s C: FETCH high low
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
14.100 s C: ACK {"jid":"a"}
14.100 s C: FETCH high low
15.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
30.100 s C: BEAT {"current_state":"quiet","rss_kb":20000,"wid":"w-1"}
31.000 s C: END
31.000 s C: END
32.000 s exit 0
`},
		"terminate": {
			day{jobs: []string{unit("a", jobtype.Sleep, "[90]")}, ends: 10 * time.Second}, `
0.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
0.100 s C: FETCH high low
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
15.100 s C: BEAT {"current_state":"terminate","rss_kb":20000,"wid":"w-1"}
30.100 s C: BEAT {"current_state":"terminate","rss_kb":20000,"wid":"w-1"}
35.000 s C: END
35.000 s C: END
35.000 s C: ` + fail + `"a","message":"the worker was terminated while the job ran"}
36.000 s exit 0
`},
		"the server forgets the worker": {
			day{
				rules: "on ran BEAT; from 2; first 1: reply '-ERR Unknown worker w-1'", ends: 2500 * time.Millisecond,
				configure: func(c *Config) { c.BeatEvery = time.Second },
			}, `
0.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
0.100 s C: FETCH high low
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
1.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
1.100 s C: END
1.300 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
1.300 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
2.100 s C: END
2.200 s C: FETCH high low
2.200 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
2.300 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
3.300 s C: BEAT {"current_state":"terminate","rss_kb":20000,"wid":"w-1"}
4.200 s C: END
4.200 s C: END
5.200 s exit 0
`},
		"a report without a reply is repeated": {
			day{jobs: []string{unit("a", jobtype.OK, "[]")}, rules: lossRule("ACK"), ends: time.Second}, `
0.100 s C: ACK {"jid":"a"}
0.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}
0.100 s C: FETCH high low
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
0.100 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
0.300 s C: ACK {"jid":"a"}
0.300 s C: FETCH high low
0.300 s C: HELLO {"hostname":"host","labels":["go"],"pid":7,"v":2,"wid":"w-1"}
2.300 s C: END
2.300 s C: END
3.300 s exit 0
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, "\n"+test.day.play(t, singleExecutor))
		})
	}
}

// Each thing that a hook can do at a point, as far as no bug does it.
func TestHook(t *testing.T) {
	t.Parallel()
	set := func(p Point, verb string, act func(*Event)) func(*Event) {
		return func(e *Event) {
			if e.Point == p && (verb == "" || e.Verb == verb) {
				act(e)
			}
		}
	}
	jobs := day{jobs: []string{unit("a", jobtype.OK, "[]")}, ends: 3 * time.Second}
	pushes := day{pushes: []string{`{"jid":"a","jobtype":"x","args":[]}`}}
	tests := map[string]struct {
		day  day
		hook func(*Event)
		want string // "!": it is not there
	}{
		"Sending, skip":  {jobs, set(Sending, fwp.ACK, skip), "!ACK"},
		"Sending, delay": {jobs, set(Sending, fwp.ACK, func(e *Event) { e.Delay = time.Second }), "1.100 s C: ACK"},
		"Sending, ahead": {
			jobs, set(Sending, fwp.ACK, func(e *Event) { e.ExtraLines = []byte("INFO\r\n") }), `ACK {"jid":"a"}\r\nINFO`,
		},
		"Replied, again":    {jobs, set(Replied, fwp.ACK, repeatFirst()), repeatLine(`0.100 s C: ACK {"jid":"a"}`)},
		"Replied, close":    {jobs, set(Replied, fwp.HELLO, func(e *Event) { e.Close = true }), "!FETCH"},
		"Replied, exit":     {jobs, set(Replied, fwp.ACK, func(e *Event) { e.Exit = true }), "exit 1"},
		"Fetching, delay":   {jobs, set(Fetching, "", postponeFetch(time.Hour)), "!FETCH"},
		"Fetching, queues":  {jobs, set(Fetching, "", func(e *Event) { e.Queues = []string{"x"} }), `FETCH x`},
		"Delivered, skip":   {jobs, set(Delivered, "", skip), "!ACK"},
		"Delivered, again":  {jobs, set(Delivered, "", repeat), repeatLine(`0.100 s C: ACK {"jid":"a"}`)},
		"Ran, again":        {jobs, set(Ran, "", repeat), repeatLine(`0.100 s C: ACK {"jid":"a"}`)},
		"Beating, skip":     {jobs, set(Beating, "", skip), "!BEAT"},
		"Beating, every":    {jobs, set(Beating, "", func(e *Event) { e.Interval = time.Second }), "3.100 s C: BEAT"},
		"Ordered, state":    {jobs, set(Ordered, "", func(e *Event) { e.State = "terminate" }), "!5.100 s exit 0"},
		"Ending, skip":      {jobs, set(Ending, "", skip), "!END"},
		"Exiting, delay":    {jobs, set(Exiting, "", func(e *Event) { e.Delay = time.Second }), "6.100 s exit 0"},
		"Exiting, code":     {jobs, set(Exiting, "", func(e *Event) { e.Code = 9 }), "exit 9"},
		"Introducing, skip": {jobs, set(Introducing, "", skip), "!HELLO"},
		"Pushing, skip":     {pushes, set(Pushing, "", skip), "!PUSH"},
		"Pushing, again":    {pushes, set(Pushing, "", repeat), repeatLine(`0.100 s C: PUSH {"args":[],"jid":"a","jobtype":"x"}`)},
		"Pushed, state":     {pushes, set(Pushed, "", func(e *Event) { e.State = "refused" }), "exit 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transcript := test.day.play(t, func(c *Config) { c.Hook = test.hook })
			text, isMissing := strings.CutPrefix(test.want, "!")
			assert.Equal(t, isMissing, !strings.Contains(transcript, text), transcript)
			assert.Equal(t, isMissing, strings.Contains(test.day.play(t, nil), text), "without the hook")
		})
	}
}

// repeatFirst repeats the first step.
func repeatFirst() func(*Event) {
	var first sync.Once
	return func(e *Event) { first.Do(func() { e.Repeat = true }) }
}

// The points of a worker's life, in their order on a connection, and what the events have there.
func TestPoints(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	points := map[bool][]Point{} // by whether the connection is that for BEAT
	d := day{jobs: []string{unit("a", jobtype.OK, "[]")}, ends: time.Second}
	d.play(t, func(c *Config) {
		c.Concurrency = 1
		c.Hook = func(e *Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Conn > 0 {
				points[e.IsBeatConn] = append(points[e.IsBeatConn], e.Point)
			}
			assert.NotNil(t, e.Worker)
			switch e.Point {
			case Introducing:
				assert.Equal(t, fwp.Hi{Version: 2}, e.Hi)
				assert.Equal(t, `HI {"v":2}`, string(e.Reply.Text))
			case Delivered, Ran:
				assert.Equal(t, "a", e.Job.JID)
			case Quitting:
				assert.Equal(t, 25*time.Second, e.Interval)
			case Ordered:
				assert.Contains(t, []string{"", "terminate"}, e.State)
			}
		}
	})
	assert.Equal(t, []Point{
		Dialed, Introducing, Sending, Replied, Beating, Sending, Replied, Ordered, Ending, Sending, Replied,
	}, points[true])
	assert.Equal(t, []Point{
		Dialed, Introducing, Sending, Replied, Fetching, Sending, Replied, Delivered, Ran, Sending, Replied, Fetching,
		Sending, Replied, Fetching, Ending, Sending, Replied,
	}, points[false])
}

// When a worker dials again while nothing listens: the pauses double up to 5 s.
func TestPausesBetweenDials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var mu sync.Mutex
		var dials []string
		var logged []string
		w := New(Config{
			URL: "tcp://server", Concurrency: 1, Hook: func(e *Event) { e.Skip = e.Point == ConnectionLost && e.IsBeatConn },
			Dial: func(_ context.Context, network, addr string) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, "tcp server:7419", network+" "+addr)
				dials = append(dials, time.Since(begin).String())
				return nil, errors.New("nobody")
			},
			Log: func(line string) {
				mu.Lock()
				defer mu.Unlock()
				logged = append(logged, line)
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		assert.Equal(t, 137, w.Run(ctx))
		assert.Equal(t, []string{
			"0s", "0s", "100ms", "300ms", "700ms", "1.5s", "3.1s", "6.3s", "11.3s", "16.3s",
		}, dials, "the connection for BEAT and that of the executor; then the executor alone")
		assert.Equal(t, "dial server:7419: nobody", logged[0])
	})
}

func TestWhereTheServerIs(t *testing.T) {
	t.Parallel()
	lookup := func(values map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	}
	tests := map[string]struct {
		config     Config
		addr, pass string
		server     string // of TLS
	}{
		"url":           {Config{URL: "tcp://:secret@host:99", Lookup: lookup(nil)}, "host:99", "secret", ""},
		"usual port":    {Config{URL: "tcp://host"}, "host:7419", "", ""},
		"IPv6":          {Config{URL: "tcp://[::1]"}, "[::1]:7419", "", ""},
		"TLS":           {Config{URL: "tcp+tls://host"}, "host:7419", "", "host"},
		"FAKTORY_URL":   {Config{Lookup: lookup(map[string]string{"FAKTORY_URL": "tcp://a"})}, "a:7419", "", ""},
		"escaped":       {Config{URL: "tcp://:p%40ss@host"}, "host:7419", "p@ss", ""},
		"nothing known": {Config{}, ":7419", "", ""},
		"FAKTORY_PROVIDER": {Config{Lookup: lookup(map[string]string{
			"FAKTORY_PROVIDER": "X", "X": "tcp://b", "FAKTORY_URL": "tcp://a",
		})}, "b:7419", "", ""},
	}
	for name, test := range tests {
		w := New(test.config)
		require.NoError(t, w.parse(), name)
		assert.Equal(t, test.addr, w.addr, name)
		assert.Equal(t, test.pass, w.pass, name)
		if test.server == "" {
			assert.Nil(t, w.tls, name)
		} else {
			assert.Equal(t, test.server, w.tls.ServerName, name)
		}
	}
	assert.Equal(t, 2, New(Config{URL: "tcp://%zz"}).Run(t.Context()), "what is no URL")
	assert.Equal(t, 2, New(Config{URL: "tcp://%zz"}).Produce(t.Context(), strings.NewReader(""), nil))
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := New(Config{}).Config()
	assert.Equal(t, []string{"default"}, c.Queues)
	assert.Equal(t, 2, c.Concurrency)
	assert.Equal(t, []string{"go"}, c.Labels)
	assert.Equal(t, [3]time.Duration{15 * time.Second, 25 * time.Second, 100 * time.Millisecond},
		[3]time.Duration{c.BeatEvery, c.Grace, c.FirstPause})
	assert.GreaterOrEqual(t, len(c.WID), 8)
	assert.NotEqual(t, c.WID, New(Config{}).Config().WID)
	assert.NotZero(t, c.PID)
	config := Config{Queues: []string{"q"}, Concurrency: 7, WID: "w", Hostname: "h", PID: 1, Labels: []string{}, Grace: 1}
	result := New(config).Config()
	assert.Equal(t, []any{config.Queues, 7, "w", "h", 1, []string{}, time.Duration(1)},
		[]any{result.Queues, result.Concurrency, result.WID, result.Hostname, result.PID, result.Labels, result.Grace})
}

func TestJobTypes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ jobtype, args, failure string }{
		"ok":              {jobtype.OK, `[]`, ""},
		"fail":            {jobtype.Fail, `["why"]`, "why"},
		"fail, no reason": {jobtype.Fail, `[]`, jobtype.Fail},
		"fail, a number":  {jobtype.Fail, `[1]`, jobtype.Fail},
		"echo":            {jobtype.Echo, `[1,"ü",null]`, `[1,"ü",null]`},
		"sleep, a text":   {jobtype.Sleep, `["x"]`, "fwp.sleep takes a number of seconds"},
		"unknown":         {"x", `[]`, `unknown job type "x"`},
	}
	for name, test := range tests {
		job, err := parseJob([]byte(unit("j", test.jobtype, test.args)))
		require.NoError(t, err)
		failure := New(Config{}).run(t.Context(), job)
		if test.failure == "" {
			assert.NoError(t, failure, name)
		} else {
			assert.EqualError(t, failure, test.failure, name)
		}
	}
	_, err := parseJob([]byte(`{"jid":1}`))
	assert.Error(t, err)
}

// A producer says of each job what became of it, and its exit code whether all were pushed.
func TestProduce(t *testing.T) {
	t.Parallel()
	job := func(jid string) string { return `{"jid":"` + jid + `","jobtype":"x","args":[]}` }
	tests := map[string]struct {
		day  day
		want []string
	}{
		"pushed": {day{pushes: []string{job("a"), "", job("b")}}, []string{"pushed a", "pushed b", "exit 0"}},
		"refused": {
			day{pushes: []string{job("a")}, rules: "on ran PUSH; first 1: reply '-ERR no'"}, []string{"refused a", "exit 1"},
		},
		"lost":    {day{pushes: []string{job("a")}, rules: lossRule("PUSH")}, []string{"refused a", "exit 1"}},
		"no JSON": {day{pushes: []string{"{", job("a")}}, []string{"pushed a", "exit 1"}},
		"nothing": {day{pushes: []string{""}}, []string{"exit 0"}},
		"its own": {day{pushes: []string{`{"jobtype":"x","args":[]}`}}, []string{"pushed fakeworker", "exit 0"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transcript := test.day.play(t, singleExecutor)
			for _, want := range test.want {
				assert.Contains(t, transcript, "s "+want)
			}
			assert.NotContains(t, transcript, "BEAT")
		})
	}
}

// The variations that need what no day has.
func TestRareVariations(t *testing.T) {
	t.Parallel()
	act := func(name string) func(e *Event) {
		var c Config
		for _, v := range Variations() {
			if v.Name == name {
				v.Configure(&c)
			}
		}
		require.NotNil(t, c.Hook, name)
		return c.Hook
	}
	slashes := &Event{Point: Sending, Line: []byte(`ACK {"jid":"a/b"}`)}
	act("json-slashes")(slashes)
	assert.Equal(t, `ACK {"jid":"a\/b"}`, string(slashes.Line))
	event := &Event{Point: Ran, Outcome: Failed, Fields: Fields{"message": strings.Repeat("ü", 101)}}
	act("message-short")(event)
	assert.Equal(t, strings.Repeat("ü", 100), event.Fields["message"])
	assert.True(t, json.Valid(encode(event.Fields)))
}

// A line in pieces is one with several writes.
func TestInPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		line := "FETCH " + strings.Repeat("q", 60) + "\r\n"
		go func() { _, _ = chunkWriter{a}.Write([]byte(line)) }()
		buffer := make([]byte, 100)
		for _, want := range []string{line[:48], line[48:]} {
			n, err := b.Read(buffer)
			require.NoError(t, err)
			assert.Equal(t, want, string(buffer[:n]))
		}
	})
}

// TestEachTypeHasAnExecution: the worker has the job types of package jobtype, and no other.
func TestEachTypeHasAnExecution(t *testing.T) {
	t.Parallel()
	assert.ElementsMatch(t, jobtype.Names(jobtype.FWP()), slices.Collect(maps.Keys(new(Worker).executions())))
}
