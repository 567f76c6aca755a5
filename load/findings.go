package load

import (
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/results"
)

// breaches adds up those of all loops and of the introduction.
func (r *run) breaches() (all client.Breaches) {
	if r.met.Breach != nil {
		all.Add(client.Breach{First: r.met.Breach, Count: 1})
	}
	r.each(func(c *client.Shard) {
		for _, b := range c.Breaches() {
			all.Add(b)
		}
	})
	return all
}

// kindOf returns the kind of finding of a breach, and a few words about it.
func kindOf(b *protocol.BreachError) (kind results.FindingKind, what string) {
	switch b.Breach {
	case protocol.Unasked:
		return results.FindingReply, "bytes that no command asked for"
	case protocol.ExtraReply:
		return results.FindingReply, "more than one reply to " + b.Verb
	case protocol.NoReply:
		return results.FindingUnanswered, b.Verb + " got no reply, while other commands did"
	case protocol.Overdue:
		return results.FindingOverdue, "there was no job, and the reply came too late"
	case protocol.WorkerClosed:
		return results.FindingClosed, "the connection of a worker, which gave no cause"
	case protocol.ForeignReply:
		return results.FindingReply, "not a valid greeting"
	case protocol.ForeignReply + b.Verb:
		return results.FindingReply, "not a valid reply to " + b.Verb
	}
	return results.FindingGrammar, "bytes that are not well-formed"
}
