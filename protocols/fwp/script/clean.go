package script

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// runNames matches the names that the programs of this suite give to queues and jobs: those of loads, checks and
// explorations. The first part of each is the run.
var runNames = regexp.MustCompile(`^(?:fwpbench-([a-z0-9]{8})|(fwp\d{10}[0-9a-f]{4})|((?:fwp|x)[0-9a-f]{16}))-`)

// RunOf returns the run that a queue or a job belongs to by its name; empty if this suite did not give the name.
func RunOf(name string) string {
	parts := runNames.FindStringSubmatch(name)
	if parts == nil {
		return ""
	}
	return strings.Join(parts[1:], "") // one of them is not empty
}

// Cleaning is what Clean did.
type Cleaning struct {
	Removals  map[string]int   // jobs that were removed, by queue
	Remaining map[string]int64 // jobs in queues of this suite that are still there, by queue
	// Sets holds the jobs that are in no queue, by the name under which INFO lists them: scheduled, retries, dead and
	// working. No command fetches them.
	Sets map[string]int64
	// HasQueues is false if INFO shows no queues, so that there was nothing to go by.
	HasQueues bool
}

// Clean removes the jobs that runs of this suite have left in queues of their own, or those of one run if it is not
// empty. It finds the queues by INFO, fetches their jobs as a worker and acknowledges them; a job that another client
// put there is given back. nc is a fresh connection, which Clean closes. It blocks for as long as that takes, with
// timeout for each reply.
func Clean(ctx context.Context, nc net.Conn, password, run string, timeout time.Duration) (Cleaning, error) {
	done := Cleaning{Removals: map[string]int{}}
	client, err := Greet(ctx, nc, fmt.Sprintf("fwpcheck-clean-%d", os.Getpid()), password, timeout)
	defer client.Leave()
	if err != nil {
		return done, err
	}
	c := &cleaner{Client: client, run: run}
	for range cleanRounds {
		state, err := c.info()
		if err != nil {
			return done, err
		}
		done.Remaining, done.Sets, done.HasQueues = c.ownQueues(state.Faktory.Queues), state.sets(),
			state.Faktory.Queues != nil
		if removed, err := c.emptyAll(&done); err != nil || removed == 0 { // nothing is left, or nothing is given out
			return done, err
		}
	}
	return done, nil
}

// emptyAll removes the jobs that are left, and returns how many it removed.
func (c *cleaner) emptyAll(done *Cleaning) (removed int, err error) {
	for _, queue := range slices.Sorted(maps.Keys(done.Remaining)) {
		n, err := c.empty(queue, done.Remaining[queue])
		if n > 0 {
			removed += n
			done.Removals[queue] += n
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// cleanRounds is how often Clean looks for jobs at most: once more than it takes to remove them, and again for those
// that came back to their queues meanwhile.
const cleanRounds = 5

type cleaner struct {
	*Client

	run string // empty: all
}

// serverState is the part of INFO that Clean uses. The specification does not lay its contents down. (INFO Command)
type serverState struct {
	Faktory struct {
		Queues map[string]int64                `json:"queues"`
		Tasks  map[string]struct{ Size int64 } `json:"tasks"`
	} `json:"faktory"`
}

func (s *serverState) sets() map[string]int64 {
	sets := map[string]int64{}
	for name, word := range map[string]string{
		"Scheduled": "scheduled", "Retries": "retries", "Dead": "dead", "Working": "working", "Busy": "working",
	} {
		if n := s.Faktory.Tasks[name].Size; n > 0 {
			sets[word] = max(n, sets[word])
		}
	}
	return sets
}

// info returns the state of the server.
func (c *cleaner) info() (state serverState, err error) {
	m, err := c.Ask(fwp.INFO)
	if err == nil {
		_ = json.Unmarshal(m.Text, &state) // what is not as expected is not shown
	}
	return state, err
}

// ownQueues returns the queues with jobs that are to be emptied.
func (c *cleaner) ownQueues(queues map[string]int64) map[string]int64 {
	jobs := map[string]int64{}
	for name, n := range queues {
		if run := RunOf(name); n > 0 && run != "" && (c.run == "" || c.run == run) {
			jobs[name] = n
		}
	}
	return jobs
}

// empty removes so many jobs from a queue, and returns how many it removed. It does not wait for more.
func (c *cleaner) empty(queue string, jobs int64) (removed int, err error) {
	do := func(line string) (session.Message, bool) {
		var m session.Message
		if m, err = c.Ask(line); isRefused(err) {
			err = nil
		}
		return m, err == nil
	}
	remover := Remover{IsOwn: func(jid string) bool { return RunOf(jid) != "" }, Do: do}
	for range jobs {
		if err := c.KeepAlive(); err != nil {
			return removed, err
		}
		jid, ok := remover.Next(queue)
		if !ok || jid == "" {
			break
		}
		if RunOf(jid) != "" {
			removed++
		}
	}
	return removed, err
}
