package main

import (
	"encoding/json"
	"io"
	"slices"
)

// departure is one way to differ from the usual worker: a mutant breaks the specification, a variant keeps it.
type departure struct {
	Kind     string   `json:"kind"`
	Number   int      `json:"number"`
	Clauses  []string `json:"clauses"`        // the most specific clause first, then the others that are right too
	Earlier  bool     `json:"needs_earlier"`  // shows only after earlier commands or under a condition
	Password bool     `json:"needs_password"` // shows only with a server that asks for a password
	Text     string   `json:"text"`           // what the program does
	Rule     string   `json:"rule"`           // what the specification says about it
}

// known says whether the numbers name one departure at most.
func known(mutant, variant int) bool {
	if mutant == 0 && variant == 0 {
		return true
	}
	if mutant != 0 && variant != 0 {
		return false
	}
	return slices.ContainsFunc(departures(), func(d departure) bool {
		return d.Kind == "mutant" && d.Number == mutant || d.Kind == "variant" && d.Number == variant
	})
}

// departures is the whole table, with kinds and numbers filled in.
func departures() []departure {
	var all []departure
	for i, d := range mutants {
		d.Kind, d.Number = "mutant", i+1
		all = append(all, d)
	}
	for i, d := range variants {
		d.Kind, d.Number = "variant", i+1
		all = append(all, d)
	}
	return all
}

// printTable writes the table as JSON lines and returns the exit code.
func printTable(out io.Writer) int {
	enc := json.NewEncoder(out)
	for _, d := range departures() {
		if err := enc.Encode(d); err != nil {
			return 1
		}
	}
	return 0
}

// ids is short for a list of clause ids.
func ids(list ...string) []string { return list }

