package fakes

import (
	"cmp"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

// Config configures a [Server]. The zero value is a server without a password on a free port of 127.0.0.1, with the
// time constants of the specification. The server reads it when it starts; later changes have no effect.
type Config struct {
	// Listen opens the listener, at the start and after each [Server.Restart] and [Server.Kill]. Nil means a free port
	// of 127.0.0.1, the same after a restart.
	Listen func() (net.Listener, error)

	// Dir is the folder for the jobs while the server does not run. [Server.Close] writes them, and [Server.Start] reads
	// them. A process that is killed writes nothing. Empty means that jobs are lost.
	Dir string

	// Restored is called with what Start has read, and may change it.
	Restored func(*Snapshot)

	// TLS makes every connection a TLS connection, if it is not nil.
	TLS *tls.Config

	// Password is what clients need, if it is not empty. (HELLO, Required Fields for Protected Server)
	Password string

	// Salt is the salt of every connection. Empty means a new one for each.
	Salt string

	// Iterations is the number of hash rounds. Zero means a number from 4000 to 8095 for each connection.
	Iterations int

	// AcceptHash is a pwdhash, in hexadecimal, that is accepted for any password, if it is not empty. Clients then need a
	// password. The example in the specification needs it.
	AcceptHash string

	// FetchBlock is how long a FETCH waits for a job; zero means 2 s. (FETCH)
	FetchBlock time.Duration

	// DefaultReserve is the reserve_for of jobs without one, in whole seconds;
	// zero means 1800 s. (Work units, Optional fields)
	DefaultReserve time.Duration

	// MinReserve is the shortest reserve_for that PUSH accepts, in whole seconds;
	// zero means 60 s. (Work units, Optional fields)
	MinReserve time.Duration

	// ScanEvery is the interval at which the server polls the schedule, the retries and the reservations. Zero means
	// that each is handled when it is due.
	ScanEvery time.Duration

	// RetryDelay returns the time from the nth failure of a job, counted from 1, to its return to its queue; the least is
	// 1 s. Nil means 15 s + n^4 s, and up to n*10 s more, which depends on Seed, jid and n.
	RetryDelay func(failures int) time.Duration
	delay      func(jid string, failures int) time.Duration

	// Seed determines the random choices: the delays of retries, salts and iterations. The same seed makes the same
	// choices for the same jids and connections. Zero means salts and iterations that differ from start to start.
	Seed uint64

	// HelloTimeout is the time after which a connection without an accepted HELLO is closed; zero means never.
	HelloTimeout time.Duration

	// Limits that the specification does not have. A command that exceeds one gets an error reply. Zero means no limit,
	// unless a comment has another number.
	MaxLine        int     // bytes of a command line without CRLF; zero means 64 MiB
	MaxUnfinished  int     // bytes of the unfinished lines of all connections; up to 4 KiB of each do not count
	MaxStored      int     // bytes of all jobs, approximately; dead jobs do not count
	Memory         *Memory // counts both, for all servers that share it; nil means only this server
	MaxConnections int     // a further connection gets an error instead of the greeting
	MaxQueues      int     // queues that hold jobs
	MaxQueueJobs   int     // jobs in one queue
	MaxQueueName   int     // bytes
	MinJID, MaxJID int     // bytes

	// MaxMessage is how many bytes of a FAIL's message are stored, MaxBacktrace how many lines of its backtrace; zero
	// means 1000 and 30. A job's own backtrace field may allow fewer lines.
	MaxMessage, MaxBacktrace int

	// StateAsSimple sends a state change as a simple string, as in the
	// specification's example, instead of a bulk string, as in its list. (BEAT)
	StateAsSimple bool

	// EndWithoutOK closes the connection after END without the OK. (End State)
	EndWithoutOK bool

	// RefusalTime is how long an orderly restart refuses commands and closes their connections, before the server stops
	// listening.
	RefusalTime time.Duration

	// Extension has the commands beyond the specification that the server accepts.
	Extension Extension

	// Hook is called before each step, and may change it: see [Event]. Many goroutines call it at once.
	Hook func(*Event)
}

// Memory counts the bytes that servers store for clients, against [Config.MaxUnfinished] and [Config.MaxStored]. The
// zero value is ready to use.
type Memory struct{ unfinishedBytes, storedBytes atomic.Int64 }

func (c *Config) fill() {
	c.Memory = cmp.Or(c.Memory, new(Memory))
	setIfZero(&c.FetchBlock, 2*time.Second)
	setIfZero(&c.DefaultReserve, 1800*time.Second)
	setIfZero(&c.MinReserve, time.Minute)
	setIfZero(&c.MaxLine, 64<<20)
	setIfZero(&c.MaxMessage, 1000)
	setIfZero(&c.MaxBacktrace, 30)
	if retry := c.RetryDelay; retry != nil {
		c.delay = func(_ string, failures int) time.Duration { return retry(failures) }
	}
	if c.delay == nil {
		seed := c.Seed
		c.delay = func(jid string, failures int) time.Duration { return backOff(seed, jid, failures) }
	}
}

func (c *Config) isProtected() bool {
	return c.Password != "" || c.AcceptHash != ""
}

func setIfZero[T int | time.Duration](n *T, value T) {
	if *n <= 0 {
		*n = value
	}
}

// backOff returns the default delay. The number of failures is bounded before it is
// raised to the fourth power: 100 failures already mean three years.
func backOff(seed uint64, jid string, failures int) time.Duration {
	n := min(max(failures, 1), 100)
	part := Chance(seed, jid, int64(n)).Int64N(int64(n) * int64(10*time.Second))
	return time.Duration(15+n*n*n*n)*time.Second + time.Duration(part)
}

// seconds rounds up, because a reservation must not end early.
func seconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}
