package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// ledger holds the jobs that a play has added and not removed, by id, with their names. A job that has ended stays,
// because its result does. There are no states that an operator orders, and the document does not say that a server
// ends connections. It is safe for concurrent use.
type ledger struct {
	scenarios.NoLedger

	mu   sync.Mutex
	jobs map[string]string
}

// NewLedger returns the ledger of a fresh play, without jobs.
func (Dialect) NewLedger() scenarios.Ledger { return &ledger{jobs: map[string]string{}} }

// Answered implements [scenarios.Ledger].
func (g *ledger) Answered(command []byte, m session.Message) {
	c, _, err := workq.ParseCommand(command)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch ok := m.Kind == workqsession.OK; {
	case ok && (c.Verb == workq.Add || c.Verb == workq.Schedule):
		g.jobs[c.ID] = c.Name()
	case c.Verb == workq.Delete && (ok || m.Kind == workqsession.NotFound):
		delete(g.jobs, c.ID)
	}
}

// Leftover implements [scenarios.Ledger].
func (g *ledger) Leftover() []string {
	var words []string
	for _, id := range g.ids() {
		words = append(words, "job "+id)
	}
	return words
}

func (g *ledger) ids() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.jobs))
}

// Removable implements [scenarios.Ledger]: delete removes any job. (delete)
func (g *ledger) Removable() bool { return len(g.ids()) > 0 }

// Cleanup implements [scenarios.Ledger]. It looks at each job before it is removed, and at what is left behind that:
// the law judges the answers, and no line of a script has to ask.
func (g *ledger) Cleanup(do func(line string) (session.Message, bool)) {
	names := g.names()
	each := func(form string, words []string) bool {
		return !slices.ContainsFunc(words, func(word string) bool {
			_, ok := do(fmt.Sprintf(form, word))
			return !ok
		})
	}
	ids := g.ids()
	_ = each(workq.InspectJob+" %s", ids) && each(workq.Result+" %s 0", ids) &&
		each(workq.Delete+" %s", ids) && each(workq.Result+" %s 0", ids) &&
		each(workq.InspectQueue+" %s", names) && each(workq.Lease+" %s 10", []string{strings.Join(names, " ")})
}

// names returns those of the jobs that are left.
func (g *ledger) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Compact(slices.Sorted(maps.Values(g.jobs)))
}
