package model

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// ImpossibleReply begins the names of breaches in which a reply is not one of its command's: the verb follows, or
// nothing for the greeting.
const ImpossibleReply = "foreign-reply:"

// BrokenGrammar begins the names of breaches in which bytes are not RESP: the String of package fwp's rule follows, or
// nothing where it is not known.
const BrokenGrammar = "grammar:"

// ClauseOf returns the id of the clause that a breach is about, "" for an unknown breach. Breaches have names
// where they are found (scenarios, load, internal/history, protocols/fwp/clientrules), and clauses only here.
func ClauseOf(breach string) string {
	if clause := clauseOf()[breach]; clause != "" {
		return clause
	}
	return clientClauses()[breach]
}

// GrammarClauses returns the ids of the clauses that are about the bytes of a message.
func GrammarClauses() []string {
	ids := []string{"FWP-FETCH-03"} // the null, which may be written in other bytes
	for breach, id := range clauseOf() {
		if strings.HasPrefix(breach, BrokenGrammar) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

//go:embed breaches.txt
var breaches string

var clauseOf = sync.OnceValue(func() map[string]string { return text.Pairs(breaches) })

//go:embed breaches_client.txt
var clientBreaches string

var clientClauses = sync.OnceValue(func() map[string]string { return text.Pairs(clientBreaches) })

// ClientBreaches returns the name of each breach that protocols/fwp/clientrules can find, with its clause.
func ClientBreaches() map[string]string { return maps.Clone(clientClauses()) }
