package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// State is the state of a job before a server is stopped. Its value is the word for it in reports and ids.
type State string

// The states.
const (
	StateEnqueued  State = "enqueued"
	StateLarge     State = "large-queue"
	StateSoon      State = "scheduled-soon"
	StateLater     State = "scheduled-later"
	StateFar       State = "scheduled-far"
	StateStays     State = "held-by-one-that-stays"
	StateLeaves    State = "held-by-one-that-leaves"
	StateFailed    State = "failed"
	StateDead      State = "dead"
	StateDiscarded State = "discarded"
	StateDone      State = "done"
)

// stateWords has the states in the order of reports, with a few words for each.
var stateWords = []struct {
	state State
	words string
}{
	{StateEnqueued, "jobs in queues, with all kinds of contents and names"}, {StateLarge, "jobs in one large queue"},
	{StateSoon, "jobs that are due while the server is down, or soon after"},
	{StateLater, "jobs that are due when it is ready " +
		"again"},
	{StateFar, "jobs that are due in ten years"}, {StateStays,
		"jobs reserved by a worker that comes back and reports them"},
	{StateLeaves, "jobs reserved by a worker that does not come back"},
	{StateFailed, "jobs that failed and wait for their retry"},
	{StateDead, "jobs that failed for the last time"}, {StateDiscarded, "jobs that failed and must not be retried"},
	{StateDone, "jobs that were acknowledged"},
}

// Job is a job that was given to a server.
type Job struct {
	ID    string          `json:"id"`
	State State           `json:"state"`
	Queue string          `json:"queue"`
	Class string          `json:"class,omitempty"` // of its contents, for people
	Unit  json.RawMessage `json:"sent"`            // as it was pushed
	// AlteredFields has the fields that the server of the fill alters by itself, as it delivers them.
	AlteredFields json.RawMessage `json:"was,omitempty"`
	// Report is what a worker said of it, such as its failure.
	Report json.RawMessage `json:"report,omitempty"`
	// Worker holds it. Due is before when it must not come: the time that it is scheduled for, or the end of its
	// reservation.
	Worker  string    `json:"worker,omitempty"`
	DueTime time.Time `json:"due,omitzero"`
	// IsOver is set if it must not come any more: it is done, or was discarded. Missing is set if it should have come.
	IsOver    bool `json:"over,omitempty"`
	IsMissing bool `json:"missing,omitempty"`
	// Step is the fill that it belongs to.
	Step int `json:"step,omitempty"`

	progress progress
}

// progress is how far an account is with a job.
type progress struct {
	index   int       // of its push among those of all jobs
	dueTime time.Time // it must come, from then on; zero: it need not
	hasFact bool      // what became of it
}

// isAwaited reports whether it must come, and has not.
func (j *Job) isAwaited() bool { return !j.progress.dueTime.IsZero() && !j.IsOver }

// schema is that of the file of an inventory.
const schema = "fwpcheck-jobs/1"

// Inventory is what a server was filled with.
type Inventory struct {
	Schema   string    `json:"schema"`
	Run      string    `json:"run"` // the beginning of all names
	FillTime time.Time `json:"filled"`
	// IsOrdered is set if the server delivered jobs of one queue in their order before it was stopped.
	IsOrdered bool `json:"in_order"`
	// Counts is what the server counts when it is full, by set.
	Counts map[string]int64 `json:"counts"`
	Jobs   []*Job           `json:"jobs"`
	// UnclearJIDs has the ids of other jobs, of which the server may have some: a reply about them cannot be read.
	UnclearJIDs []string `json:"unclear,omitempty"`
}

// Save writes the inventory as JSON.
func (i *Inventory) Save(w io.Writer) error {
	i.Schema = schema
	if err := json.NewEncoder(w).Encode(i); err != nil {
		return fmt.Errorf("write the jobs: %w", err)
	}
	return nil
}

// Load reads what Save has written.
func Load(b []byte) (*Inventory, error) {
	var i Inventory
	if err := json.Unmarshal(b, &i); err != nil {
		return nil, fmt.Errorf("this file is not from fwpcheck upgrade fill: %w", err)
	}
	if i.Schema != schema {
		return nil, errors.New("this file is not from fwpcheck upgrade fill: its schema is not " + schema)
	}
	return &i, nil
}

// Filling is how a server is filled. Large must be positive.
type Filling struct {
	Seed          uint64
	LargeJobs     int  // jobs in the large queue
	ClassInterval int  // only one of so many classes of contents; 0: all
	IsQuick       bool // leave out what has to be waited for: retries, reservations that end
}

// RunningServer is a server that serves.
type RunningServer struct {
	Name        string   // of its software and version, if it tells them
	Differences []string // in what it differs from the server before it: "its process"; empty for the first one
	Target      play.Target
	Password    string
	Filling     Filling
	Step        int
	ReadyTime   time.Time     // since when it serves
	IsAlone     bool          // no other client uses it
	Timeout     time.Duration // of a reply
	Patience    time.Duration // for what happens eventually
	History     *history.Recorder
	Tell        func(Fact) // is called once for each job, with its fate, and for each reply that cannot be read
}
