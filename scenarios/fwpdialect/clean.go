package fwpdialect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
)

// ours matches the names that the programs of this suite give to queues and jobs: those of loads, checks and
// explorations. The first part of each is the run.
var ours = regexp.MustCompile(`^(?:fwpbench-([a-z0-9]{8})|(fwp\d{10}[0-9a-f]{4})|((?:fwp|x)[0-9a-f]{16}))-`)

// RunOf returns the run that a queue or a job belongs to by its name; empty if this suite did not give the name.
func RunOf(name string) string {
	parts := ours.FindStringSubmatch(name)
	if parts == nil {
		return ""
	}
	return strings.Join(parts[1:], "") // one of them is not empty
}

// Cleaning is what Clean did.
type Cleaning struct {
	Removed map[string]int   // jobs that were removed, by queue
	Left    map[string]int64 // jobs in queues of this suite that are still there, by queue
	// Sets holds the jobs that are in no queue, by the name under which INFO lists them: scheduled, retries, dead and
	// working. No command fetches them.
	Sets map[string]int64
	// Shown is false if INFO shows no queues, so that there was nothing to go by.
	Shown bool
}

// Clean removes the jobs that runs of this suite have left in queues of their own, or those of one run if it is not
// empty. It finds the queues by INFO, fetches their jobs as a worker and acknowledges them; a job that another client
// put there is given back. nc is a fresh connection, which Clean closes. It blocks for as long as that takes, with
// timeout for each reply.
func Clean(ctx context.Context, nc net.Conn, password, run string, timeout time.Duration) (Cleaning, error) {
	c := &cleaner{ctx: ctx, conn: session.New(nc, fwpsession.Protocol{}, session.Config{Timeout: timeout, ReadOn: true}),
		run: run}
	defer c.conn.Leave(ctx)
	done := Cleaning{Removed: map[string]int{}}
	if err := c.greet(password); err != nil {
		return done, err
	}
	for range cleanRounds {
		state, err := c.info()
		if err != nil {
			return done, err
		}
		done.Left, done.Sets, done.Shown = c.own(state.Faktory.Queues), state.sets(), state.Faktory.Queues != nil
		if removed, err := c.emptyAll(&done); err != nil || removed == 0 { // nothing is left, or nothing is given out
			return done, err
		}
	}
	return done, nil
}

// emptyAll removes the jobs that are left, and returns how many it removed.
func (c *cleaner) emptyAll(done *Cleaning) (removed int, err error) {
	for _, queue := range slices.Sorted(maps.Keys(done.Left)) {
		n, err := c.empty(queue, done.Left[queue])
		if n > 0 {
			removed += n
			done.Removed[queue] += n
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
	ctx  context.Context //nolint:containedctx // of the one call that the cleaner is for
	conn *session.Conn
	run  string // empty: all
	wid  string
	beat time.Time // when the latest BEAT was sent, or HELLO
}

// beatEvery is how often a cleaner sends BEAT: servers close the connections of workers that do not. (Client Lifecycle)
const beatEvery = 15 * time.Second

// alive sends a BEAT if it is time for one. That the server tells the cleaner to stop changes nothing.
func (c *cleaner) alive() error {
	if time.Since(c.beat) < beatEvery {
		return nil
	}
	c.beat = time.Now()
	_, err := c.ask(fwp.Command{Verb: fwp.BEAT, Args: []byte(`{"wid":"` + c.wid + `"}`)})
	return err
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

// greet introduces a worker.
func (c *cleaner) greet(password string) error {
	r, err := c.conn.Answer(c.ctx)
	if err := answered(r, err); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	hi := c.conn.State().(*fwpsession.State).Hi()
	c.wid, c.beat = fmt.Sprintf("fwpcheck-clean-%d", os.Getpid()), time.Now()
	hello := fwp.Hello{Hostname: "fwpcheck", WorkerID: c.wid, PID: os.Getpid()}
	if hi.Protected {
		if hello.PasswordHash, err = fwp.PasswordHash(password, hi.Salt, hi.Iterations); err != nil {
			return err
		}
	}
	_, err = c.ask(hello.Command())
	return err
}

// ask sends a command and returns its reply. An error reply is an error.
func (c *cleaner) ask(command fwp.Command) (session.Message, error) {
	r, err := c.conn.Ask(c.ctx, fwp.AppendCommand(nil, command))
	if err := answered(r, err); err != nil {
		return session.Message{}, fmt.Errorf("%s: %w", command.Verb, err)
	}
	if fwp.Kind(r.Message.Kind) == fwp.ErrorReply {
		return r.Message, fmt.Errorf("%s was refused: %q", command.Verb, r.Message.Text)
	}
	return r.Message, nil
}

// answered returns why there is no whole message, nil if there is one.
func answered(r session.Received, err error) error {
	switch {
	case err != nil:
		return err
	case !r.Whole():
		return errors.New(r.String())
	}
	return nil
}

// info returns the state of the server.
func (c *cleaner) info() (state serverState, err error) {
	m, err := c.ask(fwp.Command{Verb: fwp.INFO})
	if err == nil {
		_ = json.Unmarshal(m.Text, &state) // what is not as expected is not shown
	}
	return state, err
}

// own returns the queues with jobs that are to be emptied.
func (c *cleaner) own(queues map[string]int64) map[string]int64 {
	own := map[string]int64{}
	for name, n := range queues {
		if n > 0 && c.mine(name) {
			own[name] = n
		}
	}
	return own
}

func (c *cleaner) mine(name string) bool {
	run := RunOf(name)
	return run != "" && (c.run == "" || c.run == run)
}

// empty removes so many jobs from a queue, and returns how many it removed. It does not wait for more.
func (c *cleaner) empty(queue string, jobs int64) (removed int, err error) {
	do := func(line string) (session.Message, bool) {
		var r session.Received
		if r, err = c.conn.Ask(c.ctx, []byte(line+"\r\n")); err == nil {
			err = answered(r, nil)
		}
		return r.Message, err == nil
	}
	remover := Remover{Own: func(jid string) bool { return RunOf(jid) != "" }, Do: do}
	for range jobs {
		if err := c.alive(); err != nil {
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
