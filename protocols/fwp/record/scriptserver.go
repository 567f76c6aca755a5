package record

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/scenarios"
)

// ScriptServer plays the server's side of a script to clients: it answers them as the script has the server answer.
// Each connection of a client plays one of the script, in their order, or one that goes on with the client's line. A
// connection with the name setup is the script's own, and left out.
//
// Lines are compared by their verbs; names get the values that clients send. BEAT, FETCH and INFO that the script does
// not have at that place are answered as an idle server would, since clients choose their times.
type ScriptServer struct {
	threads []*thread

	mu          sync.Mutex
	values      map[string]any // of names
	firstStep   map[string]int // the step in which a client sends a name first
	changed     chan struct{}  // closed at the next change
	differences []string       // what clients did otherwise
}

// thread is one connection of the script.
type thread struct {
	name    string
	steps   []numberedStep
	isTaken bool
	index   int // the next step
}

type numberedStep struct {
	number int
	step   scenarios.Step
}

// maxDifferences bounds what is kept of what clients did otherwise.
const maxDifferences = 100

// NewScriptServer returns one that plays a script once. The error says what in the script only the client's side can
// have.
func NewScriptServer(script *scenarios.Script) (*ScriptServer, error) {
	steps, err := script.Flat()
	if err != nil {
		return nil, err
	}
	s := &ScriptServer{values: map[string]any{}, firstStep: map[string]int{}, changed: make(chan struct{})}
	for number, step := range steps {
		switch step := step.(type) {
		case *scenarios.Connect:
			l := s.thread(step.Conn)
			if step.Role != scenarios.Raw { // the greeting that a script leaves to the suite
				l.add(number, greetingStep{})
			}
		case *scenarios.Send:
			s.thread(step.Conn).add(number, step)
			s.noteNames(number, step)
		case *scenarios.Expect:
			s.thread(step.Conn).add(number, step)
		}
	}
	s.threads = slices.DeleteFunc(s.threads, func(l *thread) bool { return l.name == "setup" })
	return s, nil
}

// thread returns the connection with a name. One that no connect opens is greeted as any.
func (s *ScriptServer) thread(name string) *thread {
	for _, l := range s.threads {
		if l.name == name {
			return l
		}
	}
	l := &thread{name: name}
	s.threads = append(s.threads, l)
	return l
}

func (l *thread) add(number int, step scenarios.Step) {
	l.steps = append(l.steps, numberedStep{number, step})
}

// greetingStep is HI, HELLO and OK.
type greetingStep struct{ scenarios.Step }

// noteNames notes which names a client sends.
func (s *ScriptServer) noteNames(number int, step *scenarios.Send) {
	_, names := step.PlaceholderText()
	for _, n := range names {
		if _, ok := s.firstStep[n.String()]; !ok {
			s.firstStep[n.String()] = number
		}
	}
}

// Serve plays until every connection of the script was played to its end and clients had a second more, or until ctx
// ends. It closes the listener.
func (s *ScriptServer) Serve(ctx context.Context, ln net.Listener) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		s.await(ctx, s.isPlayed)
		machine.Sleep(ctx, time.Second)
		cancel()
	})
	for {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		all.Go(func() { s.serve(ctx, nc) })
	}
}

// await waits for a condition, which is looked at with the lock held.
func (s *ScriptServer) await(ctx context.Context, condition func() bool) {
	for {
		s.mu.Lock()
		isMet, changed := condition(), s.changed
		s.mu.Unlock()
		if isMet {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// isPlayed reports whether every connection of the script is at its end.
func (s *ScriptServer) isPlayed() bool {
	return !slices.ContainsFunc(s.threads, func(l *thread) bool { return l.index < len(l.steps) })
}

// change makes a change that others may wait for.
func (s *ScriptServer) change(act func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	act()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Differences returns what clients did otherwise than the script has it. It may be called when Serve has returned.
func (s *ScriptServer) Differences() []string { return s.differences }

// UnplayedConns returns a sentence for each connection of the script that was not played to its end. It may be called
// when Serve has returned.
func (s *ScriptServer) UnplayedConns() (sentences []string) {
	for _, l := range s.threads {
		switch {
		case l.index >= len(l.steps):
		case !l.isTaken:
			sentences = append(sentences, fmt.Sprintf("no client opened %s", cmp.Or(l.name, "the connection")))
		default:
			sentences = append(sentences, fmt.Sprintf("%s was played up to line %d", cmp.Or(l.name, "the connection"), l.line()))
		}
	}
	return sentences
}

func (l *thread) line() int {
	if _, ok := l.steps[l.index].step.(greetingStep); ok {
		return 0
	}
	return l.steps[l.index].step.Place().Line
}

func (s *ScriptServer) addDifference(format string, args ...any) {
	s.change(func() {
		if len(s.differences) < maxDifferences {
			s.differences = append(s.differences, fmt.Sprintf(format, args...))
		}
	})
}
