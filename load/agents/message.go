package agents

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/lag"
	"github.com/fwpsuite/fwp/load/results"
)

// Each side sends a heartbeat a second, and takes the other one for lost when more than three of its own went by
// without one of the other's. It counts its own and looks at no clock, so a process that was held up for some seconds
// does not blame the others. Where this machine is late, the other side may be on it, and late as well: see silence.
const (
	heartbeat = time.Second
	missable  = 3
)

// silence returns how many heartbeats the other side may miss where this machine was late by so much meanwhile.
func silence(late time.Duration) int {
	return missable + int(lag.Grace(late, missable*heartbeat)/heartbeat)
}

// lately is since when the lag of this machine counts for that: longer than the silence that is usual.
func lately() time.Time { return time.Now().Add(-2 * missable * heartbeat) }

// NewToken returns a token that cannot be guessed.
func NewToken() string { return strings.ToLower(rand.Text()) }

// subjects are those of the messages of a run.
type subjects struct{ join, clock, state, tick, jobs, done string }

// subjectsOf returns the subjects of the coordinator with a token.
func subjectsOf(token string) subjects {
	digest := sha256.Sum256([]byte(token))
	prefix := "fwp." + hex.EncodeToString(digest[:8]) + "."
	return subjects{
		join: prefix + "join", clock: prefix + "clock", state: prefix + "state", tick: prefix + "tick",
		jobs: prefix + "jobs.", done: prefix + "done.",
	}
}

// joining asks to take part in a run.
type joining struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// answer is the reply to joining, and to a piece of a report.
type answer struct {
	Refused string `json:"refused,omitempty"` // why; empty: accepted
}

// moment is the reply to a question for the time.
type moment struct {
	Since time.Duration `json:"since_ns"` // since the coordinator's start, by a clock that is never set
	Wall  time.Time     `json:"wall"`
}

// phase is where a run is.
type phase string

// The phases of a run.
const (
	gathering  phase = "joining"
	connecting phase = "connecting"
	running    phase = "running"
	stopping   phase = "stopping"
	over       phase = "over"
)

// state is what the coordinator says of the run.
type state struct {
	Phase phase `json:"phase"`
	// Plan is what the agents have to do, once all are there; their places in Names are their segments.
	Plan  *Plan    `json:"plan,omitempty"`
	Names []string `json:"names,omitempty"`
	// Start is when the load begins, since the coordinator's start; 0 until all are ready.
	Start time.Duration `json:"start_ns,omitempty"`
	// Pushed is set when no agent pushes any more.
	Pushed bool `json:"pushed,omitempty"`
	// Why is why the run was stopped.
	Why string `json:"why,omitempty"`
}

// Plan is what agents have to do.
type Plan struct {
	Run    string `json:"run"`    // its name; that of an agent's part has its place behind it
	Agents int    `json:"agents"` // how many there are
	// Crosses says that what one agent pushes, any may fetch: Run is the name of the queues and jobs of all.
	Crosses bool `json:"crosses,omitempty"`
	// Load is what the program needs to put the load on the server. This package does not look into it.
	Load json.RawMessage `json:"load"`
}

// part returns the name of the run of the agent in a place.
func (p *Plan) part(place int) string { return fmt.Sprintf("%s-%d", p.Run, place+1) }

// tick is what an agent says of itself.
type tick struct {
	Name  string              `json:"name"`
	Ready bool                `json:"ready,omitempty"`
	Clock *results.AgentClock `json:"clock,omitempty"` // once it was measured
	// Pushed is set when every push of the agent has been answered, and none is left. Only jobs that cross are waited for.
	Pushed bool `json:"pushed,omitempty"`
	// Seconds are those that ended since the last tick.
	Seconds []second `json:"seconds,omitempty"`
}

// second is a second of an agent's load.
type second struct {
	results.Second

	// Op is the command that has to succeed for an arrival to count.
	Op string `json:"op"`
	// From is when it began, since the coordinator's start.
	From time.Duration `json:"from_ns"`
	// Log has what was recorded in it, as an HdrHistogram log.
	Log string `json:"log"`
	// Jobs is the agent's account so far.
	Jobs results.LoadJobs `json:"jobs"`
}
