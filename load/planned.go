package load

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// loadPlan returns the plan of the run, as text and as data.
func (r *run) loadPlan() results.LoadPlan {
	w := &r.work
	plan := results.LoadPlan{
		Words: r.describe(), Preset: w.Preset, IsOpenLoop: w.IsOpen(), Segment: r.config.Segment.String(),
		Producers: w.Producers, Consumers: w.Consumers, Workload: r.settings(),
	}
	if w.BeatOnly {
		plan.Idle = w.Connections
	}
	if r.plan == nil {
		return plan
	}
	names := map[client.Overload]string{client.Queue: "queue", client.Drop: "drop", client.Abort: "abort"}
	plan.Overload = names[r.config.Overload]
	for _, s := range r.plan.Stages {
		plan.Stages = append(plan.Stages, results.Stage{Length: s.Length, From: s.From, To: s.To})
	}
	return plan
}

// settings returns the workload as JSON: each key with its value as in YAML.
func (r *run) settings() json.RawMessage {
	all := map[string]string{"preset": r.work.Preset}
	for _, s := range r.work.Settings() {
		all[s.Key] = s.Value.String()
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil // cannot happen: all values are strings
	}
	return text
}

// PlanOf returns the plan of a run as its report has it.
func PlanOf(config Config) results.LoadPlan { return newRun(config).loadPlan() }

// Describe describes a workload in one sentence.
func Describe(w plan.Workload) string { return newRun(Config{Workload: w}).describe() }

// describe describes the workload in one sentence.
func (r *run) describe() string {
	w := &r.work
	text := clients(w)
	if w.Prefill > 0 {
		text += fmt.Sprintf(", %d jobs pushed beforehand", w.Prefill)
	}
	if r.plan != nil {
		text += ", open loop: "
		if parts := r.config.Segment.Parts(); parts > 1 {
			text += fmt.Sprintf("one of %d arrivals of ", parts)
		}
		text += r.rates()
	} else if w.Producers > 0 || w.Churn {
		follows := "the next push follows the reply"
		if w.Think.Max > 0 {
			follows = fmt.Sprintf("the next push follows the reply after a pause of %v", w.Think)
		}
		text += ", closed loop (" + follows + ")"
		if spread := time.Duration(w.Producers) * client.StartInterval; spread >= 10*time.Millisecond {
			text += fmt.Sprintf(", starts spread over %v", spread)
		}
		if w.Backlog > 0 && w.Consumers > 0 && !w.Churn {
			text += fmt.Sprintf(", at most %d queued jobs per worker", w.Backlog)
		}
	}
	if w.Disconnects > 0 {
		text += fmt.Sprintf(", clients disconnect around %.4g %% of their commands", 100*w.Disconnects)
	}
	if from, until := w.Window(); until > 0 {
		text += fmt.Sprintf(", measured for %v", until-from)
		if from > 0 {
			text += fmt.Sprintf(" after %v of warm-up", from)
		}
	}
	return strings.Join(append([]string{text}, unusualSettings(w)...), ", ")
}

// describedSettings are the settings that are in the description of each workload, or that are no part of it.
var describedSettings = []string{"producers", "consumers", "connections", "observers", "rate", "stages", "trace",
	"trace_speed",
	"poisson", "burst", "duration", "jobs", "warmup", "seed", "think", "backlog", "churn", "beat_only", "disconnects",
	"prefill"}

// unusualSettings returns the other settings that are not those of a round trip, whatever the preset: "payload 61440".
func unusualSettings(w *plan.Workload) (words []string) {
	usual, err := plan.Preset("")
	if err != nil {
		return nil // there always is one
	}
	usual = usual.WithDefaults()
	defaults := usual.Settings()
	for i, s := range w.Settings() {
		if value := s.Value.String(); !slices.Contains(describedSettings, s.Key) && value != defaults[i].Value.String() {
			words = append(words, reports.JoinWith(" ", strings.ReplaceAll(s.Key, "_", " "), cmp.Or(value, "none")))
		}
	}
	return words
}

// clients counts the clients of a workload: "5 producers and 1 worker".
func clients(w *plan.Workload) string {
	var parts []string
	add := func(n int, singular, plural string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+singular)
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, plural))
		}
	}
	add(w.Producers, "producer", "producers")
	add(w.Consumers, "worker", "workers")
	switch {
	case w.Churn:
		add(w.Connections, "short-lived connection at a time", "short-lived connections at a time")
	case w.BeatOnly:
		add(w.Connections, "connection that only sends BEAT", "connections that only send BEAT")
	}
	add(w.Observers, "observer", "observers")
	return strings.Join(parts, " and ")
}

// rates describes the rates of the plan.
func (r *run) rates() string {
	if w := &r.work; w.TraceData != nil {
		total := int64(w.TraceData.Len())
		words := fmt.Sprintf("%d arrivals recorded in %s over %v", total, w.Trace, r.plan.End().Round(time.Millisecond))
		if first := r.plan.Total(); first < total {
			words = fmt.Sprintf("the first %d of %s", first, words)
		}
		if w.TraceSpeed != 1 {
			words += fmt.Sprintf(", played %.4g times as fast", w.TraceSpeed)
		}
		return words
	}
	kind := "evenly spaced"
	if r.plan.Poisson {
		kind = "at random (Poisson)"
	}
	if r.plan.Burst > 1 {
		kind = fmt.Sprintf("in bursts of %d, %s", r.plan.Burst, kind)
	}
	if len(r.plan.Stages) > 2 {
		return fmt.Sprintf("%d stages, %s", len(r.plan.Stages), kind)
	}
	var rates []string
	for _, s := range r.plan.Stages {
		if s.From == s.To {
			rates = append(rates, fmt.Sprintf("%.6g /s for %v", s.From, s.Length.Round(time.Millisecond)))
		} else {
			rates = append(rates, fmt.Sprintf("from %.6g to %.6g /s in %v", s.From, s.To, s.Length.Round(time.Millisecond)))
		}
	}
	return strings.Join(rates, ", then ") + ", " + kind
}
