package worker

import (
	"errors"
	"net"
	"syscall"

	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// lossBugs are about lost connections, those that replace them, and where the server is. (Connection, Lost jobs? of
// the worker architecture; Network Connection; Not Identified State; HELLO)
var lossBugs = []Bug{
	bug("again-another-pid", afterLoss(Introducing, func(e *Event) { e.Fields["pid"] = e.Worker.cfg.PID + 1 })),
	bug("again-before-hi", afterLoss(Dialed, skip)),
	bug("again-without-hello", afterLoss(Introducing, skip)),
	setting("connection-for-each-command", func(c *Config) { c.Each = 1 }),
	setting("connections-left-open", func(c *Config) { c.Each, c.LeftOpen = 1, true }),
	bug("loss-ends", on(Lost, exit(1))),
	bug("loss-first-queue-only", afterLoss(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	bug("loss-final", on(Lost, skip)),
	bug("loss-renames",
		afterLoss(Introducing, func(e *Event) { e.Fields["wid"] = e.Worker.cfg.WID + "-again" })),
	setting("provider-ignored", ignoreProvider),
	bug("greeting-missed-ends-executor", catalogue.On(failsToOpen(isUngreeted), skip)),
	bug("refused-ends-beats", catalogue.From(catalogue.Server[Event], failsToOpen(isRefused), at(Beating), skip)),
	bug("refused-ends-executor", catalogue.On(failsToOpen(isRefused), skip)),
	bug("refused-ends-one", skipFirst(failsToOpen(isRefused))),
	bug("unresolved-ends-executor", catalogue.On(failsToOpen(isUnknownName), skip)),
}

// producerLossBugs are those of producers.
var producerLossBugs = []Bug{
	bug("loss-ignored", tellPushed(func(e *Event) bool { return e.Reply.Kind == 0 })),
}

// afterLoss returns hooks that act at a point from when a connection was lost on.
func afterLoss(p Point, act func(*Event)) func() func(*Event) {
	return catalogue.From(catalogue.Server[Event], at(Lost), at(p), act)
}

// lostExecutor is the condition of the loss of a connection that is not that for BEAT.
func lostExecutor(e *Event) bool { return e.Point == Lost && !e.Beats }

// ignoreProvider finds no variable FAKTORY_PROVIDER.
func ignoreProvider(c *Config) {
	lookup := c.Lookup
	c.Lookup = func(name string) (string, bool) {
		if name == "FAKTORY_PROVIDER" || lookup == nil {
			return "", false
		}
		return lookup(name)
	}
}

// failsToOpen returns the condition that a connection of an executor could not be opened, for a reason.
func failsToOpen(because func(error) bool) func(*Event) bool {
	return func(e *Event) bool { return lostExecutor(e) && e.Err != nil && because(e.Err) }
}

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

func isUnknownName(err error) bool {
	_, is := errors.AsType[*net.DNSError](err)
	return is
}

// isUngreeted reports whether a connection ended in its greeting.
func isUngreeted(err error) bool { return !isRefused(err) && !isUnknownName(err) }
