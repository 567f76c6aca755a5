package model

import (
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Case is what the answer to a command depends on beside the state of its connection.
type Case string

// The cases. Usual is the one of a command to which no other applies.
const (
	Usual         Case = ""
	KnownWorker   Case = "the worker id greeted before, with the same hostname, pid and labels"
	ChangedWorker Case = "the worker id greeted before, with others"
	NoWorker      Case = "the client is not a worker"
	NoHash        Case = "a password is asked for and no hash is sent"
	OldHash       Case = "the hash belongs to the salt of an earlier connection"
	OtherRounds   Case = "the hash is one of another number of rounds, or of hexadecimal rounds"
	WrongHash     Case = "the hash is wrong"
	UpperHash     Case = "the hash is right, in capitals"
	UsedJID       Case = "the jid was used before"
	NotHeld       Case = "the client may not hold the job"
	MayNotFetch   Case = "the client is not a worker, or may know that it must not fetch"
	UnknownWorker Case = "no client has greeted with that worker id"
	OtherWorker   Case = "the worker id is not the client's, or the server may have forgotten it"
	Ordered       Case = "an operator has ordered the worker to be quiet or to terminate"
	OtherOrdered  Case = "an operator has ordered another worker, and not this one"
	Confirmed     Case = "an operator has ordered it, and the worker has confirmed that or its last connection has ended"
	Reported      Case = "the worker has reported a state of its own"
	Protected     Case = "a password is asked for"
)

// Rule is what may be answered to a well-formed command. (Client Lifecycle, Client
// Commands)
type Rule struct {
	IsGreeted bool // HELLO was accepted
	Verb      string
	Case      Case
	Answers   Answer
	Clause    string
	Reading   string // the ambiguities of section 8 of the clause list that widen Answers
}

// rules are all of them. Before HELLO a verb without a row is refused. (FWP-STATE-01)
var rules = []Rule{
	{false, fwp.HELLO, Usual, Okay, "FWP-HELLO-16", ""},
	{false, fwp.HELLO, NoWorker, Okay, "FWP-HELLO-15", ""},
	{false, fwp.HELLO, KnownWorker, Okay, "FWP-HELLO-11", ""},
	{false, fwp.HELLO, ChangedWorker, OkayOrRefused, "FWP-HELLO-13", "AMB-10"},
	{false, fwp.HELLO, NoHash, Refused, "FWP-AUTH-02", ""},
	{false, fwp.HELLO, OtherRounds, Refused, "FWP-AUTH-03", ""},
	{false, fwp.HELLO, UpperHash, OkayOrRefused, "FWP-AUTH-03", "AMB-03"},
	{false, fwp.HELLO, WrongHash, Refused, "FWP-AUTH-04", ""},
	{false, fwp.HELLO, OldHash, Refused, "FWP-AUTH-05", ""},
	{false, fwp.END, Usual, OkayOrRefused | Ended, "FWP-STATE-01", "AMB-12"},
	{false, fwp.END, Protected, OkayOrRefused | Ended, "FWP-AUTH-06", "AMB-12"},

	{true, fwp.HELLO, Usual, OkayOrRefused, "FWP-HELLO-08", "AMB-09"},
	{true, fwp.PUSH, Usual, Okay, "FWP-PUSH-01", ""},
	{true, fwp.PUSH, UsedJID, OkayOrRefused, "FWP-PUSH-01", "AMB-33"},
	{true, fwp.FETCH, Usual, Delivered | NullReply, "FWP-FETCH-03", ""},
	{true, fwp.FETCH, MayNotFetch, Delivered | NullReply | Refused, "FWP-FETCH-03", "AMB-20, AMB-32"},
	{true, fwp.ACK, Usual, Okay, "FWP-ACK-01", ""},
	{true, fwp.ACK, NotHeld, OkayOrRefused, "FWP-ACK-04", "AMB-20, AMB-21"},
	{true, fwp.FAIL, Usual, Okay, "FWP-FAIL-01", ""},
	{true, fwp.FAIL, NotHeld, OkayOrRefused, "FWP-FAIL-03", "AMB-20, AMB-21"},
	{true, fwp.BEAT, Usual, Okay | Notified, "FWP-BEAT-01", "AMB-02, AMB-39"},
	{true, fwp.BEAT, OtherOrdered, Okay, "FWP-BEAT-01", ""},
	{true, fwp.BEAT, Reported, Okay | Notified, "FWP-BEAT-01", "AMB-02, AMB-31"},
	{true, fwp.BEAT, UnknownWorker, Refused, "FWP-BEAT-05", ""},
	{true, fwp.BEAT, OtherWorker, OkayOrRefused | Notified, "FWP-BEAT-01", "AMB-21"},
	{true, fwp.BEAT, Ordered, Notified, "FWP-BEAT-03", "AMB-02"},
	{true, fwp.BEAT, Confirmed, Okay | Notified, "FWP-BEAT-03", "AMB-30"},
	{true, fwp.INFO, Usual, Data, "FWP-STATE-03", "AMB-04"},
	{true, fwp.FLUSH, Usual, OkayOrRefused, "FWP-FLUSH-01", ""},
	{true, fwp.END, Usual, Okay | Ended, "FWP-END-01", "AMB-01"},
}

// FindRule returns the rule of a well-formed command.
func FindRule(s fwp.State, verb string, c Case) Rule {
	greeted := s != fwp.NotIdentified
	for _, r := range rules {
		if r.IsGreeted == greeted && r.Verb == verb && r.Case == c {
			return r
		}
	}
	r := Rule{IsGreeted: greeted, Verb: verb, Case: c, Answers: Refused, Clause: "FWP-STATE-01"}
	switch {
	case greeted: // the specification does not mention such a case
		r.Answers = AnyAnswer
	case c == Protected:
		r.Clause = "FWP-AUTH-06"
	}
	return r
}
