// Package clientrules judges what clients of a server do, by rules over a stream of events: one rule for each clause
// that binds clients, workers or producers. A [Builder] turns the bytes of connections into events, and a [Watch] runs
// the rules over them. It knows neither sockets nor processes nor the time of day, so that the same rules run over the
// judging of a worker (protocols/fwp/situations), a recording, an exploration and a load. A rule names its breach;
// ClauseOf of protocols/fwp/suite has the clause.
package clientrules
