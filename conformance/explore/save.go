package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// savedTrace is a trace as a file holds it. The version is that of this form.
type savedTrace struct {
	Version int         `json:"version"`
	From    int         `json:"from,omitempty"`
	To      int         `json:"to,omitempty"`
	N       int         `json:"n,omitempty"`
	Steps   []savedStep `json:"steps"`
}

// savedStep is a step, its statement as a script has it.
type savedStep struct {
	Line  string `json:"line"`
	Ahead bool   `json:"ahead,omitempty"`
}

const traceVersion = 2

// Save writes the conversation as JSON, its steps as lines of the script language.
func (t Trace) Save(w io.Writer) error {
	saved := savedTrace{Version: traceVersion, From: t.From, To: t.To, N: t.N, Steps: make([]savedStep, len(t.Steps))}
	for i, step := range t.Steps {
		saved.Steps[i] = savedStep{step.String(), step.Ahead}
	}
	var buf bytes.Buffer
	to := json.NewEncoder(&buf)
	to.SetEscapeHTML(false)
	err := to.Encode(saved)
	if err == nil {
		_, err = w.Write(text.EscapeJSON(buf.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("save the conversation: %w", err)
	}
	return nil
}

// LoadTrace reads what [Trace.Save] wrote of a conversation in a dialect.
func LoadTrace(d scenarios.Dialect, r io.Reader) (Trace, error) {
	saved := savedTrace{Version: -1}
	err := json.NewDecoder(r).Decode(&saved)
	if saved.Version >= 0 && saved.Version != traceVersion {
		return Trace{}, fmt.Errorf("load a conversation: version %d, expected %d: explore again with the same seed to "+
			"save it in the new form", saved.Version, traceVersion)
	}
	t := Trace{From: saved.From, To: saved.To, N: saved.N}
	switch {
	case err != nil:
	case saved.Version < 0:
		err = errors.New("it has no version")
	case t.From < 0 || t.From > t.To || t.To > len(saved.Steps):
		err = fmt.Errorf("steps %d to %d are repeated, of %d", t.From, t.To, len(saved.Steps))
	default:
		t.Steps, err = parseSteps(d, saved.Steps)
	}
	if err != nil {
		return Trace{}, fmt.Errorf("not a run that fwpcheck explore --save wrote: %w", err)
	}
	return t, nil
}

// isPlayable reports whether the step is one of the kinds that [Step] lists.
func (s Step) isPlayable() bool {
	switch s.Do.(type) {
	case *scenarios.Silence, *scenarios.Operate:
		return true
	}
	return s.Conn() >= 0 // blocks and barriers have none
}

// hasNoStatement reports whether a line is a disruption that scripts have no statement for.
func hasNoStatement(line string) bool {
	return slices.Contains([]target.Action{target.KillServer, target.Pause, target.Partition}, target.Action(line))
}

// parseSteps parses the lines of steps.
func parseSteps(d scenarios.Dialect, saved []savedStep) ([]Step, error) {
	if len(saved) == 0 {
		return nil, nil
	}
	lines := make([]string, len(saved))
	for i, s := range saved {
		if lines[i] = s.Line; hasNoStatement(s.Line) {
			lines[i] = string(target.Restart)
		}
	}
	script, err := scenarios.Parse(d, "steps", []byte(strings.Join(lines, "\n")))
	if err != nil {
		return nil, err
	}
	if len(script.Steps) != len(saved) {
		return nil, fmt.Errorf("%d steps are %d statements", len(saved), len(script.Steps))
	}
	steps := make([]Step, len(saved))
	for i, s := range saved {
		if steps[i] = (Step{Do: script.Steps[i], Ahead: s.Ahead}); hasNoStatement(s.Line) {
			steps[i].Do = Disrupt(target.Action(s.Line)).Do
		}
		if !steps[i].isPlayable() {
			return nil, fmt.Errorf("step %d cannot be played: %s", i, s.Line)
		}
	}
	return steps, nil
}
