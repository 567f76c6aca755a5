package fwpsubject

import (
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
)

// rules are those of the oracle, and those that the law adds.
var rules = map[string]law.Rule{
	"greeting": {Title: "A server greets with HI, and with what a client needs for its HELLO", Traits: law.AtGreeting},
	"salt":     {Title: "No two connections have the same salt", Traits: law.Unwritten},
	"reply":    {Title: "A command gets a reply that it may get in its state", Traits: law.WrongReply},
	"foreign":  {Title: "A reply is of a kind that its command has"},
	"refused":  {Title: "A command that must be served is not refused", Traits: law.WrongReply},
	"mute":     {Title: "A command that must be refused is answered before the connection ends"},
	"state":    {Title: "The state in the reply to a BEAT was ordered, or reported by the worker"},

	"unknown":   {Title: "A job that is delivered was pushed"},
	"delivered": {Title: "A job is delivered only while it is enqueued", Traits: law.OfDelivery},
	"queue":     {Title: "A job is delivered from a queue that the FETCH names", Traits: law.JobStays},
	"swapped":   {Title: "A job is delivered to the client that asked for its queue"},
	// A job that was passed over may be lost, which shows later.
	"order":   {Title: "The queues of a FETCH are looked into in their order", Traits: law.JobStays},
	"missing": {Title: "A job that is enqueued comes"},
	// The oracle knows of which fields that is so.
	"field": {Title: "A job comes back with the fields that it was pushed with", Traits: law.OfField | law.JobStays},

	"block":   {Title: "A FETCH without a job waits for about two seconds", Traits: law.Timed},
	"late":    {Title: "A job that is there comes at once", Traits: law.Timed | law.JobStays},
	"asleep":  {Title: "A job that is enqueued while a FETCH waits ends the wait", Traits: law.Timed | law.JobStays},
	"stalled": {Title: "A FETCH that waits holds up no other connection", Traits: law.Timed},

	explore.RuleClosed: {Title: "A server does not end the connection of a consumer"},
}
