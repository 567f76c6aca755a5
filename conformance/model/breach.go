package model

import (
	"slices"
	"strings"
)

// ForeignReply begins the names of breaches in which a reply is not one of its command's: the verb follows, or nothing
// for the greeting.
const ForeignReply = "foreign-reply:"

// BrokenGrammar begins the names of breaches in which bytes are not RESP: the String of package fwp's rule follows, or
// nothing where it is not known.
const BrokenGrammar = "grammar:"

// ClauseOf returns the id of the clause that a breach is about, "" for an unknown breach. Breaches have names
// where they are found (scenarios, load, internal/history, conformance/workers), and clauses only here.
func ClauseOf(breach string) string {
	if clause := clauseOf[breach]; clause != "" {
		return clause
	}
	return clausesOfClients[breach]
}

// GrammarClauses returns the ids of the clauses that are about the bytes of a message.
func GrammarClauses() []string {
	var ids []string
	for breach, id := range clauseOf {
		if strings.HasPrefix(breach, BrokenGrammar) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

var clauseOf = map[string]string{
	// Of the bytes.
	BrokenGrammar:                          "FWP-RESP-01",
	BrokenGrammar + "reply type":           "FWP-RESP-01",
	BrokenGrammar + "line end":             "FWP-RESP-01",
	BrokenGrammar + "line break in text":   "FWP-RESP-07",
	BrokenGrammar + "length":               "FWP-RESP-03",
	BrokenGrammar + "bulk string end":      "FWP-RESP-03",
	BrokenGrammar + "length in characters": "FWP-RESP-03",
	BrokenGrammar + "null":                 "FWP-RESP-04",
	BrokenGrammar + "integer":              "FWP-RESP-01",
	BrokenGrammar + "truncated":            "FWP-RESP-03",

	// Of a connection.
	"unasked":              "FWP-RESP-05",
	"extra-reply":          "FWP-RESP-06",
	"no-reply":             "FWP-RESP-06",
	"no-greeting":          "FWP-HI-01",
	"fetch-overdue":        "FWP-FETCH-05",
	"consumer-closed":      "FWP-STATE-13",
	"state-lost":           "FWP-STATE-12",
	ForeignReply:           "FWP-HI-02",
	ForeignReply + "HELLO": "FWP-HELLO-03",
	ForeignReply + "PUSH":  "FWP-PUSH-01",
	ForeignReply + "FETCH": "FWP-FETCH-01",
	ForeignReply + "ACK":   "FWP-ACK-01",
	ForeignReply + "FAIL":  "FWP-FAIL-01",
	ForeignReply + "BEAT":  "FWP-BEAT-01",
	ForeignReply + "INFO":  "FWP-INFO-01",
	ForeignReply + "FLUSH": "FWP-FLUSH-01",
	ForeignReply + "END":   "FWP-END-01",

	// Of a job that does not come.
	"lost":             "FWP-PUSH-04",
	"scheduled-lost":   "FWP-STATE-11",
	"not-retried":      "FWP-STATE-09",
	"not-returned":     "FWP-STATE-07", // after its reservation
	"lost-by-restart":  "FWP-STATE-08",
	"absent":           "FWP-STATE-04", // from its queue, for a while
	"scheduled-absent": "FWP-STATE-11",

	// Of a job that must not come.
	"duplicated":            "FWP-STATE-05", // while another worker holds it
	"reservation-cut":       "FWP-WU-05",
	"returned":              "FWP-ACK-02",
	"early":                 "FWP-STATE-11",
	"retried-at-once":       "FWP-STATE-06",
	"retried-by-default":    "FWP-RETRY-04", // more often than a PUSH without a retry allows
	"retried-never":         "FWP-RETRY-01", // with the retry 0
	"retried-discarded":     "FWP-RETRY-02", // with the retry -1
	"retried-too-often":     "FWP-RETRY-03",
	"flushed":               "FWP-FLUSH-02",
	"refused-but-delivered": "FWP-PUSH-03",
	"never-pushed":          "FWP-FETCH-03",
	"before-push":           "FWP-FETCH-03",

	// Of a job that comes as another, or from another queue.
	"altered":             "FWP-WU-03",
	"queue-altered":       "FWP-WU-04",
	"wrong-queue":         "FWP-FETCH-04",
	"wrong-default-queue": "FWP-FETCH-08", // a FETCH that names none
	"queue-order":         "FWP-FETCH-04",
	"swapped":             "FWP-RESP-06", // the replies of two connections
}
