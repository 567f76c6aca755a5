package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// play is what one line of a file comes from. Its function may be called in a bubble of virtual time, and need not heed
// an interruption then.
type play struct {
	key

	run func(context.Context) (outcome, error)
}

// player plays what a file lacks.
type player struct {
	file string
	log  *log.Logger
	side int // plays at a time

	mu         sync.Mutex
	out        io.Writer
	done       int
	lastReport time.Time
	errs       []error
}

// playAll plays what the file lacks of all plays, adds the lines to it, and puts it in order. An interruption, or an
// error of a play, keeps the lines that are there. It returns the lines of the plays, not the other ones of the file.
func (p *player) playAll(ctx context.Context, all []play) ([]line, error) {
	base, err := read(p.file)
	if err != nil {
		return nil, err
	}
	if err := write(p.file, base); err != nil { // without a part of a line at its end
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(entry play) bool {
		return slices.ContainsFunc(base, func(l line) bool { return l.key == entry.key })
	})
	p.log.Printf("%d lines, of which %s has %d", len(all), p.file, len(all)-len(rest))
	out, err := os.OpenFile(p.file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	p.out = out
	p.share(ctx, rest)
	if err := errors.Join(append(p.errs, out.Close())...); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted: the same command goes on where it has stopped")
	}
	lines, err := read(p.file)
	if err != nil {
		return nil, err
	}
	if err := write(p.file, lines); err != nil {
		return nil, err
	}
	keys := map[key]bool{}
	for _, entry := range all {
		keys[entry.key] = true
	}
	return slices.DeleteFunc(lines, func(l line) bool { return !keys[l.key] }), nil
}

// share plays several at a time.
func (p *player) share(ctx context.Context, all []play) {
	queue := make(chan play)
	var players sync.WaitGroup
	for range p.side {
		players.Go(func() {
			for entry := range queue {
				result, err := entry.run(ctx)
				p.end(ctx, entry, len(all), result, err)
			}
		})
	}
	for _, entry := range all {
		if ctx.Err() != nil {
			break
		}
		queue <- entry
	}
	close(queue)
	players.Wait()
}

// end adds a line to the file.
func (p *player) end(ctx context.Context, entry play, all int, result outcome, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	switch {
	case err != nil && ctx.Err() != nil:
		return
	case err == nil:
		_, err = fmt.Fprintln(p.out, line{entry.key, result})
	}
	if err != nil {
		p.errs = append(p.errs, fmt.Errorf("%s %s: %w", entry.kind, entry.name, err))
	}
	if now := time.Now(); now.Sub(p.lastReport) > reportInterval || p.done == all {
		p.lastReport = now
		p.log.Printf("%d of %d", p.done, all)
	}
}

// reportInterval is how much time passes between two reports of the progress.
const reportInterval = 10 * time.Second

// bubbles call functions in virtual time, each in a bubble of its own.
type bubbles struct{ t *testing.T }

// inBubbles calls f with what makes bubbles, and exits with what it returns. Only a test can make bubbles, and only
// what go test calls can make a test.
func inBubbles(f func(bubbles) int) {
	_ = flag.CommandLine.Parse(nil) // else testing reads the arguments
	testing.Main(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "proof", F: func(t *testing.T) { os.Exit(f(bubbles{t})) }}}, nil, nil)
}

// run calls f in a bubble. The context of the caller does not reach into it: what is outside would stop its time.
func (b bubbles) run(f func(context.Context) error) (err error) {
	synctest.Test(b.t, func(t *testing.T) {
		time.Sleep(fraction)
		err = f(t.Context())
	})
	return err
}

// fraction is when plays begin: bubbles begin at midnight, where times have no fractions.
const fraction = 123456789 * time.Nanosecond
