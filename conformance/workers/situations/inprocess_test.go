package situations

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/fakes/fakeworker"
)

// InProcess is a [Launcher] of the worker of fakes/fakeworker, in this process: for the proof that situations find what
// is wrong.
type InProcess struct {
	// Dial opens connections; nil means the network of the machine.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Configure changes the worker, as a fault or a variation does; it may be nil.
	Configure func(*fakeworker.Config)
	// Producer has it be a producer.
	Producer bool
	// Roots are trusted by TLS; nil means those of the system.
	Roots *x509.CertPool

	mu  sync.Mutex
	pid int
}

// Sets reports that the worker takes every part of its environment.
func (l *InProcess) Sets(part string) bool { return part == "queues" || part == "concurrency" }

// Launch starts a worker.
func (l *InProcess) Launch(e Environment) (Process, error) {
	l.mu.Lock()
	l.pid++
	pid := l.pid
	l.mu.Unlock()
	vars := map[string]string{"FAKTORY_URL": e.URL}
	if e.Provider {
		vars = map[string]string{"FAKTORY_URL": nowhere, "FAKTORY_PROVIDER": providerName, providerName: e.URL}
	}
	config := fakeworker.Config{
		Queues: e.Queues, Concurrency: e.Concurrency, Dial: l.Dial, PID: 1000 + pid, Hostname: "host",
		Lookup: func(name string) (string, bool) { v, is := vars[name]; return v, is },
	}
	p := &inProcess{over: make(chan struct{})}
	config.Log = p.logged.add
	if l.Roots != nil {
		config.TLS = &tls.Config{RootCAs: l.Roots, MinVersion: tls.VersionTLS12}
	}
	if l.Configure != nil {
		l.Configure(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.worker, p.cancel = fakeworker.New(config), cancel
	go func() {
		if l.Producer {
			p.code = p.worker.Produce(ctx, e.Input, p.printed.add)
		} else {
			p.code = p.worker.Run(ctx)
		}
		close(p.over)
	}()
	return p, nil
}

// inProcess is one worker in this process.
type inProcess struct {
	worker *fakeworker.Worker
	cancel context.CancelFunc
	over   chan struct{}
	code   int

	printed, logged lines
}

func (p *inProcess) Signal(name string)    { p.worker.Signal(name) }
func (p *inProcess) Over() <-chan struct{} { return p.over }
func (p *inProcess) Code() int             { return p.code }
func (p *inProcess) Lines() []string       { return p.printed.all() }
func (p *inProcess) How() string           { return fmt.Sprintf("exit status %d", p.code) }

func (p *inProcess) Output() []string {
	const most = 20
	all := p.logged.all()
	return all[max(0, len(all)-most):]
}

func (p *inProcess) Kill() {
	p.cancel()
	<-p.over
}
