package worker

import (
	"errors"
	"net"
	"syscall"

	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// lossBugs are about lost connections, those that replace them, and where the server is. (Connection, ConnectionLost
// jobs? of the worker architecture; Network Connection; Not Identified State; HELLO)
var lossBugs = []Bug{
	bug("again-another-pid", actAfterLoss(Introducing, func(e *Event) { e.Fields["pid"] = e.Worker.cfg.PID + 1 })),
	bug("again-before-hi", actAfterLoss(Dialed, skip)),
	bug("again-without-hello", actAfterLoss(Introducing, skip)),
	setting("connection-for-each-command", func(c *Config) { c.MaxCommands = 1 }),
	setting("connections-left-open", func(c *Config) { c.MaxCommands, c.LeaveOpen = 1, true }),
	bug("loss-ends", actAt(ConnectionLost, exit(1))),
	bug("loss-first-queue-only", actAfterLoss(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	bug("loss-final", actAt(ConnectionLost, skip)),
	bug("loss-renames",
		actAfterLoss(Introducing, func(e *Event) { e.Fields["wid"] = e.Worker.cfg.WID + "-again" })),
	setting("provider-ignored", ignoreProvider),
	bug("greeting-missed-ends-executor", catalogue.ActIf(isOpenFailure(isUngreeted), skip)),
	bug("refused-ends-beats", catalogue.ActAfter(catalogue.ServerKey[Event], isOpenFailure(isConnRefused), at(Beating),
		skip)),
	bug("refused-ends-executor", catalogue.ActIf(isOpenFailure(isConnRefused), skip)),
	bug("refused-ends-one", skipFirst(isOpenFailure(isConnRefused))),
	bug("unresolved-ends-executor", catalogue.ActIf(isOpenFailure(isUnknownName), skip)),
}

// producerLossBugs are those of producers.
var producerLossBugs = []Bug{
	setting("loss-buffered", func(c *Config) { c.Buffers = true }),
	bug("loss-ignored", tellPushed(func(e *Event) bool { return e.Reply.Kind == 0 })),
}

// actAfterLoss returns hooks that act at a point from when a connection was lost on.
func actAfterLoss(p Point, act func(*Event)) func() func(*Event) {
	return catalogue.ActAfter(catalogue.ServerKey[Event], at(ConnectionLost), at(p), act)
}

// isLostExecutor is the condition of the loss of a connection that is not that for BEAT.
func isLostExecutor(e *Event) bool { return e.Point == ConnectionLost && !e.IsBeatConn }

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

// isOpenFailure returns the condition that a connection of an executor could not be opened, for a reason.
func isOpenFailure(match func(error) bool) func(*Event) bool {
	return func(e *Event) bool { return isLostExecutor(e) && e.Err != nil && match(e.Err) }
}

func isConnRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

func isUnknownName(err error) bool {
	_, ok := errors.AsType[*net.DNSError](err)
	return ok
}

// isUngreeted reports whether a connection ended in its greeting.
func isUngreeted(err error) bool { return !isConnRefused(err) && !isUnknownName(err) }
