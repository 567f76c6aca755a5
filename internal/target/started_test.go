package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// awaitServer awaits a server that is ready after so long, on a machine that is late by so much at the first look, in
// virtual time. It returns how long that took, what was told, and the error.
func awaitServer(t *testing.T, after, lateness time.Duration) (took time.Duration, messages []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begun, meter := time.Now(), new(machine.Meter)
		output := new(lastLines)
		_, _ = output.Write([]byte("reading 9 GB of jobs\n"))
		i := &StartedServer{running: &RunningProgram{done: make(chan struct{})}, output: output, starter: &Starter{
			Patience: 30 * time.Second, Ready: func(context.Context, *Server) error {
				meter.Note(time.Now(), lateness)
				if time.Since(begun) < after {
					return errors.New("connection refused")
				}
				return nil
			},
		}}
		ctx := WithReporter(t.Context(), func(format string, args ...any) { messages = append(messages, fmt.Sprintf(format, args...)) })
		err = i.await(ctx, meter)
		took = time.Since(begun)
	})
	return took, messages, err
}

// TestSlowServers: a server gets longer on a machine that is late, and the wait is told while it lasts.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	took, messages, err := awaitServer(t, 2*time.Second, 0)
	require.NoError(t, err)
	assert.Empty(t, messages)
	assert.Equal(t, 2*time.Second, took)

	took, _, err = awaitServer(t, 29*time.Second, 0)
	require.NoError(t, err)
	assert.Equal(t, 29*time.Second, took)

	took, messages, err = awaitServer(t, time.Hour, 0)
	assert.InDelta(t, 30*time.Second, took, float64(time.Second))
	_, failed := errors.AsType[*StartError](err)
	assert.True(t, failed)
	assert.EqualError(t, err, "the server of --start: it was not ready within 30s (--start-timeout): connection "+
		"refused; the last lines that it printed:\n  reading 9 GB of jobs")
	assert.Len(t, messages, 5)
	assert.Equal(t, "waiting for the server of --start: not ready after 5s, 25s left: connection refused",
		messages[0])

	lateness := time.Second
	grown := 30*time.Second + machine.Grace(lateness, 30*time.Second)
	took, messages, err = awaitServer(t, grown-time.Second, lateness)
	require.NoError(t, err, "the lag may explain it")
	assert.Equal(t, grown-time.Second, took)
	assert.Contains(t, messages[0], "46s left")
	took, _, err = awaitServer(t, grown+5*time.Second, lateness)
	require.ErrorContains(t, err, "it was not ready within 51s")
	assert.InDelta(t, grown, took, float64(time.Second))
}

// Starts are bounded: those of a slow command by the processors. A wait is reported where it is longer than
// the first one explains.
func TestStartsAreBounded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		first        time.Duration
		perProcessor int // starts, for each processor
	}{{time.Second, 4}, {SlowStart, 1}, {time.Minute, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := newStarts()
			assert.True(t, s.isWorthReport(tellPause))
			leave, err := s.enter(t.Context())
			require.NoError(t, err)
			leave(test.first)
			limit := test.perProcessor * runtime.GOMAXPROCS(0)
			for range limit {
				leave, err = s.enter(t.Context())
				require.NoError(t, err)
			}
			limited, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err = s.enter(limited)
			require.ErrorIs(t, err, context.DeadlineExceeded, "%d starts beside each other", limit+1)
			leave(0)
			_, err = s.enter(t.Context())
			require.NoError(t, err, "there is room again")

			assert.False(t, s.isWorthReport(2*test.first-1), "the first took as long")
			assert.True(t, s.isWorthReport(2*test.first))
			assert.False(t, s.isWorthReport(2*test.first), "one line for all of them")
			time.Sleep(tellPause)
			assert.True(t, s.isWorthReport(2*test.first))
		})
	}
}

// What a server printed at some time is told in few lines: why something of it ended, with the place, else the last
// ones.
func TestPrintedIsTheReasonWithItsPlace(t *testing.T) {
	t.Parallel()
	const python = "Traceback (most recent call last):\n  File \"threading.py\", line 1038, in run\n    self.run()\n" +
		"  File \"server.py\", line 41, in serve\n    self.handle(line)\n" +
		"  File \"server.py\", line 77, in handle\n    job[\"jid\"]\nKeyError: 'jid'\n"
	for name, test := range map[string]struct {
		printed string
		want    []string
	}{
		"nothing":  {"\n\n", nil},
		"the last": {"one\ntwo\n\nthree\nfour\nfive\nsix\n", []string{"two", "three", "four", "five", "six"}},
		"a short traceback": {
			"x\nTraceback (most recent call last):\n  File \"a.py\", line 7, in f\nKeyError: 'a'\nmore\n",
			[]string{"Traceback (most recent call last):", `  File "a.py", line 7, in f`, "KeyError: 'a'"},
		},
		"a thread": {"x\nException in thread Thread-7:\n" + python + python + "more\n", []string{
			"Traceback (most recent call last):", `  File "server.py", line 77, in handle`, `    job["jid"]`, "KeyError: 'jid'",
		}},
		"in a library, and another thread in between": {
			"Traceback (most recent call last):\n  File \"/usr/lib/python3.11/threading.py\", line 8, in run\n" +
				"Traceback (most recent call last):\n  File \"server.py\", line 7, in f\n    loads(x)\n    ^^^^^^^^\n" +
				"  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw\n    raise\n" +
				"json.JSONDecodeError: Expecting value\n",
			[]string{
				"Traceback (most recent call last):", `  File "server.py", line 7, in f`, "    loads(x)", "  ...",
				"json.JSONDecodeError: Expecting value",
			},
		},
		"a panic": {
			"x\npanic: a nil map\n\ngoroutine 5 [running]:\nmain.f(...)\n\t/a/server.go:12 +0x1d\n" + strings.Repeat("more\n",
				50),
			[]string{
				"panic: a nil map", "goroutine 5 [running]:", "main.f(...)", "    /a/server.go:12 +0x1d", "more", "more", "more",
				"more",
			},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := new(lastLines)
			_, _ = io.WriteString(l, "panic: an earlier one\n")
			time.Sleep(time.Second)
			from := time.Now()
			_, _ = io.WriteString(l, test.printed)
			to := time.Now()
			time.Sleep(time.Second)
			_, _ = io.WriteString(l, "panic: a later one\n")
			assert.Equal(t, test.want, l.linesBetween(from, to), name)
		})
	}
}

