package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"net"
	"os"
	"strings"
	"time"
)

// Config configures a [Worker].
type Config struct {
	// URL is that of the server: "tcp://:password@host:7419", "tcp+tls://host". If it is empty, Lookup finds it: in the
	// variable that FAKTORY_PROVIDER names, or else in FAKTORY_URL.
	URL    string
	Lookup func(name string) (value string, ok bool)
	// Queues are those of every FETCH; "default" if there are none.
	Queues []string
	// Concurrency is how many jobs run at a time; 2 if zero.
	Concurrency int

	// WID, Hostname, PID and Labels are those of every HELLO; a fresh wid, the host name, the process and "go" if empty.
	WID, Hostname string
	PID           int
	Labels        []string

	// MaxCommands is how many commands a connection carries at most, as with a bug; any number if zero. LeaveOpen has it
	// stay open behind them. Beats has a producer send BEATs, and Buffers has it count jobs as pushed that wait in its
	// memory for a connection, as bugs do too.
	MaxCommands                    int
	LeaveOpen, SendsBeats, Buffers bool

	// SeparateProcesses has executors in processes of their own, whose end is a failure of their job.
	SeparateProcesses bool

	// BeatEvery is the time between two BEATs; 15 s if zero.
	BeatEvery time.Duration
	// Grace is how long jobs may run on when the worker is terminated; 25 s if zero.
	Grace time.Duration
	// FirstPause is the pause before the first dial after a loss; twice as long before each later one, up to 5 s.
	// 100 ms if zero.
	FirstPause time.Duration

	// Dial opens connections; nil means the network of the machine.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Wrap, if set, returns what is used in place of a connection that was opened.
	Wrap func(net.Conn) net.Conn
	// TLS is the configuration for the scheme tcp+tls; nil means the roots of the system.
	TLS *tls.Config
	// Log receives one line for each thing that went wrong; it may be nil.
	Log func(line string)
	// Hook sees and may change everything that happens: see [Event]. It is called by many goroutines at once.
	Hook func(*Event)
}

const (
	longestPause = 5 * time.Second
	dialPatience = 5 * time.Second
)

func (c *Config) fill() {
	if len(c.Queues) == 0 {
		c.Queues = []string{"default"}
	}
	if c.Concurrency <= 0 {
		c.Concurrency = 2
	}
	c.WID = cmp.Or(c.WID, strings.ToLower(rand.Text()))
	if c.Hostname == "" {
		c.Hostname, _ = os.Hostname()
	}
	c.PID = cmp.Or(c.PID, os.Getpid())
	if c.Labels == nil {
		c.Labels = []string{"go"}
	}
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{{&c.BeatEvery, 15 * time.Second}, {&c.Grace, 25 * time.Second}, {&c.FirstPause, 100 * time.Millisecond}} {
		if *d.at <= 0 {
			*d.at = d.value
		}
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
}

// address returns the URL of the server. (URL Configuration)
func (c *Config) address() string {
	if c.URL != "" || c.Lookup == nil {
		return c.URL
	}
	name := "FAKTORY_URL"
	if provider, ok := c.Lookup("FAKTORY_PROVIDER"); ok && provider != "" {
		name = provider
	}
	value, _ := c.Lookup(name)
	return value
}
