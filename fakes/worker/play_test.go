package worker

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/transcript"
)

// day is what happens to a worker in a test, on an embedded server. The zero day is one without jobs that ends after a
// minute with SIGTERM.
type day struct {
	rules      string   // by which the server misbehaves, a line each
	password   string   // of the server, and in the worker's URL
	jobs       []string // that are there
	delayedJob string   // one that is pushed after 15.5 s
	pushes     []string // of a producer: the worker is one if there are any

	losses []time.Duration // when all connections are closed
	signal string          // that comes first, at signalAt
	at     time.Duration
	ends   time.Duration // when SIGTERM comes; a minute if zero

	configure func(*Config)
}

// play has a worker live through a day, in virtual time, and returns what it sent, and "exit CODE". Connections have no
// names, since which is which is chance; so is the order at one time, which is that of the texts.
func (d day) play(t *testing.T, configure func(*Config)) string {
	t.Helper()
	var events []transcript.Event
	synctest.Test(t, func(t *testing.T) {
		place, log := memnet.New().At("server:7419"), transcript.NewLog()
		s := fakes.NewServer(fakes.Config{
			Password: d.password, Salt: "sält", Iterations: 3, Hook: d.hook(t),
			Listen: func() (net.Listener, error) {
				l, err := place.Listen()
				return &tapListener{Listener: l, log: log}, err
			},
		})
		push := func(job string) {
			require.NoError(t, s.Push([]byte(strings.Replace(job, "{", `{"queue":"high",`, 1))))
		}
		for _, job := range d.jobs {
			push(job)
		}
		if d.delayedJob != "" {
			defer time.AfterFunc(15500*time.Millisecond, func() { push(d.delayedJob) }).Stop()
		}
		for _, at := range d.losses {
			defer time.AfterFunc(at, func() { _ = s.Restart() }).Stop()
		}
		code := d.run(t.Context(), place.Network, log, configure)
		time.Sleep(time.Second)
		s.Close()
		synctest.Wait()
		log.Add("", transcript.Other, fmt.Append(nil, "exit ", code))
		events = slices.DeleteFunc(log.Events(), func(e transcript.Event) bool {
			return e.Kind == transcript.Server || e.Kind == transcript.ServerEnd
		})
	})
	for i := range events {
		events[i].Conn = ""
	}
	slices.SortStableFunc(events, func(a, b transcript.Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.String(), b.String()))
	})
	return transcript.Text(events)
}

// hook returns the hook of the server. It greets 100 ms late, so that a HELLO before that shows, and a job that failed
// does not come again.
func (d day) hook(t *testing.T) func(*fakes.Event) {
	t.Helper()
	rules, err := fakes.Rules().ParseFile(d.rules + "\non greeting: delay 100ms\non failed: to dead")
	require.NoError(t, err)
	return rule.Hooks(rules...)
}

// tapListener is a listener whose connections are logged.
type tapListener struct {
	net.Listener

	log    *transcript.Log
	lastID int
}

func (l *tapListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	l.lastID++
	return l.log.Tap(nc, strconv.Itoa(l.lastID), transcript.Client), err
}

// run runs the worker, or the producer, until it has ended or ten minutes are over.
func (d day) run(ctx context.Context, nw *memnet.Network, log *transcript.Log, configure func(*Config)) int {
	c := Config{
		Lookup: func(name string) (string, bool) {
			value := map[string]string{
				"FAKTORY_PROVIDER": "JOBS_URL", "JOBS_URL": "tcp://:" + strings.ReplaceAll(d.password, "@", "%40") + "@server",
				"FAKTORY_URL": "tcp://nobody",
			}[name]
			return value, value != ""
		},
		Queues: []string{"high", "low"}, WID: "w-1", Hostname: "host", PID: 7, Labels: []string{"go"}, Concurrency: 2,
	}
	if d.configure != nil {
		d.configure(&c)
	}
	if configure != nil {
		configure(&c)
	}
	c.Dial = nw.DialContext
	w := New(c)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if d.signal != "" {
		defer time.AfterFunc(d.at, func() { w.Signal(d.signal) }).Stop()
	}
	if d.pushes != nil {
		in := strings.NewReader(strings.Join(d.pushes, "\n"))
		return w.Produce(ctx, in, func(line string) { log.Add("", transcript.Other, []byte(line)) })
	}
	defer time.AfterFunc(cmp.Or(d.ends, time.Minute), func() { w.Signal("TERM") }).Stop()
	return w.Run(ctx)
}

// unit returns a work unit.
func unit(jid, jobtype, args string) string {
	return fmt.Sprintf(`{"jid":%q,"jobtype":%q,"args":%s}`, jid, jobtype, args)
}

// repeatLine is a line that comes twice at one time.
func repeatLine(line string) string { return line + "\n" + line }
