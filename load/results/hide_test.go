package results_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// setTexts sets every text below v.
func setTexts(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			setTexts(field, text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setTexts(v.Index(0), text)
	case reflect.String:
		v.SetString(text)
	}
}

// Every field of a report may have come from a server: neither the text nor the JSON has a control character.
func TestHostileTextIsShownHarmlessly(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b[2J\x1b]0;title\a\r\b\x7f\u009b31m\u202e\u2066\u200b\U000e0041\x00 secret"
	l := &results.Load{}
	setTexts(reflect.ValueOf(l).Elem(), hostile)
	l.Target.HI, l.Target.Info = []byte(hostile), []byte(hostile)
	var out bytes.Buffer
	for _, o := range []reports.PageOptions{{}, {Verbose: true}} {
		for _, fit := range []page.TextOptions{{}, {Width: 40, Fit: true}} {
			out.Write(page.Text(l.Page(o), fit))
		}
	}
	require.NoError(t, l.WriteJSON(&out))
	require.Contains(t, out.String(), "secret")
	for _, r := range out.String() {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f ||
			strings.ContainsRune("\u200b\u202e\u2066\U000e0041", r)) {
			t.Fatalf("%U is in the output", r)
		}
	}
}

// oursOfLoad are fields that no server has a part in: they keep what they have.
var oursOfLoad = map[string]bool{
	"version": true, "run": true, "url": true, "chosen": true, "command": true, "sha256": true, "usage": true, "os": true, "arch": true, "kernel": true,
	"cpu": true, "go": true, "words": true, "preset": true, "overload": true, "name": true, "op": true, "kind": true,
	"level": true, "action": true,
	"at_least": true, "flow": true, "breach": true, "clause": true, "what": true, "unknown": true, "do": true, "id": true,
	"threshold": true, "expected": true, "actual": true, "phase": true, "engine": true, "histograms": true,
	"segment": true, "queue": true, "history": true,
}

func TestHideReachesEveryText(t *testing.T) {
	t.Parallel()
	l := &results.Load{}
	setTexts(reflect.ValueOf(l).Elem(), "a secret")
	l.Target.HI, l.Target.Info, l.Findings[0].Kind = []byte("a secret"), []byte("a secret"), results.FindingReply
	l.Hide(func(s string) string { return strings.ReplaceAll(s, "secret", "(hidden)") })
	var out bytes.Buffer
	require.NoError(t, l.WriteJSON(&out))
	key := ""
	for line := range strings.Lines(out.String()) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), `": `); ok {
			key = strings.Trim(name, `"`)
		}
		if strings.Contains(line, "secret") && !strings.Contains(line, "(hidden)") {
			assert.True(t, oursOfLoad[key], "%s: %s", key, line)
		}
	}
	require.Contains(t, out.String(), "(hidden)")
}
