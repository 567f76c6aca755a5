package main

import (
	"encoding/json"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// job is a work unit in hand.
type job struct {
	jid     string
	jobtype string
	args    []json.RawMessage

	link      *link         // the connection for its report
	abandoned chan struct{} // closed when the worker gives the job up
	claimed   atomic.Bool   // somebody reports it
}

// claim gives the right to report the job to the first who asks.
func (j *job) claim() bool { return j.claimed.CompareAndSwap(false, true) }

// decodeJob reads a work unit. When only a part can be read, the job comes back together with the error, so
// that it can be failed by its jid.
func decodeJob(text string, l *link) (*job, error) {
	j := &job{link: l, abandoned: make(chan struct{})}
	var name struct {
		JID string `json:"jid"`
	}
	if err := json.Unmarshal([]byte(text), &name); err != nil || name.JID == "" {
		return nil, fmt.Errorf("a work unit without a readable jid: %.200q", text)
	}
	j.jid = name.JID
	if mutant == 24 {
		var unit struct {
			Custom map[string]string `json:"custom"`
		}
		if err := json.Unmarshal([]byte(text), &unit); err != nil {
			return nil, err
		}
	}
	var unit struct {
		Type string            `json:"jobtype"`
		Args []json.RawMessage `json:"args"`
	}
	err := json.Unmarshal([]byte(text), &unit)
	j.jobtype, j.args = unit.Type, unit.Args
	return j, err
}

// jobError is a failed execution.
type jobError struct {
	kind    string
	message string
	trace   []string
}

// newJobError makes an error that remembers where it was made.
func newJobError(kind, message string) *jobError {
	return &jobError{kind: kind, message: message, trace: stack()}
}

// stack is the present call stack, a line for each call.
func stack() []string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	var lines []string
	for {
		frame, more := frames.Next()
		lines = append(lines, fmt.Sprintf("%s:%d in %s", path.Base(frame.File), frame.Line, frame.Function))
		if !more {
			return lines
		}
	}
}

// execute runs the job by its type; nil means success.
func (j *job) execute() *jobError {
	switch {
	case j.jobtype == "fwp.fail":
		return newJobError("JobError", j.argsText())
	case j.jobtype == "fwp.echo":
		return newJobError("JobError", j.argsJSON())
	case j.jobtype == "fwp.sleep":
		return j.sleep(time.Second)
	case j.jobtype == "fwp.unknown":
		return newJobError("TypeError", "there is no job type "+j.jobtype)
	case strings.Contains(j.jobtype, "fail"):
		return newJobError("JobError", "job "+j.jobtype+" failed: "+j.argsText())
	case j.jobtype == "sleep":
		return j.sleep(time.Millisecond)
	}
	return nil
}

// sleep waits as many units of time as the first argument says.
func (j *job) sleep(unit time.Duration) *jobError {
	var n float64
	if len(j.args) == 0 || json.Unmarshal(j.args[0], &n) != nil {
		return newJobError("ArgumentError", "sleep needs a number")
	}
	time.Sleep(time.Duration(n * float64(unit)))
	return nil
}

// argsJSON is the JSON text of all arguments.
func (j *job) argsJSON() string {
	texts := make([]string, len(j.args))
	for i, raw := range j.args {
		texts[i] = string(raw)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// argsText is the arguments for a reader: strings as they are, all others as JSON.
func (j *job) argsText() string {
	words := make([]string, len(j.args))
	for i, raw := range j.args {
		if json.Unmarshal(raw, &words[i]) != nil {
			words[i] = string(raw)
		}
	}
	return strings.Join(words, " ")
}
