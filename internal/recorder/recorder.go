package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/internal/monitor"
	"github.com/fwpsuite/fwp/internal/shortage"
)

// Config is how a Recorder works.
type Config struct {
	// Dial opens a connection to the server.
	Dial func(ctx context.Context) (net.Conn, error)
	// Watch is what is known about the clients; the server is judged too.
	Watch monitor.Config
	// Script says that the conversation is kept, to be written as a script; MaxScript bounds it, in bytes of its text. 0
	// means 3 MiB, which is about what the language can have.
	Script    bool
	MaxScript int
	// MaxQueue bounds the bytes that wait to be judged. 0 means 64 MiB.
	MaxQueue int
	// MaxOpen bounds the connections that are open at a time; one more is closed at once. 0 means 4,000.
	MaxOpen int
	// Found is called for each breach, in order, on the goroutine that judges; nil is nothing.
	Found func(monitor.Breach)
	// Failed is called if the server cannot be dialed for a client, whose connection is closed then, if there are too many
	// connections, and if one cannot be accepted; nil is nothing. It may be called by several goroutines at once.
	Failed func(error)
}

// Recorder passes connections on. Its methods may be called by several goroutines.
type Recorder struct {
	cfg   Config
	begun time.Time
	queue *queue
	judge *judge

	mu    sync.Mutex
	next  int
	count int // of the clients' connections that are open
	open  map[net.Conn]struct{}
	ended bool
	wait  sync.WaitGroup
	done  chan struct{} // the judge has ended
}

// New returns a Recorder, which judges until Close.
func New(cfg Config) *Recorder {
	if cfg.MaxScript == 0 {
		cfg.MaxScript = 3 << 20
	}
	if cfg.MaxQueue == 0 {
		cfg.MaxQueue = 64 << 20
	}
	if cfg.MaxOpen == 0 {
		cfg.MaxOpen = 4000
	}
	r := &Recorder{
		cfg: cfg, begun: time.Now(), queue: newQueue(cfg.MaxQueue), open: map[net.Conn]struct{}{}, done: make(chan struct{}),
	}
	r.judge = newJudge(cfg, r.begun)
	go func() {
		defer close(r.done)
		r.judge.run(r.queue)
	}()
	return r
}

// now is the time since the beginning.
func (r *Recorder) now() time.Duration { return time.Since(r.begun) }

// pause is how long Serve waits when there is no descriptor for another connection.
const pause = 100 * time.Millisecond

// Serve accepts connections until the listener is closed or ctx ends, and closes the listener. Those that it has
// accepted go on until Close. The error is nil if ctx has ended.
func (r *Recorder) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		client, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		var temporary net.Error
		if errors.As(err, &temporary) && temporary.Timeout() || errors.Is(err, syscall.ECONNABORTED) {
			r.failed(err)
			continue
		}
		if shortage.Of(err) != shortage.None {
			r.failed(err)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		if err != nil {
			return err
		}
		if number, ok := r.take(client); ok {
			go r.pass(ctx, client, number)
		}
	}
}

func (r *Recorder) failed(err error) {
	if r.cfg.Failed != nil {
		r.cfg.Failed(err)
	}
}

// take counts a connection in; false if there are no more to come.
func (r *Recorder) take(client net.Conn) (number int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.count >= r.cfg.MaxOpen {
		if !r.ended {
			r.failed(fmt.Errorf("more than %d connections are open", r.cfg.MaxOpen))
		}
		reset(client)
		return 0, false
	}
	r.next++
	r.count++
	r.open[client] = struct{}{}
	r.wait.Add(1)
	return r.next, true
}

// pass passes one connection on until both sides have ended.
func (r *Recorder) pass(ctx context.Context, client net.Conn, number int) {
	defer r.wait.Done()
	defer r.leave(client)
	r.queue.put(item{at: r.now(), conn: number, what: opened})
	server, err := r.cfg.Dial(ctx)
	if err != nil {
		r.queue.put(item{at: r.now(), conn: number, what: closed, by: monitor.Server, reset: true})
		reset(client)
		r.failed(err)
		return
	}
	if !r.add(server) {
		_ = server.Close()
		return
	}
	defer r.drop(server)
	l := &link{r: r, number: number}
	both := make(chan struct{})
	go func() {
		defer close(both)
		l.copy(client, server, fromServer)
	}()
	l.copy(server, client, fromClient)
	<-both
}

func (r *Recorder) add(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.open[c] = struct{}{}
	}
	return !r.ended
}

// leave counts a client's connection out.
func (r *Recorder) leave(client net.Conn) {
	r.drop(client)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count--
}

func (r *Recorder) drop(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

// Close ends all connections and the judging, and waits for both. The end of what is still open then is not judged.
func (r *Recorder) Close() {
	r.queue.end(r.now())
	r.mu.Lock()
	r.ended = true
	for c := range r.open {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wait.Wait()
	<-r.done
}

// link is one connection that is passed on.
type link struct {
	r      *Recorder
	number int
	once   sync.Once // the first end is the one that counts
	over   atomic.Bool
}

// copy passes the bytes of one side on to the other until it ends, and then ends the other in the same way.
func (l *link) copy(to, from net.Conn, what what) {
	buffer := make([]byte, 2<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !l.over.Load() {
			l.r.queue.put(item{at: l.r.now(), conn: l.number, what: what, data: buffer[:n]})
		}
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				reset(from)
				return
			}
		}
		if err != nil {
			l.end(to, what, !errors.Is(err, io.EOF))
			return
		}
		if n == len(buffer) && n < 16<<10 {
			buffer = make([]byte, 16<<10) // it is a busy connection; thousands may be idle
		}
	}
}

func (l *link) end(to net.Conn, what what, broken bool) {
	by := monitor.Client
	if what == fromServer {
		by = monitor.Server
	}
	l.once.Do(func() {
		l.over.Store(true)
		l.r.queue.put(item{at: l.r.now(), conn: l.number, what: closed, by: by, reset: broken})
	})
	half, can := to.(interface{ CloseWrite() error })
	if broken || !can {
		reset(to)
		return
	}
	_ = half.CloseWrite()
}

// reset closes a connection without an orderly end.
func reset(c net.Conn) {
	if tcp, is := c.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
