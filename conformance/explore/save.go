package explore

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// savedTrace is a trace as a file holds it. The version is that of this form.
type savedTrace struct {
	Version int    `json:"version"`
	From    int    `json:"from,omitempty"`
	To      int    `json:"to,omitempty"`
	N       int    `json:"n,omitempty"`
	Steps   []Step `json:"steps"`
}

const traceVersion = 1

// Save writes the conversation as JSON. The texts are quoted as Go strings, since they
// may hold any bytes.
func (t Trace) Save(w io.Writer) error {
	saved := savedTrace{Version: traceVersion, From: t.From, To: t.To, N: t.N, Steps: make([]Step, len(t.Steps))}
	for i, step := range t.Steps {
		var segments []string
		for _, text := range step.Segments {
			segments = append(segments, strconv.QuoteToASCII(text))
		}
		step.Segments = segments
		saved.Steps[i] = step
	}
	if err := json.NewEncoder(w).Encode(saved); err != nil {
		return fmt.Errorf("save the conversation: %w", err)
	}
	return nil
}

// LoadTrace reads what [Trace.Save] wrote.
func LoadTrace(r io.Reader) (Trace, error) {
	var saved savedTrace
	if err := json.NewDecoder(r).Decode(&saved); err != nil {
		return Trace{}, fmt.Errorf("load a conversation: %w", err)
	}
	if saved.Version != traceVersion {
		return Trace{}, fmt.Errorf("load a conversation: version %d, and %d is known", saved.Version, traceVersion)
	}
	if saved.From < 0 || saved.From > saved.To || saved.To > len(saved.Steps) {
		return Trace{}, fmt.Errorf("load a conversation: steps %d to %d are repeated, of %d",
			saved.From, saved.To, len(saved.Steps))
	}
	for i, step := range saved.Steps {
		if step.Kind < Open || step.Kind > Operate || step.Kind == Send && len(step.Segments) == 0 {
			return Trace{}, fmt.Errorf("load a conversation: step %d is of no kind that is known, or sends nothing", i)
		}
		for j, text := range step.Segments {
			plain, err := strconv.Unquote(text)
			if err != nil {
				return Trace{}, fmt.Errorf("load a conversation: step %d: %q: %w", i, text, err)
			}
			step.Segments[j] = plain
		}
	}
	return Trace{Steps: saved.Steps, From: saved.From, To: saved.To, N: saved.N}, nil
}
