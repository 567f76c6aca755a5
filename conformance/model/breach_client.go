package model

import "maps"

// clausesOfClients has the clauses of the breaches that internal/monitor finds: they bind clients, workers or producers.
var clausesOfClients = map[string]string{
	// Of a line.
	"line-end":          "FWP-FRAME-01",
	"line-form":         "FWP-FRAME-02",
	"line-syntax":       "FWP-FRAME-04",
	"line-utf8":         "FWP-FRAME-09",
	"command-in-flight": "FWP-FRAME-07",

	// Of the greeting.
	"before-greeting": "FWP-HI-07",
	"hello-not-first": "FWP-HELLO-01",

	// Of the states of a consumer.
	"fetch-after-quiet":     "FWP-STATE-17",
	"fetch-after-terminate": "FWP-STATE-20",
}

// ClientBreaches returns the name of each breach that internal/monitor can find, with its clause.
func ClientBreaches() map[string]string { return maps.Clone(clausesOfClients) }
