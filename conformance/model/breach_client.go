package model

import "maps"

// clausesOfClients has the clauses of the breaches that conformance/workers finds: they bind clients, workers or
// producers.
var clausesOfClients = map[string]string{
	// Of a line.
	"line-end":          "FWP-FRAME-01",
	"line-form":         "FWP-FRAME-02",
	"line-syntax":       "FWP-FRAME-04",
	"line-utf8":         "FWP-FRAME-09",
	"command-in-flight": "FWP-FRAME-07",

	// Of the greeting.
	"before-greeting":       "FWP-HI-07",
	"hello-not-first":       "FWP-HELLO-01",
	"command-unidentified":  "FWP-STATE-02",
	"hello-version":         "FWP-HELLO-02",
	"newer-version-refused": "FWP-HI-06",
	"hi-field-refused":      "FWP-HI-08",
	"password-missing":      "FWP-AUTH-01",
	"password-hash":         "FWP-AUTH-03",
	"password-escaped":      "FWP-WRK-16",

	// Of a worker.
	"worker-fields":               "FWP-HELLO-09",
	"fetch-without-wid":           "FWP-HELLO-09",
	"wid-shared":                  "FWP-HELLO-10",
	"hello-differs":               "FWP-HELLO-12",
	"connection-for-each-command": "FWP-WRK-09",
	"one-connection":              "FWP-WRK-08",

	// Of a work unit that a client pushes.
	"push-jid":        "FWP-WU-01",
	"push-jobtype":    "FWP-WU-02",
	"push-args":       "FWP-WU-03",
	"push-optional":   "FWP-WU-17",
	"push-read-only":  "FWP-WU-18",
	"push-jid-reused": "FWP-WU-15",
	"push-repeated":   "FWP-WRK-06",

	// Of FETCH.
	"beyond-concurrency":  "FWP-WRK-10",
	"fetch-idle":          "FWP-FETCH-11",
	"fetch-other-queue":   "FWP-WRK-11",
	"fetch-queue-missing": "FWP-WRK-11",

	// Of ACK and FAIL.
	"job-not-reported":      "FWP-FETCH-09",
	"job-reported-twice":    "FWP-FETCH-10",
	"report-unfetched":      "FWP-WRK-03",
	"ack-of-failed":         "FWP-ACK-05",
	"fail-of-done":          "FWP-FAIL-04",
	"ack-early":             "FWP-WRK-07",
	"ack-fields":            "FWP-ACK-06",
	"fail-fields":           "FWP-FAIL-05",
	"fail-empty":            "FWP-WRK-04",
	"error-ends-connection": "FWP-RESP-09",

	// Of BEAT.
	"beat-missing":           "FWP-BEAT-06",
	"quiet-without-beat":     "FWP-STATE-19",
	"terminate-without-beat": "FWP-BEAT-16",
	"beat-too-often":         "FWP-BEAT-07",
	"beat-interval":          "FWP-BEAT-08",
	"beat-by-producer":       "FWP-BEAT-09",
	"beat-wid":               "FWP-BEAT-10",
	"beat-state":             "FWP-BEAT-11",
	"beat-memory":            "FWP-BEAT-12",

	// Of the states of a worker.
	"fetch-after-quiet":     "FWP-STATE-17",
	"fetch-after-terminate": "FWP-STATE-20",
	"state-ignored":         "FWP-BEAT-13",
	"unquieted":             "FWP-STATE-24",
	"quiet-exit":            "FWP-STATE-18",
	"terminate-job-left":    "FWP-STATE-21",
	"terminate-stays":       "FWP-STATE-22",
	"unknown-worker":        "FWP-WRK-12",

	// Of the end of a connection.
	"line-after-end":     "FWP-END-03",
	"closed-without-end": "FWP-STATE-15",
	"end-with-jobs":      "FWP-END-04",
}

// ClientBreaches returns the name of each breach that conformance/workers can find, with its clause.
func ClientBreaches() map[string]string { return maps.Clone(clausesOfClients) }
