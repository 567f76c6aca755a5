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
		segments := make([]string, len(step.Segments))
		for j, text := range step.Segments {
			segments[j] = strconv.QuoteToASCII(text)
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
	for i, step := range saved.Steps {
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
