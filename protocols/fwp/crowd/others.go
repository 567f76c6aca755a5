package crowd

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Start starts another server like the target of an exploration, with a password unless that is empty. The returned
// function ends it.
type Start func(password string) (play.Target, func(), error)

// minOthersTime is the time of a campaign that explores other servers.
const minOthersTime = 20 * time.Second

// otherExplorers returns the explorations of other servers: of jobs whose lives take long, without and with a restart,
// and of clients of a server with a password.
func (c *Campaign) otherExplorers() (all []explore.Explorer) {
	x := c.Explorer
	if c.Start == nil || x.Time < minOthersTime {
		return nil
	}
	x.Found, x.WatchStep, x.Progress, x.Impatient = nil, nil, nil, true
	if x.Alphabet.Lives != nil {
		lives := x
		lives.Alphabet, lives.Steps = x.Alphabet.Lives(time.Until(explore.Divide(x.Time).Explore)), 0
		for _, lives.Restarts = range []bool{false, true} {
			all = append(all, lives)
		}
	}
	if c.HasPasswords && x.Password == "" {
		x.Password = rand.Text()
		all = append(all, x)
	}
	return all
}

// exploreOthers begins the explorations of other servers. The returned function blocks until they are over, and returns
// their results. There is none of a server that does not start.
func (c *Campaign) exploreOthers(ctx context.Context) (results func() []*explore.Result) {
	var running sync.WaitGroup
	others := c.otherExplorers()
	all := make([]*explore.Result, len(others))
	for i, e := range others {
		running.Go(func() {
			e.StartTarget = func() (play.Target, func(), error) { return c.Start(e.Password) }
			target, end, err := e.StartTarget()
			if err != nil {
				return
			}
			defer end()
			e.Target = target
			all[i] = e.Run(ctx)
		})
	}
	return func() []*explore.Result {
		running.Wait()
		return slices.DeleteFunc(all, func(r *explore.Result) bool { return r == nil })
	}
}