// broken is a file that takes one line.
type broken struct{ lines int }

func (b *broken) Write(line []byte) (int, error) {
	if b.lines++; b.lines > 1 {
		return 0, errors.New("no space left")
	}
	return len(line), nil
}

// A log has the whole lines of all servers, with the port of each. That it is not whole is told once.
func TestLog(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	l := NewLog(&file)
	l.noteStart(7001, "serve {port}")
	a, b := &lastLines{all: l.writer(7001)}, &lastLines{all: l.writer(7002)}
	long := strings.Repeat("x", 2*maxBytes)
	for _, part := range []string{"on", "e\r\n" + long + "\nop"} {
		_, _ = io.WriteString(a, part)
		_, _ = io.WriteString(b, "two\n")
	}
	a.finish()
	b.finish()
	text := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{3} `).ReplaceAllString(file.String(), "")
	assert.Equal(t, ":7001 -- started by: serve {port}\n:7002 two\n:7001 one\n:7001 "+long+"\n:7002 two\n:7001 op\n", text)

	var messages []string
	tell := func(format string, args ...any) { messages = append(messages, fmt.Sprintf(format, args...)) }
	l.tell(tell)
	(*Log)(nil).tell(tell)
	assert.Empty(t, messages)
	l = NewLog(new(broken))
	_, _ = io.WriteString(&lastLines{all: l.writer(1)}, "one\ntwo\nthree\n")
	l.tell(tell)
	l.tell(tell)
	assert.Equal(t, []string{"--server-log: no space left: later output of the servers is missing from the file"}, messages)
}

// What a shell would read as something else stands in no command: it may be within quotes, or in those of another
// shell.
func TestFoldersThatMeanSomethingToAShell(t *testing.T) {
	t.Parallel()
	for name, fits := range map[string]bool{
		"/tmp": true, "/tmp/a-b_c.d": true, "/tmp/grün": true, "/tmp/a b": false, "/tmp/a'b": false, `/tmp/a"b`: false,
		"/tmp/a;b": false, "/tmp/$a": false, "/tmp/`a`": false, "/tmp/a\nb": false, `/tmp/a\b`: false, "/tmp/a*": false,
		"/tmp/a&b": false,
	} {
		with, control := &Starter{Command: "x {dir}"}, &Starter{Command: "x"}
		control.Control(Commands{ByAction: map[Action]string{Quiet: "ctl {dir}"}})
		assert.Equal(t, fits, with.folderFits(name) == nil, name)
		assert.Equal(t, fits, control.folderFits(name) == nil, name)
		assert.NoError(t, (&Starter{Command: `x "$FWP_DIR"`}).folderFits(name), name)
		starter := faktory("")
		assert.NoError(t, starter.folderFits(name), name)
	}
}

// A known server starts where its socket has room, or not at all.
func TestFoldersThatAreTooLongForASocket(t *testing.T) {
	t.Parallel()
	short, starter := t.TempDir(), &Starter{socket: "/s"}
	long := "/" + strings.Repeat("a", 90)
	found, err := (&Starter{}).folderAbove(long, short)
	require.NoError(t, err)
	assert.Equal(t, long, found, "nothing is known of its sockets")
	found, err = starter.folderAbove("/tmp", short)
	require.NoError(t, err)
	assert.Equal(t, "/tmp", found)
	found, err = starter.folderAbove(long, "/tmp")
	require.NoError(t, err)
	assert.Equal(t, "/tmp", found)
	_, err = starter.folderAbove(long, "/there is none")
	require.ErrorContains(t, err, "has 91 bytes")
	require.ErrorContains(t, err, "would have 115 bytes, more than the limit of 107: set TMPDIR")
}

func TestStartsThatThisMachineMayHaveStopped(t *testing.T) {
	t.Parallel()
	ended, long := &StartError{Cause: errors.New("it ended"), Output: []string{"bind"}}, "/"+strings.Repeat("a", 100)
	assert.Equal(t, ended, explainStart(ended, Place{Dir: "/tmp/x"}))
	assert.ErrorContains(t, explainStart(ended, Place{Dir: long}), "the name of its folder has 101 bytes")
	assert.ErrorContains(t, explainStart(ended, Place{Dir: long}), "bind")
	var failed *StartError
	assert.ErrorAs(t, explainStart(ErrNoSupervisor, Place{}), &failed)
}
