package suite_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsuite "github.com/fwpsuite/fwp/protocols/emqp/suite"
)

// TestValuesAreFound: brokers that change or lose a value, or what goes a way, each break the clause of it.
func TestValuesAreFound(t *testing.T) {
	t.Parallel()
	golden.OnlySlow(t)
	const name, headers, text = 4, 5, 6
	// changed is the hook of a broker that changes a frame of what it sends, where there is one.
	changed := func(command string, at int, change func([]byte) []byte) func(*fakeemqp.Event) {
		return func(e *fakeemqp.Event) {
			if m, err := emqp.Parse(e.Frames); e.IsFromBroker && err == nil && m.Command == command {
				e.Frames = slices.Clone(e.Frames)
				e.Frames[at] = change(e.Frames[at])
			}
		}
	}
	cut := func(limit int) func([]byte) []byte { return func(b []byte) []byte { return b[:min(limit, len(b))] } }
	untilNUL := func(b []byte) []byte { return bytes.TrimRight(b, "\x00") }
	requests, workers, undone := 0, map[string]int{}, map[string]bool{}
	isScheduler, leaverCount, previous := map[string]bool{}, 0, map[string][]byte{}
	for title, c := range map[string]struct {
		clause string
		hook   func(*fakeemqp.Event)
	}{
		"long texts are cut":          {"EMQP-REQ-04", changed(emqp.REQUEST, text, cut(1<<16))},
		"texts end with NUL":          {"EMQP-REQ-05", changed(emqp.REQUEST, text, untilNUL)},
		"replies are cut":             {"EMQP-REPLY-01", changed(emqp.REPLY, name, cut(4096))},
		"ACKs have ids in lower case": {"EMQP-ACK-01", changed(emqp.ACK, name, bytes.ToLower)},
		"large timeouts are cut":      {"EMQP-HEAD-01", changed(emqp.REQUEST, headers, cut(16))},
		"schedules are trimmed":       {"EMQP-SCHED-01", changed(emqp.SCHEDULE, text, bytes.TrimSpace)},
		"unschedules are cut":         {"EMQP-UNSCH-01", changed(emqp.UNSCHEDULE, text, cut(3))},
		"dots end no name": {"EMQP-REQ-02", func(e *fakeemqp.Event) {
			if m, err := emqp.Parse(e.Frames); !e.IsFromBroker && err == nil && m.Command == emqp.INFORM {
				e.Frames = slices.Clone(e.Frames)
				e.Frames[name] = []byte(strings.ReplaceAll(string(e.Frames[name]), `."]`, `"]`))
			}
		}},
		"a queue has eight workers": {"EMQP-REQ-01", func(e *fakeemqp.Event) {
			m, err := emqp.Parse(e.Frames)
			switch {
			case err != nil:
			case !e.IsFromBroker && m.Command == emqp.INFORM:
				queues, _ := emqp.ParseQueues(string(m.Fields[0]))
				for _, q := range queues {
					workers[q.Name]++
					workers[e.Peer+q.Name] = workers[q.Name]
				}
			case e.IsFromBroker && m.Command == emqp.REQUEST:
				e.Drop = workers[e.Peer+string(m.Fields[0])] > 8
			}
		}},
		"what was unscheduled stays so": {"EMQP-SCHED-01", func(e *fakeemqp.Event) {
			if m, err := emqp.Parse(e.Frames); !e.IsFromBroker && err == nil {
				switch m.Command {
				case emqp.UNSCHEDULE:
					undone[string(m.Fields[2])] = true
				case emqp.SCHEDULE:
					e.Drop = undone[string(m.Fields[2])]
				}
			}
		}},
		"of queues with one weight the last counts": {"EMQP-INF-02", func(e *fakeemqp.Event) {
			m, err := emqp.Parse(e.Frames)
			if err != nil || e.IsFromBroker || m.Command != emqp.INFORM || len(e.Frames[name]) == 0 {
				return
			}
			all, _ := emqp.ParseQueues(string(e.Frames[name]))
			last := map[int]emqp.Queue{}
			for _, q := range all {
				last[q.Weight] = q
			}
			all = slices.DeleteFunc(all, func(q emqp.Queue) bool { return last[q.Weight] != q })
			e.Frames = slices.Clone(e.Frames)
			e.Frames[name] = []byte(emqp.FormatQueues(all...))
		}},
		"the headers are those of the REQUEST before": {"EMQP-HEAD-02", func(e *fakeemqp.Event) {
			m, err := emqp.Parse(e.Frames)
			if err != nil || e.IsFromBroker || m.Command != emqp.REQUEST {
				return
			}
			if e.Frames = slices.Clone(e.Frames); len(e.Frames[headers]) == 0 {
				e.Frames[headers] = previous[e.Peer]
			}
			previous[e.Peer] = e.Frames[headers]
		}},
		"the SCHEDULE behind the leaving of schedulers is lost": {"EMQP-SCHED-01", func(e *fakeemqp.Event) {
			m, err := emqp.Parse(e.Frames)
			if err != nil || e.IsFromBroker {
				return
			}
			switch m.Command {
			case emqp.INFORM:
				isScheduler[e.Peer] = string(m.Fields[1]) == emqp.TypeScheduler
			case emqp.KBAI:
				leaverCount += map[bool]int{true: 1}[isScheduler[e.Peer]]
			case emqp.SCHEDULE: // if it was the turn of the third one of those that have left
				e.Drop, leaverCount = leaverCount > 2, 0
			}
		}},
		"each 20th is lost": {"EMQP-REQ-07", func(e *fakeemqp.Event) {
			if m, err := emqp.Parse(e.Frames); !e.IsFromBroker && err == nil && m.Command == emqp.REQUEST {
				requests++
				e.Drop = requests%20 == 0
			}
		}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			r := runValues(t, func() fakeemqp.Config { return fakeemqp.Config{Hook: c.hook} }, false)
			var clauses []string
			for _, f := range r.Findings {
				clauses = append(clauses, f.Clause)
			}
			assert.Contains(t, clauses, c.clause)
		})
	}
}

// TestEachTextIsSent: an exploration of values of a broker that is right ends by itself, and all has come.
func TestEachTextIsSent(t *testing.T) {
	t.Parallel()
	for _, v := range append(fakeemqp.Variations(), fakeemqp.Variation{Name: "none"}) {
		if v.Name != "none" && v.Name != "own-ids" && v.Name != "seldom" {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r := runValues(t, v.Config, v.HasOneSocket)
			assert.Empty(t, r.Findings)
			assert.Empty(t, r.LeftoverJobs)
			assert.Greater(t, r.Coverage.Outcomes["REQUEST ready worker"], 400)
			assert.Greater(t, r.Coverage.Outcomes["REPLY client"], 100)
		})
	}
}

// runValues explores the values of a broker in virtual time.
func runValues(t *testing.T, config func() fakeemqp.Config, single bool) (r *explore.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		at, end, err := brokers(config, single)()
		require.NoError(t, err)
		defer end()
		e := explore.Explorer{
			Alphabet: emqpsuite.Values(), Target: at, Seed: 1, Time: 10 * time.Minute, Alone: true, Findings: 20,
			SkipsShrinking: true,
		}
		r = e.Run(t.Context())
	})
	return r
}
