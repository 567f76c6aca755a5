package fakes

import (
	"cmp"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

// Config configures a [Server]. The zero value is an open server on a free port of
// 127.0.0.1 with the specification's constants. It is read when the server starts;
// later changes have no effect.
type Config struct {
	// Listen opens the listener, again after every [Server.Restart] and
	// [Server.Kill]. Nil means a free port of 127.0.0.1, kept over restarts.
	Listen func() (net.Listener, error)

	// Dir is the folder in which the store is while the server does not run: [Server.Close] writes it there, and Start
	// reads it. A process that is killed writes nothing. Empty means that it is lost.
	Dir string

	// Restored sees and may change what Start reads.
	Restored func(*Snapshot)

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
	// password is. It makes the server a protected one; the conversation printed in
	// the specification needs it.
	AcceptHash string

	// FetchBlock is how long a FETCH waits for a job; zero means 2 s. (FETCH)
	FetchBlock time.Duration

	// DefaultReserve is the reserve_for of jobs without one, in whole seconds;
	// zero means 1800 s. (Work units, Optional fields)
	DefaultReserve time.Duration

	// MinReserve is the shortest reserve_for that PUSH takes, in whole seconds;
	// zero means 60 s. (Work units, Optional fields)
	MinReserve time.Duration

	// ScanEvery, if set, is the interval at which the server polls the schedule, the
	// retries and the reservations. Zero means that each is handled when it is due.
	ScanEvery time.Duration

	// RetryDelay returns the time from the nth failure of a job, counted from 1, to
	// its return to its queue; at least 1 s is used. Nil means 15 s + n^4 s and a
	// part of up to 10 s for every failure, which follows from Seed, jid and n.
	RetryDelay func(failures int) time.Duration
	delay      func(jid string, failures int) time.Duration

	// Seed is what follows by chance: the delays of retries, salts and numbers of
	// iterations. The same seed makes the same choices in every run, for the same
	// jids and connections. Zero means salts and iterations that differ from start
	// to start.
	Seed uint64

	// HelloTimeout is the time after which a connection that is not identified is
	// closed; zero means never.
	HelloTimeout time.Duration

	// Limits of the server, none of which is in the specification. A command beyond
	// one is answered with an error. Zero means no limit, except where another
	// number is given.
	MaxLine        int     // bytes of a command line without CRLF; zero means 64 MiB
	MaxUnfinished  int     // bytes of unfinished lines of all connections, from 4 KiB of each on
	MaxStored      int     // bytes of the jobs that it has, about; those that are dead are only counted
	Memory         *Memory // counts the bytes of both; servers with the same one have them together. Nil: one of its own
	MaxConnections int     // the next one gets an error instead of the greeting
	MaxQueues      int     // queues that hold jobs
	MaxQueueJobs   int     // jobs in one queue
	MaxQueueName   int     // bytes
	MinJID, MaxJID int     // bytes

	// MaxMessage and MaxBacktrace are the greatest number of bytes of a FAIL's
	// message and of lines of its backtrace that are kept; zero means 1000 and 30. A
	// job keeps no more lines than its own backtrace field allows.
	MaxMessage, MaxBacktrace int

	// StateAsSimple sends a state change as a simple string, as in the
	// specification's example, instead of a bulk string, as in its list. (BEAT)
	StateAsSimple bool

	// EndWithoutOK closes the connection after END without the OK. (End State)
	EndWithoutOK bool

	// Farewell is for how long an orderly restart refuses every command, and closes its connection, before the server
	// stops listening.
	Farewell time.Duration

	// Like is the family of servers whose additions to the specification the server has.
	Like Like

	// Hook sees and may change everything that happens: see [Event]. It is called
	// by many goroutines at once.
	Hook func(*Event)
}

// Memory counts what clients have servers keep. The zero value is ready.
type Memory struct{ unfinished, stored atomic.Int64 }

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

func (c *Config) protected() bool {
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
