package fakes

import (
	"crypto/tls"
	"math/rand/v2"
	"net"
	"time"
)

// Config says how a [Server] behaves. The zero value is an open server on a free
// port of 127.0.0.1 with the specification's constants. It is read when the server
// starts; changing it afterwards has no effect.
type Config struct {
	// Listen opens the listener, again after every [Server.Restart] and
	// [Server.Kill]. Nil means a free port of 127.0.0.1, kept over restarts.
	Listen func() (net.Listener, error)

	// TLS, if set, makes every connection a TLS connection.
	TLS *tls.Config

	// Password makes the server a protected one. (HELLO, Required Fields for
	// Protected Server)
	Password string

	// Salt is the same for every connection if it is set, and fresh for each if
	// it is empty.
	Salt string

	// Iterations is the number of hash rounds; zero means another number from
	// 4000 to 8095 for every connection.
	Iterations int

	// AcceptHash is a pwdhash, in hexadecimal, that is accepted whatever the
	// password is. It makes the server a protected one, so that the conversation
	// printed in the specification can be played.
	AcceptHash string

	// FetchBlock is how long a FETCH waits for a job; zero means 2 s. (FETCH)
	FetchBlock time.Duration

	// DefaultReserve is the reserve_for of jobs that name none, in whole seconds;
	// zero means 1800 s. (Work units, Optional fields)
	DefaultReserve time.Duration

	// MinReserve is the shortest reserve_for that PUSH takes, in whole seconds;
	// zero means 60 s. (Work units, Optional fields)
	MinReserve time.Duration

	// ScanEvery, if set, has the schedule, the retries and the reservations looked
	// at only so often, as servers do that poll. Zero means as soon as one is due.
	ScanEvery time.Duration

	// RetryDelay gives the time from the nth failure of a job, counted from 1, to
	// its return to its queue. Anything under 1 s counts as 1 s. Nil means
	// 15 s + n^4 s and up to 10 s more for every failure.
	RetryDelay func(failures int) time.Duration

	// HelloTimeout closes connections that are not identified by then; zero means
	// never.
	HelloTimeout time.Duration

	// Limits of the server, none of which the specification names. What goes
	// beyond one is answered with an error. Zero means no limit, except where
	// another number is given.
	MaxLine        int // bytes of a command line without CRLF; zero means 64 MiB
	MaxConnections int // the next one gets an error instead of the greeting
	MaxQueues      int // queues that hold jobs
	MaxQueueJobs   int // jobs in one queue
	MaxQueueName   int // bytes
	MinJID, MaxJID int // bytes

	// MaxMessage and MaxBacktrace are how many bytes of a FAIL's message and how
	// many lines of its backtrace are kept at most; zero means 1000 and 30. A job
	// keeps no more lines than its own backtrace field says.
	MaxMessage, MaxBacktrace int

	// StateAsSimple tells workers of a state change in a simple string, as in the
	// specification's example, instead of a bulk string, as in its list. (BEAT)
	StateAsSimple bool

	// EndWithoutOK closes the connection after END without the OK. (End State)
	EndWithoutOK bool

	// Hook sees and may change everything that happens: see [Event]. It is called
	// by many goroutines at once.
	Hook func(*Event)
}

func (c *Config) fill() {
	orDuration(&c.FetchBlock, 2*time.Second)
	orDuration(&c.DefaultReserve, 1800*time.Second)
	orDuration(&c.MinReserve, time.Minute)
	orInt(&c.MaxLine, 64<<20)
	orInt(&c.MaxMessage, 1000)
	orInt(&c.MaxBacktrace, 30)
	if c.RetryDelay == nil {
		c.RetryDelay = backOff
	}
}

func (c *Config) protected() bool {
	return c.Password != "" || c.AcceptHash != ""
}

func orDuration(d *time.Duration, otherwise time.Duration) {
	if *d <= 0 {
		*d = otherwise
	}
}

func orInt(n *int, otherwise int) {
	if *n <= 0 {
		*n = otherwise
	}
}

// backOff grows so fast that the number of failures is bounded before it is raised
// to the fourth power: 100 failures already mean three years.
func backOff(failures int) time.Duration {
	n := min(max(failures, 1), 100)
	return time.Duration(15+n*n*n*n)*time.Second + rand.N(time.Duration(n)*10*time.Second)
}

// seconds rounds up, because no job may be taken back before its time.
func seconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}