// mutants holds the forbidden departures; the first has number 1.
var mutants = []departure{
	// Greeting and identity.
	{Clauses: ids("FWP-HELLO-02"), Earlier: true,
		Text: "HELLO repeats the version of the server's HI, whatever it is",
		Rule: "A client that conforms always says v 2."},
	{Clauses: ids("FWP-HELLO-09"),
		Text: "pid in HELLO is a string of digits",
		Rule: "The pid of a consumer's HELLO is an Integer."},
	{Clauses: ids("FWP-HELLO-12"), Earlier: true,
		Text: "the list of labels grows by one with every further connection",
		Rule: "Connections that share a wid must give equal hostname, pid and labels."},
	{Clauses: ids("FWP-HELLO-10"), Earlier: true,
		Text: "the wid is made from the host name alone, so two processes have the same",
		Rule: "The wid is unique to a worker, everywhere."},
	{Clauses: ids("FWP-HELLO-01", "FWP-STATE-02"), Earlier: true,
		Text: "a connection that is opened again after a loss goes on without HELLO",
		Rule: "HELLO must be the first command of every connection."},
	{Clauses: ids("FWP-HI-08", "FWP-HELLO-01"), Earlier: true,
		Text: "a HI with fields that the worker does not know is refused",
		Rule: "HI is a JSON hash with the listed fields; more fields are no reason to stay silent."},
	{Clauses: ids("FWP-STATE-02", "FWP-RESP-09"), Earlier: true,
		Text: "an error in answer to HELLO is taken for acceptance",
		Rule: "Only an accepted HELLO identifies the connection; before that no other command may come."},
	// Passwords.
	{Clauses: ids("FWP-AUTH-03", "FWP-AUTH-01"), Password: true,
		Text: "the hash is written in hexadecimal between the rounds",
		Rule: "SHA-256 is applied to its own result i times, and only the last result is written in hexadecimal."},
	{Clauses: ids("FWP-AUTH-03", "FWP-AUTH-01", "FWP-WRK-01"), Earlier: true, Password: true,
		Text: "percent escapes of the password in the URL are not decoded",
		Rule: "The hash is taken of the client's password; the URL only carries it, by the rules of URLs."},
	{Clauses: ids("FWP-AUTH-03", "FWP-AUTH-01", "FWP-AUTH-05"), Earlier: true, Password: true,
		Text: "the hash of the first connection is used again on further connections, which have another salt",
		Rule: "The hash is taken of the password and the salt in the HI of the same connection."},
	// Framing.
	{Clauses: ids("FWP-FRAME-01", "FWP-FRAME-04"),
		Text: "END is sent with a line feed only",
		Rule: "Every command ends with CRLF."},
	{Clauses: ids("FWP-FRAME-04", "FWP-FETCH-02", "FWP-FRAME-02"), Earlier: true,
		Text: "several queues in FETCH are separated by commas",
		Rule: "The arguments of FETCH are separated by single spaces."},
	{Clauses: ids("FWP-FRAME-01", "FWP-FRAME-04", "FWP-FAIL-05"), Earlier: true,
		Text: "line ends in an error message are sent as they are, inside the FAIL line",
		Rule: "A command is one line; its argument is JSON, which has to escape line ends."},
	{Clauses: ids("FWP-FRAME-07"), Earlier: true,
		Text: "ACK and the next FETCH leave in one write, without waiting for the answer to ACK",
		Rule: "Only one command at a time may be executed on a connection."},
	// Reading answers.
	{Clauses: ids("FWP-RESP-08", "FWP-FETCH-09", "FWP-RESP-03", "FWP-FRAME-09"), Earlier: true,
		Text: "the length of a bulk string is counted in characters instead of bytes",
		Rule: "Answers are RESP, whose lengths count bytes; a job with non-ASCII text must be read as any other."},
	{Clauses: ids("FWP-RESP-08", "FWP-LINK-02", "FWP-FETCH-09"), Earlier: true,
		Text: "the body of a bulk string is taken from a single read, so a job that comes in pieces is cut",
		Rule: "The transport is a stream of bytes: the limits of segments mean nothing."},
	{Clauses: ids("FWP-BEAT-13", "FWP-RESP-08", "FWP-STATE-17", "FWP-STATE-20", "FWP-STATE-21", "FWP-STATE-22"),
		Earlier: true,
		Text:    "a state that comes as a simple string in answer to BEAT is not seen",
		Rule:    "The worker must at once enter a state that the answer to BEAT names, in either form."},
	{Clauses: ids("FWP-BEAT-06", "FWP-RESP-09", "FWP-BEAT-16"), Earlier: true,
		Text: "an error in answer to one BEAT ends the heartbeat",
		Rule: "An error concerns its command only; a consumer must BEAT at least every 60 seconds."},
	{Clauses: ids("FWP-FETCH-10", "FWP-FAIL-04", "FWP-ACK-05"), Earlier: true,
		Text: "when ACK is answered with an error, a FAIL for the same job follows",
		Rule: "At most one ACK or FAIL for a job; FAIL only when the execution went wrong."},
	// Reports.
	{Clauses: ids("FWP-ACK-05", "FWP-WRK-07", "FWP-FAIL-04"), Earlier: true,
		Text: "ACK is sent before the job runs, also when it fails later",
		Rule: "ACK tells that the execution ended without an error, FAIL that it ended with one."},
	{Clauses: ids("FWP-FETCH-09", "FWP-ACK-05", "FWP-FETCH-10"), Earlier: true,
		Text: "with two jobs in hand, a report names the job that was fetched last",
		Rule: "Each fetched job is answered by one ACK or FAIL with its own jid."},
	{Clauses: ids("FWP-FAIL-04", "FWP-FETCH-09", "FWP-FETCH-10"), Earlier: true,
		Text: "every FAIL names the job that failed first",
		Rule: "A job whose execution failed is answered by a FAIL with its own jid."},
	{Clauses: ids("FWP-ACK-05", "FWP-FAIL-04"), Earlier: true,
		Text: "after a failed job the next good job of the same thread is failed too",
		Rule: "A job whose execution did not end with an error must be acknowledged."},
	{Clauses: ids("FWP-FETCH-09", "FWP-ACK-05", "FWP-WU-11"), Earlier: true,
		Text: "a job whose custom hash holds anything but strings is dropped without a report",
		Rule: "custom is any JSON hash, and each fetched job must be answered by ACK or FAIL."},
	{Clauses: ids("FWP-FETCH-09", "FWP-ACK-05", "FWP-WRK-05"), Earlier: true,
		Text: "the result of a job is lost when the connection broke while it ran",
		Rule: "Each fetched job must be answered by ACK or FAIL; a lost connection does not change that."},
	{Clauses: ids("FWP-FETCH-10"), Earlier: true,
		Text: "after a reconnection the last report, which was answered, is sent again",
		Rule: "At most one ACK or FAIL for a job."},
	// Heartbeat.
	{Clauses: ids("FWP-BEAT-06", "FWP-BEAT-16"), Earlier: true,
		Text: "no BEAT is sent while a job is in hand",
		Rule: "A consumer must BEAT at least every 60 seconds, also when it is busy."},
	{Clauses: ids("FWP-BEAT-07"), Earlier: true,
		Text: "every finished job is followed by an additional BEAT",
		Rule: "BEATs should not be more frequent than every 5 seconds."},
	{Clauses: ids("FWP-BEAT-10"), Earlier: true,
		Text: "a BEAT in the quiet state has no wid",
		Rule: "BEAT names the wid of the worker's HELLO."},
	{Clauses: ids("FWP-BEAT-06", "FWP-BEAT-16", "FWP-WRK-05"), Earlier: true,
		Text: "the heartbeat ends when its connection is lost; the rest reconnects",
		Rule: "A consumer must BEAT at least every 60 seconds as long as it works."},
	// Quiet and terminate.
	{Clauses: ids("FWP-STATE-24", "FWP-STATE-17"), Earlier: true,
		Text: "an OK to a BEAT in the quiet state starts the fetching again",
		Rule: "A worker that was quieted cannot be unquieted."},
	{Clauses: ids("FWP-STATE-17"), Earlier: true,
		Text: "threads that are busy when quiet comes fetch again after their job",
		Rule: "In the quiet state a consumer should not fetch further jobs."},
	{Clauses: ids("FWP-STATE-18", "FWP-STATE-19", "FWP-BEAT-16"), Earlier: true,
		Text: "a quiet worker ends by itself as soon as it has no job in hand",
		Rule: "A quiet consumer must not terminate, and must go on with BEAT."},
	{Clauses: ids("FWP-STATE-22", "FWP-STATE-21", "FWP-STATE-25"), Earlier: true,
		Text: "each further terminate answer starts the time for lingering jobs anew",
		Rule: "The consumer must be in the end state at most 30 seconds after terminate."},
	{Clauses: ids("FWP-STATE-21", "FWP-FETCH-09", "FWP-END-04"), Earlier: true,
		Text: "of several jobs that outlive terminate only the first is failed",
		Rule: "Every job still executing should be failed within 30 seconds, before END."},
	{Clauses: ids("FWP-BEAT-13", "FWP-STATE-22", "FWP-STATE-21"), Earlier: true,
		Text: "terminate has no effect on a worker that is quiet",
		Rule: "The worker must at once enter the terminating state, and must end within 30 seconds."},
	{Clauses: ids("FWP-FETCH-10", "FWP-FAIL-04"), Earlier: true,
		Text: "when the time is over, jobs that were in hand at terminate are failed although they were reported since",
		Rule: "At most one ACK or FAIL for a job."},
	{Clauses: ids("FWP-STATE-20", "FWP-BEAT-13"), Earlier: true,
		Text: "terminate without an earlier quiet lets idle threads go on fetching while another job is in hand",
		Rule: "In the terminating state a consumer must not fetch further jobs."},
	{Clauses: ids("FWP-END-03"), Earlier: true,
		Text: "a last BEAT is sent after END on the heartbeat's connection",
		Rule: "No command may follow END on the same connection."},
	{Clauses: ids("FWP-STATE-15", "FWP-FETCH-09"), Earlier: true,
		Text: "SIGTERM ends the process at once, without FAIL and without END",
		Rule: "A client should not just close a connection but send END, after reporting its jobs."},
}

