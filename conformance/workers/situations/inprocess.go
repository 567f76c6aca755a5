package situations

import (
	"context"
	"fmt"
)

// InProcess is a [Launcher] of functions of this process, for what tests the situations themselves: it returns the one
// for an environment. What it prints and logs, line by line, goes to the two functions that it is given.
type InProcess func(e Environment, printed, logged func(line string)) Function

// Function is a program that is a function.
type Function struct {
	// Run runs until ctx is done, or the program ends by itself, and returns its exit code.
	Run func(ctx context.Context) (code int)
	// Signal receives the signals; nil: each of them ends ctx.
	Signal func(name string)
}

// Sets reports that such a program takes every part of its environment.
func (InProcess) Sets(string) bool { return true }

// Launch starts one.
func (l InProcess) Launch(e Environment) (Process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &inProcess{cancel: cancel, over: make(chan struct{})}
	f := l(e, p.printed.add, p.logged.add)
	if p.signal = f.Signal; p.signal == nil {
		p.signal = func(string) { cancel() }
	}
	go func() {
		p.code = f.Run(ctx)
		close(p.over)
	}()
	return p, nil
}

// inProcess is one run of such a program.
type inProcess struct {
	signal func(string)
	cancel context.CancelFunc
	over   chan struct{}
	code   int

	printed, logged lines
}

func (p *inProcess) Signal(name string)    { p.signal(name) }
func (p *inProcess) Over() <-chan struct{} { return p.over }
func (p *inProcess) Code() int             { return p.code }
func (p *inProcess) Lines() []string       { return p.printed.all() }
func (p *inProcess) How() string           { return fmt.Sprintf("exit status %d", p.code) }

// Output returns the last lines that it logged.
func (p *inProcess) Output() []string {
	const most = 20
	all := p.logged.all()
	return all[max(0, len(all)-most):]
}

// Kill ends it.
func (p *inProcess) Kill() {
	p.cancel()
	<-p.over
}
