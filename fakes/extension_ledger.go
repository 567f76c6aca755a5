package fakes

import (
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// ledger has the batches and the tracks of jobs that clients stored. Nothing follows from them: no callback is pushed.
type ledger struct {
	mu      sync.Mutex
	batches entries
	tracks  entries
}

// checkSubcommand refuses a subcommand that is not one of some, and one without an argument.
func checkSubcommand(subcommands ...string) func(*conn, *Event) *Refusal {
	return func(_ *conn, e *Event) *Refusal {
		subcommand, argument := subcommandOf(e)
		switch {
		case !slices.Contains(subcommands, subcommand) || argument == "":
			return refuse(AboutArguments, "%s takes %s, and an argument", e.Command.Verb, strings.Join(subcommands, " or "))
		case subcommand == "NEW" || subcommand == "SET":
			o, r := parseObject([]byte(argument))
			e.Object = o
			return r
		}
		return nil
	}
}

// batch stores a batch, or answers from what is stored.
func (c *conn) batch(e *Event) (fwp.Reply, error) {
	l := &c.s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	subcommand, bid := subcommandOf(e)
	if subcommand == "NEW" {
		bid = "b-" + salt(c.s.secret, int64(len(l.batches)+1))
		batch := e.Object.Clone()
		batch.SetText("bid", bid)
		batch.SetTime("created_at", c.s.Now())
		batch.Set("complete_st", `""`)
		batch.Set("success_st", `""`)
		if !l.batches.set(bid, batch) {
			return fwp.Reply{}, refuse(AboutLimit, "there are too many batches")
		}
	}
	batch := l.batches[bid]
	switch {
	case batch == nil:
		return fwp.Reply{}, refuse("bid", "No such batch %s", bid)
	case subcommand == "COMMIT":
		return OK(), nil
	case subcommand == "STATUS":
		jobs := int64(0)
		for _, storedJob := range c.s.store.Jobs() {
			custom, _ := ParseObject(storedJob.Job.unit().NonNull("custom"))
			if custom.Text("bid") == bid {
				jobs++
			}
		}
		for _, name := range []string{"total", "pending"} {
			batch.SetInt(name, jobs)
		}
		batch.SetInt("failed", 0)
		return Bulk(batch.text()), nil
	}
	return Bulk([]byte(bid)), nil
}

// track stores what a worker says of a job, or answers with it and with where the job is.
func (c *conn) track(e *Event) (fwp.Reply, error) {
	l := &c.s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	subcommand, jid := subcommandOf(e)
	if subcommand == "SET" {
		track := e.Object.Clone()
		track.SetTime("updated_at", c.s.Now())
		if !l.tracks.set(track.Text("jid"), track) {
			return fwp.Reply{}, refuse(AboutLimit, "there are too many tracks")
		}
		return OK(), nil
	}
	track := l.tracks[jid]
	if track == nil {
		track = &Object{}
		track.SetText("jid", jid)
		track.SetTime("updated_at", c.s.Now())
	}
	track.SetText("state", "unknown")
	for _, storedJob := range c.s.Jobs() {
		if storedJob.JID == jid {
			track.SetText("state", strings.Replace(storedJob.Place, "queue", "enqueued", 1))
		}
	}
	return Bulk(track.text()), nil
}

// entries are objects of clients by their ids.
type entries map[string]*Object

// set stores an object, and reports whether there was room for it.
func (all *entries) set(id string, o *Object) bool {
	const limit = 10_000
	if *all == nil {
		*all = entries{}
	}
	if len(*all) >= limit && (*all)[id] == nil {
		return false
	}
	(*all)[id] = o
	return true
}
