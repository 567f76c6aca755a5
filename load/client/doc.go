// Package client is the clients of a load: producers, workers, observers and short-lived connections. It knows no
// protocol: a [wire.Speaker] writes the commands and reads the replies. All clients are state machines driven by a loop
// of package engine: an event and the time go in, bytes and the next wake come out. There are no goroutines and no
// clocks, and no lock but that of [SharedState]. What the connections of one loop share is a [Shard]. Every command is
// timed in the shard's recorder, and every job is booked in the run's ledger.
package client
