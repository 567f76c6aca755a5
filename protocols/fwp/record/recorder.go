package record

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/target/proxy"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/scenarios"
)

// Config is how a Recorder works.
type Config struct {
	// Dial opens a connection to the server.
	Dial func(ctx context.Context) (net.Conn, error)
	// Watch is what is known about the clients; the server is judged too.
	Watch clientrules.Config
	// Law judges what the server answers; without Start it does not.
	Law law.Definition
	// Dialect is that of the script. Its extension says what clients may send beyond the specification.
	// Nil: FWP without an extension.
	Dialect scenarios.Dialect
	// KeepsScript says that the conversation is kept, to be written as a script; MaxScript bounds it, in bytes of its
	// text. 0 means 3 MiB, which is about what the language can have.
	KeepsScript bool
	MaxScript   int
	// MaxQueue bounds the bytes that wait to be judged. 0 means 32 MiB.
	MaxQueue int
	// MaxOpen bounds the connections that are open at a time; one more is closed at once. 0 means 4,000.
	MaxOpen int
	// OnPush is called for each job of a PUSH, or of Faktory's PUSHB, that can be read, with the bytes of its args, on the
	// goroutine that judges; nil is nothing.
	OnPush func(at time.Duration, queue, jobtype string, args int)
	// OnBreach is called for each breach, in order, on the goroutine that judges; nil is nothing.
	OnBreach func(clientrules.Breach)
	// OnError is called if the server cannot be dialed for a client, whose connection is closed then, if there are too
	// many connections, and if one cannot be accepted; nil is nothing. It may be called by several goroutines at once.
	OnError func(error)
}

// Recorder passes connections on. Its methods may be called by several goroutines.
type Recorder struct {
	start time.Time
	queue *queue
	judge *judge
	proxy *proxy.Proxy
	done  chan struct{} // the judge has ended
}

// New returns a Recorder, which judges until Close.
func New(cfg Config) *Recorder {
	cfg.MaxScript = cmp.Or(cfg.MaxScript, 3<<20)
	cfg.MaxQueue = cmp.Or(cfg.MaxQueue, 32<<20)
	cfg.MaxOpen = cmp.Or(cfg.MaxOpen, 4000)
	r := &Recorder{start: time.Now(), queue: newQueue(cfg.MaxQueue), done: make(chan struct{})}
	r.proxy = proxy.New(proxy.Config{Dial: cfg.Dial, Observer: observer{r}, MaxOpen: cfg.MaxOpen, OnFailure: cfg.OnError})
	r.judge = newJudge(cfg, r.start)
	go func() {
		defer close(r.done)
		r.judge.run(r.queue)
	}()
	return r
}

// now is the time since the beginning.
func (r *Recorder) now() time.Duration { return time.Since(r.start) }

// Serve accepts connections until the listener is closed or ctx ends, and closes the listener. Those that it has
// accepted go on until Close. The error is nil if ctx has ended.
func (r *Recorder) Serve(ctx context.Context, l net.Listener) error { return r.proxy.Serve(ctx, l) }

// Close ends all connections and the judging, and waits for both. The end of what is still open then is not judged.
func (r *Recorder) Close() {
	r.queue.end(r.now())
	r.proxy.Close()
	<-r.done
}

// observer puts what passes into the queue.
type observer struct{ r *Recorder }

// Opened implements [proxy.Observer].
func (o observer) Opened(conn int) { o.r.queue.put(item{at: o.r.now(), conn: conn, kind: connOpen}) }

// Passing implements [proxy.Observer]. A client that is in the middle of a line may be kept waiting by the server.
func (o observer) Passing(conn int, from proxy.Side, data []byte) (isPartial bool) {
	kind := clientData
	if from == proxy.Server {
		kind = serverData
	}
	o.r.queue.put(item{at: o.r.now(), conn: conn, kind: kind, data: data})
	return kind == clientData && data[len(data)-1] != '\n'
}

// Passed implements [proxy.Observer].
func (o observer) Passed(conn int, _ proxy.Side) {
	o.r.queue.put(item{at: o.r.now(), conn: conn, kind: clientReady})
}

// Ended implements [proxy.Observer].
func (o observer) Ended(conn int, side proxy.Side, reset bool) {
	closer := clientrules.Client
	if side == proxy.Server {
		closer = clientrules.Server
	}
	o.r.queue.put(item{at: o.r.now(), conn: conn, kind: connClose, closer: closer, isReset: reset})
}
