package double

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// Signal says which worker is to be quiet, or to terminate.
type Signal struct {
	Worker string `json:"worker,omitempty"` // the wid; empty: all
}

// postSignal quiets or terminates a worker, or all.
func (d *Double) postSignal(r *http.Request, state string) (any, error) {
	var signal Signal
	if err := read(r, &signal); err != nil {
		return nil, err
	}
	if err := d.server.Signal(signal.Worker, state); err != nil {
		return nil, &statusError{http.StatusNotFound, map[string]string{"error": err.Error()}}
	}
	return okBody{OK: true}, nil
}

// Reset says what is removed.
type Reset struct {
	Queue QueueName `json:"queue,omitempty"` // only what is about its jobs; absent: everything
}

// QueueName is the name of a queue. One that is empty or null is refused: what takes it for no name acts on all queues.
type QueueName string

// UnmarshalJSON implements [json.Unmarshaler].
func (q *QueueName) UnmarshalJSON(text []byte) error {
	var name string
	if err := json.Unmarshal(text, &name); err != nil || name == "" {
		return fmt.Errorf("queue cannot be %.100s: give the name of a queue, or leave it out for all", text)
	}
	*q = QueueName(name)
	return nil
}

// postReset removes everything, or what is about the jobs of a queue.
func (d *Double) postReset(r *http.Request) (any, error) {
	var reset Reset
	if err := read(r, &reset); err != nil {
		return nil, err
	}
	if reset.Queue != "" {
		d.ResetQueue(string(reset.Queue))
	} else {
		d.Reset()
	}
	return okBody{OK: true}, nil
}

// putBugs replaces the bugs.
func (d *Double) putBugs(r *http.Request, bugByName func(string) (fakes.Bug, error)) (any, error) {
	var names []string
	if err := read(r, &names); err != nil {
		return nil, err
	}
	if names == nil {
		return nil, errors.New("give an array of planted bugs and rules, [] for none")
	}
	var bugs []fakes.Bug
	for _, name := range names {
		bug, err := bugByName(name)
		if err != nil {
			return nil, err
		}
		bugs = append(bugs, bug)
	}
	d.SetBugs(bugs)
	return d.Bugs(), nil
}

// Clock is the time of the server, and how it is set.
type Clock struct {
	Now     *time.Time `json:"now,omitempty"`     // of an answer
	Advance string     `json:"advance,omitempty"` // of a request: by how much, "30m"
	Set     *time.Time `json:"set,omitempty"`     // of a request: to which instant; back only without jobs
}

func (d *Double) clock() Clock {
	now := d.server.Now()
	return Clock{Now: &now}
}

// postClock sets the clock forward by a time, or to an instant. It goes back only while the server has no jobs, so that
// no time comes twice for one of them.
func (d *Double) postClock(r *http.Request) (any, error) {
	var request Clock
	if err := read(r, &request); err != nil {
		return nil, err
	}
	duration, err := time.ParseDuration(request.Advance)
	switch {
	case request.Set != nil && request.Advance == "":
		duration = request.Set.Sub(d.server.Now())
		if duration == math.MaxInt64 || duration == math.MinInt64 {
			return nil, fmt.Errorf("set must be a time in the 290 years around %s", d.server.Now().Format(time.RFC3339))
		}
		if duration < 0 && !d.server.Rewind(-duration) {
			return nil, errors.New("the clock goes back only while the server has no jobs: before the first, or after a reset")
		}
	case request.Set != nil || err != nil || duration <= 0:
		return nil, errors.New(`give either advance, a duration above zero such as "90s" or "30m", or set, a time`)
	}
	d.server.Advance(max(duration, 0))
	return d.clock(), nil
}

// postJobs pushes jobs of the tester's: one, or an array. A job without jid gets one, and one without args has none.
func (d *Double) postJobs(r *http.Request) (any, error) {
	var body json.RawMessage
	if err := read(r, &body); err != nil {
		return nil, err
	}
	jobs := []json.RawMessage{body}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		if err := json.Unmarshal(body, &jobs); err != nil {
			return nil, fmt.Errorf("the body: %w", err)
		}
	}
	jids := []string{}
	for i, text := range jobs {
		job, err := fakes.ParseObject(text)
		if err == nil {
			if job.Get("jid") == nil {
				job.SetText("jid", "seed-"+rand.Text())
			}
			if job.Get("args") == nil {
				job.Set("args", "[]")
			}
			err = d.server.Push(job.Append(nil))
		}
		if err != nil {
			return nil, fmt.Errorf("job %d of %d (the previous ones are pushed): %w", i+1, len(jobs), err)
		}
		jids = append(jids, job.Text("jid"))
	}
	return map[string][]string{"jids": jids}, nil
}

// postStub adds a stub.
func (d *Double) postStub(r *http.Request) (any, error) {
	var s Stub
	if err := read(r, &s); err != nil {
		return nil, err
	}
	if err := d.AddStub(s); err != nil {
		return nil, err
	}
	return okBody{OK: true}, nil
}

// postBusy is the form of Faktory's web page by which an operator quiets or terminates workers.
func (d *Double) postBusy(w http.ResponseWriter, r *http.Request) {
	wid := r.PostFormValue("wid")
	switch wid {
	case "":
		http.Error(w, "wid is missing: give the id of a worker, or all", http.StatusBadRequest)
		return
	case "all":
		wid = ""
	}
	if err := d.server.Signal(wid, r.PostFormValue("signal")); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, "/busy", http.StatusFound)
}

// Control has the bodies of requests and answers: a field for each kind.
type Control struct {
	Job    StoredJob   `json:"job"`    // of GET /v1/jobs, in an array
	Entry  Entry       `json:"entry"`  // of GET /v1/journal, in an array
	Verify Expectation `json:"verify"` // for POST /v1/verify
	Stub   Stub        `json:"stub"`   // for POST /v1/stubs, and of GET /v1/stubs, in an array
	Reset  Reset       `json:"reset"`  // for POST /v1/reset
	Signal Signal      `json:"signal"` // for POST /v1/quiet and /v1/terminate
	Clock  Clock       `json:"clock"`  // for POST /v1/clock, and of it
}
