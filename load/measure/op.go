package measure

import "github.com/fwpsuite/fwp/internal/base/text"

// Op is a kind of command whose times are recorded separately: "push", "fetch.found". The part after a dot
// distinguishes kinds of one command. Logs, thresholds and reports use these names.
type Op string

// The kinds of commands of a load, in the words that reports have for them; each protocol has its own.
const (
	// Connect is the dial, until the connection is there.
	Connect Op = "connect"
	// Hello is the introduction, without the time for the password hash.
	Hello Op = "hello"
	// Push adds a job.
	Push Op = "push"
	// Fetch asks for a job: one that was answered with an error or not at all, so that it is none of the next three. It
	// has errors only.
	Fetch Op = "fetch"
	// FetchFound is a fetch that found a job waiting.
	FetchFound Op = "fetch.found"
	// FetchWaited is a fetch that was sent before the push of the job that it returned.
	FetchWaited Op = "fetch.waited"
	// FetchEmpty is a fetch that returned no job.
	FetchEmpty Op = "fetch.empty"
	// Ack reports that a job is done.
	Ack Op = "ack"
	// Fail reports that a job failed.
	Fail Op = "fail"
	// Beat is a heartbeat; of a worker under load, the time from one until the next.
	Beat Op = "beat"
	// Info asks how the server is.
	Info Op = "info"
	// End is goodbye, until its reply or the end of the stream.
	End Op = "end"
	// Job is no command: of a worker under load, from the delivery of a job until its ack or fail.
	Job Op = "job"
	// Idle is none either: of an executor of a worker under load, from the reply to an ack or fail until its next fetch.
	Idle Op = "idle"
)

// Ops returns the kinds of commands of a load, in the order of tables. It is the one list of them.
func Ops() []Op {
	return []Op{Connect, Hello, Push, Fetch, FetchFound, FetchWaited, FetchEmpty, Ack, Fail, Beat, Info, End, Job, Idle}
}

// Measure is one of the times of a command.
type Measure uint8

const (
	// Lateness is the generator's own delay: from the intended time, or from when the connection was free if that is
	// later, until the command was sent.
	Lateness Measure = iota
	// Service is from sent to replied.
	Service
	// Response is from intended to replied, so that waiting is counted.
	Response
	// Measures is how many there are.
	Measures
)

var measureNames = text.NewEnum("measure", map[Measure]string{
	Lateness: "lateness", Service: "service", Response: "response",
})

// String is the name in logs, thresholds and reports, such as "response".
func (m Measure) String() string { return measureNames.String(m) }

// Flow is a time of a job, recorded with those of its push. The first two are parts of its end-to-end latency, and
// begin at the intended time of the push.
type Flow uint8

const (
	// ToFetched ends when a worker has the job.
	ToFetched Flow = iota
	// ToAcked ends when the ack is confirmed.
	ToAcked
	// DeliveryLateness is no part of it: how long after its time a job was delivered that has one, by a delay or for its
	// next try.
	DeliveryLateness
	// Flows is how many there are.
	Flows
)

var flowNames = text.NewEnum("flow", map[Flow]string{ToFetched: "job.fetched", ToAcked: "job.acked",
	DeliveryLateness: "job.late"})

// String is the name in logs, thresholds and reports: "job.fetched", "job.acked" or "job.late".
func (f Flow) String() string { return flowNames.String(f) }

// ErrorKind is the way in which a command failed.
type ErrorKind uint8

const (
	// Rejected is an error reply.
	Rejected ErrorKind = iota
	// Malformed is a reply that breaks the protocol, or that does not belong to the command.
	Malformed
	// Timeout is no reply within the time that the run allows.
	Timeout
	// Refused is a connection that was refused.
	Refused
	// Reset is a connection that was reset, or broke in another way.
	Reset
	// Closed is a connection that the server closed while a reply was due.
	Closed
	// OutOfFiles means that this process cannot open more files.
	OutOfFiles
	// OutOfPorts means that this machine has no local port left for the target.
	OutOfPorts
	// OutOfMemory means that the kernel has no memory left for sockets.
	OutOfMemory
	// TooLong is a message that is longer than a load reads.
	TooLong
	// Other is any other error.
	Other
	// ErrorKinds is how many there are.
	ErrorKinds
)

var errorNames = text.NewEnum("error kind", map[ErrorKind]string{
	Rejected: "rejected", Malformed: "malformed", Timeout: "timeout", Refused: "refused", Reset: "reset",
	Closed: "closed", OutOfFiles: "out-of-files", OutOfPorts: "out-of-ports", OutOfMemory: "out-of-memory",
	TooLong: "too-long", Other: "other",
})

// String is the name in logs and reports, such as "rejected" or "out-of-files".
func (k ErrorKind) String() string { return errorNames.String(k) }
