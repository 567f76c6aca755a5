package measure

// Op names a kind of command, as far as its times are worth telling apart: "push", "fetch.found". What follows a dot
// distinguishes kinds of one command. Names are those in logs, thresholds and reports.
type Op string

// The kinds of commands of a load, in the terms of FWP; another protocol has other words for some of them.
const (
	// Connect is the dial, until the connection is there.
	Connect Op = "connect"
	// Hello is HELLO, without the time for the password hash.
	Hello Op = "hello"
	// Push is PUSH.
	Push Op = "push"
	// Fetch is a FETCH that was answered with an error or not at all, so that it is none of the next three. It has
	// errors only.
	Fetch Op = "fetch"
	// FetchFound is a FETCH that found a job waiting.
	FetchFound Op = "fetch.found"
	// FetchWaited is a FETCH that was there before the push of the job that it brought.
	FetchWaited Op = "fetch.waited"
	// FetchEmpty is a FETCH that came back without a job.
	FetchEmpty Op = "fetch.empty"
	// Ack is ACK.
	Ack Op = "ack"
	// Fail is FAIL.
	Fail Op = "fail"
	// Beat is BEAT.
	Beat Op = "beat"
	// Info is INFO.
	Info Op = "info"
	// End is END, until its reply or the end of the stream.
	End Op = "end"
)

// Ops returns the kinds of commands of a load, in the order of tables. It is the one list of them.
func Ops() []Op {
	return []Op{Connect, Hello, Push, Fetch, FetchFound, FetchWaited, FetchEmpty, Ack, Fail, Beat, Info, End}
}

// Measure is one of the three times of a command.
type Measure uint8

const (
	// Lateness is the generator's own delay: from the intended time, or from the moment from which the connection was
	// free if that is later, until the command was sent.
	Lateness Measure = iota
	// Service is from sent to replied.
	Service
	// Response is from intended to replied: the wait of a user who comes at the intended time.
	Response
	// Measures is how many there are.
	Measures
)

var measureNames = [Measures]string{"lateness", "service", "response"}

// String is the name in logs, thresholds and reports, such as "response".
func (m Measure) String() string { return nameOf(measureNames[:], int(m)) }

// Flow is a stretch of a job's way. It begins at the intended time of its push.
type Flow uint8

const (
	// ToFetched ends when a worker has the job.
	ToFetched Flow = iota
	// ToAcked ends when the ACK is confirmed.
	ToAcked
	// Flows is how many there are.
	Flows
)

var flowNames = [Flows]string{"job.fetched", "job.acked"}

// String is the name in logs, thresholds and reports: "job.fetched" or "job.acked".
func (f Flow) String() string { return nameOf(flowNames[:], int(f)) }

// ErrorKind is the way in which a command failed.
type ErrorKind uint8

const (
	// Rejected: the server replied with an error.
	Rejected ErrorKind = iota
	// Malformed: a reply that breaks the protocol, or that does not belong to the command.
	Malformed
	// Timeout: no reply within the time that the run allows.
	Timeout
	// Refused: the connection was refused.
	Refused
	// Reset: the connection was reset, or broke in another way.
	Reset
	// Closed: the server closed the connection in order while a reply was due.
	Closed
	// OutOfFiles: this process may not open any more files.
	OutOfFiles
	// OutOfPorts: this machine has no local port left for the target.
	OutOfPorts
	// OutOfMemory: the kernel has no memory left for sockets.
	OutOfMemory
	// Other is everything else.
	Other
	// ErrorKinds is how many there are.
	ErrorKinds
)

var errorNames = [ErrorKinds]string{
	"rejected", "malformed", "timeout", "refused", "reset", "closed",
	"out-of-files", "out-of-ports", "out-of-memory", "other",
}

// String is the name in logs and reports, such as "rejected" or "out-of-files".
func (k ErrorKind) String() string { return nameOf(errorNames[:], int(k)) }

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return "unknown"
	}
	return names[i]
}