// variants holds the lawful departures; the first has number 1.
var variants = []departure{
	{Clauses: ids("FWP-HELLO-11", "FWP-WRK-08"), Text: "one connection for everything",
		Rule: "Several connections are allowed, not required."},
	{Clauses: ids("FWP-WRK-08", "FWP-HELLO-11"), Text: "a separate connection carries all ACK and FAIL",
		Rule: "ACK and FAIL name the job; no sentence ties them to the connection of the FETCH."},
	{Clauses: ids("FWP-HELLO-09", "FWP-FRAME-04"),
		Text: "JSON members in reverse order, with blanks after colons and commas",
		Rule: "Arguments are JSON hashes, and the order and the blanks of JSON carry no meaning."},
	{Clauses: ids("FWP-HELLO-09", "FWP-HELLO-07"), Text: "HELLO has additional fields",
		Rule: "The text lists the fields that must be there, not all that may be."},
	{Clauses: ids("FWP-HELLO-09"), Text: "the list of labels is empty",
		Rule: "labels is a list of strings; no length is demanded."},
	{Clauses: ids("FWP-FAIL-05"), Text: "the backtrace of FAIL is an empty list",
		Rule: "backtrace is a list of strings; no length is demanded."},
	{Clauses: ids("FWP-BEAT-08", "FWP-BEAT-12"), Text: "BEAT every 10 seconds, without rss_kb",
		Rule: "Any interval from 5 to 60 seconds is allowed, and rss_kb is optional."},
	{Clauses: ids("FWP-BEAT-07", "FWP-HELLO-11"), Text: "two connections BEAT by turns, each every 15 seconds",
		Rule: "BEAT names the worker, not the connection; the whole stays above 5 seconds."},
	{Clauses: ids("FWP-WRK-05"), Text: "waits 3 seconds and more before it reconnects",
		Rule: "No time is given for reconnecting."},
	{Clauses: ids("FWP-FETCH-11"), Text: "pauses a second after a FETCH that brought nothing",
		Rule: "No time is given from one FETCH to the next."},
	{Clauses: ids("FWP-STATE-17", "FWP-STATE-15"),
		Text: "a quiet worker ENDs the connections that only fetch; the heartbeat stays",
		Rule: "The quiet consumer must live on and BEAT; it needs no idle connection for that."},
	{Clauses: ids("FWP-STATE-21", "FWP-STATE-25"), Text: "terminate fails all jobs in hand at once",
		Rule: "FAIL within 30 seconds is asked for, not a time to wait before it."},
	{Clauses: ids("FWP-FETCH-13", "FWP-FETCH-02", "FWP-FETCH-08"),
		Text: "FETCH without arguments for the default queue alone, else the queues in random order",
		Rule: "Without a queue FETCH looks at default; the order of queues is the worker's choice."},
	{Clauses: ids("FWP-END-01", "FWP-STATE-15"), Text: "closes right after END without reading an answer",
		Rule: "The end state says that there is no response to read after END."},
	{Clauses: ids("FWP-LINK-02", "FWP-FRAME-05"), Text: "commands leave in many small segments",
		Rule: "The transport is a stream of bytes: the limits of segments mean nothing."},
}
