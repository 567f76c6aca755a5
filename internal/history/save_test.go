package history

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func saveText(t *testing.T, h *History) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, h.Save(&b))
	return b.String()
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		h, _ := simulate(seed, 12, []string{"", "delivered twice", "push lost"}[seed%3])
		h.Strangers = seed%2 == 0
		text := saveText(t, &h)
		other, err := Load(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, Examine(&h), Examine(other))
		require.Equal(t, text, saveText(t, other))
	}
}

func TestSavedForm(t *testing.T) {
	t.Parallel()
	h := &History{Drained: true, Limits: Limits{MaxLead: time.Second}, Events: []Event{
		job("j", 0, 1).retry(-1).at(2).body("<x>"), bring("a", "j", 2, 3).quiet(), {Op: Kill, Call: 9, Return: -1},
	}}
	assert.Equal(t, `{"fwp_history":1,"events":3,"drained":true,"limits":{"early":1000000000}}
{"client":0,"op":"PUSH","outcome":"ok","jid":"j","queue":"q","retry":-1,"reserve_for":60,"at":2000000000,"body":"<x>","call":0,"return":1000000000}
{"client":0,"op":"kill","outcome":"open","call":9,"return":-1}
{"client":0,"worker":"a","quiet":true,"op":"FETCH","outcome":"ok","jid":"j","queues":["q"],"call":2000000000,"return":3000000000}
`, saveText(t, h))
}

func TestNoNameMovesTheCursor(t *testing.T) {
	t.Parallel()
	h := &History{Events: []Event{job("\u202e\u009b", 0, 1)}}
	text := saveText(t, h)
	assert.Contains(t, text, `"jid":"\u202e\u009b"`)
	other, err := Load(strings.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, "\u202e\u009b", other.Events[0].JID)
}

func TestLoadDamaged(t *testing.T) {
	t.Parallel()
	h := &History{Drained: true, Events: []Event{job("j", 0, 1), bring("a", "j", 2, 3), ack("a", "j", 4, 5)}}
	lines := strings.SplitAfter(saveText(t, h), "\n")
	head, rest := lines[0], strings.Join(lines[1:3], "")
	for _, c := range []struct {
		name, text   string
		line, events int
		says         string
	}{
		{"nothing", "", 1, 0, "the file ends here"},
		{"no history", "hello\n", 1, 0, "invalid character"},
		{"another version", strings.Replace(head, ":1", ":2", 1) + rest, 1, 0, "version 2"},
		{"no version", "{}\n", 1, 0, "version 0"},
		{"cut off between lines", head + rest, 4, 2, "the file ends here"},
		{"cut off in a line", head + rest + lines[3][:20], 4, 2, "the file ends here"},
		{"cut off before the end of a line", head + rest + strings.TrimSpace(lines[3]), 4, 2, "the file ends here"},
		{"a broken line", head + lines[1] + "{\"op\":\n" + lines[3], 3, 1, "unexpected EOF"},
		{
			"an unknown operation", head + lines[1] + `{"op":"PULL","outcome":"ok","call":2,"return":3}` + "\n", 3, 1,
			`operation "PULL" is unknown`,
		},
		{
			"an unknown outcome", head + lines[1] + `{"op":"ACK","outcome":"fine","call":2,"return":3}` + "\n", 3, 1,
			`outcome "fine" is unknown`,
		},
		{"no operation", head + lines[1] + "{\"call\":2,\"return\":3}\n", 3, 1, "no op"},
		{"an unknown field", head + lines[1] + "{\"color\":2}\n", 3, 1, "unknown field"},
		{"two objects in a line", head + strings.TrimSpace(lines[1]) + lines[2], 2, 0, "there is data after"},
		{"a line is missing", head + lines[2] + lines[3], 4, 2, "the file ends here"},
		{"lines in the wrong order", head + lines[2] + lines[1] + lines[3], 3, 1, "before that of the previous event"},
		{
			"a return before the call", head + lines[1] + `{"op":"ACK","outcome":"ok","call":5,"return":3}` + "\n", 3,
			1, "before its call",
		},
		{
			"a call before the beginning", head + `{"op":"ACK","outcome":"ok","call":-5,"return":3}` + "\n", 2, 0,
			"out of range",
		},
		{"a limit that is none", strings.Replace(head, "{}", `{"late":-1}`, 1), 1, 0, "out of range"},
		{"a line too many", strings.Join(lines, "") + lines[3], 5, 3, "there is data after the last of 3 events"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Load(strings.NewReader(c.text))
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			assert.Equal(t, c.line, damage.Line)
			require.ErrorContains(t, err, c.says)
			assert.Len(t, got.Events, c.events)
			assert.False(t, got.Drained)
		})
	}
}

func TestLoadReportsTheReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	text := saveText(t, &History{Events: []Event{job("j", 0, 1), job("k", 2, 3)}})
	got, err := Load(io.MultiReader(strings.NewReader(text[:len(text)-5]), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	assert.Len(t, got.Events, 1)
}

// TestACutHistoryMakesNoFindings cuts histories of a right server off at every line.
func TestACutHistoryMakesNoFindings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(scaledCount(500)) {
		h, _ := simulate(seed, 14, "")
		lines := strings.SplitAfter(saveText(t, &h), "\n")
		for n := 1; n < len(lines)-1; n++ {
			got, err := Load(strings.NewReader(strings.Join(lines[:n], "")))
			require.Error(t, err)
			require.Empty(t, Judge(got), "seed %d, %d lines", seed, n)
		}
	}
}

func FuzzLoad(f *testing.F) {
	h, _ := simulate(1, 12, "delivered twice")
	var b bytes.Buffer
	if err := h.Save(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Load(bytes.NewReader(text))
		Judge(got)
		if err == nil {
			other, err := Load(strings.NewReader(saveText(t, got)))
			require.NoError(t, err)
			require.Equal(t, Judge(got), Judge(other))
		}
	})
}

// A line without an end takes no more memory than the longest that is read.
func TestAnEndlessLine(t *testing.T) {
	t.Parallel()
	_, err := Load(io.LimitReader(endless{}, 1<<30))
	require.ErrorContains(t, err, "line 1 of the history: a line of more than 1 MiB")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
