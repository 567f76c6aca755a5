package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

const usage = `usage: go run ./internal/proof COMMAND

  corpus -o FILE [-against STORED [-store]] [-server PROTOCOL/NAME=COMMAND]... [-worker PROTOCOL/NAME=COMMAND]...
        what is found of each planted bug and each variation of all catalogues, of the embedded servers by twenty seeds,
        and of real servers and workers; -against plays what differs from STORED again, and prints what still does,
        as compare does; -store writes that to STORED
  marks-off -o FILE
        the same of the planted bugs of servers, where no S: line decides a clause that the law or the table of breaches
        names
  mutants -o FILE
        what is found where one reply to an S: line of a script is changed on its way
  prove [-base REVISION] [-plays] [-within DURATION]
        what is missing of what was changed since a commit, HEAD unless it is given: plays the new and changed checks,
        planted bugs, variations and clauses, writes pages and golden files, and tests the packages that changed; with
        -plays it only plays; what has not begun within a DURATION is left out
  compare OLD NEW
        what differs between two files; the exit code is 1 if something changed
  costs [-base REVISION] [-turns N] [-full N] [-faktory PATH]
        what runs, explore and jobs of fwpbench take with the programs of another commit, and with those of this tree
  slow [-share REVISION | -list REVISION]
        plays all parts of slow.txt, or those whose turn it is at a commit, after it has said when each is played; -list
        only says that; the exit code is 1 if a part failed

What plays adds the lines that FILE does not have yet. -only TEXT plays the lines whose kind and name, as in
"bug fwp/ack-lost", begin with TEXT; -plays N plays each N times: what differs then is unsteady`

var errUsage = errors.New(usage)

// The commands that play.
const (
	corpus   = "corpus"
	marksOff = "marks-off"
	mutants  = "mutants"
)

var players = []string{corpus, marksOff, mutants}

// collectAt is the percentage of the heap at which the collector runs: the plays leave much behind.
const collectAt = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	inBubbles(func(b bubbles) int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		p := program{bubbles: b, out: os.Stdout, log: log.New(os.Stderr, "", log.Ltime)}
		code, err := p.main(ctx, os.Args[1:])
		if err != nil {
			p.log.Print(err)
		}
		return code
	})
}

// The exit codes.
const (
	exitSame    = 0
	exitChanged = 1
	exitFailed  = 2
)

// program is the command, with what it prints to.
type program struct {
	bubbles
	out io.Writer
	log *log.Logger
}

// main runs a command line.
func (p program) main(ctx context.Context, args []string) (code int, err error) {
	switch {
	case len(args) == 3 && args[0] == "compare":
		return p.compare(args[1], args[2])
	case len(args) > 0 && args[0] == "prove":
		return p.prove(ctx, args[1:])
	case len(args) > 0 && args[0] == "slow":
		return p.slow(ctx, args[1:])
	case len(args) > 0 && slices.Contains(players, args[0]):
		return p.play(ctx, args[0], args[1:])
	case len(args) > 0 && args[0] == "costs":
		if err := p.costs(ctx, args[1:]); err != nil {
			return exitFailed, err
		}
		return exitSame, nil
	}
	return exitFailed, errUsage
}

// compare prints what differs between two files.
func (p program) compare(before, after string) (code int, err error) {
	var files [2][]line
	for i, file := range []string{before, after} {
		if files[i], err = read(file); err == nil && len(files[i]) == 0 {
			err = fmt.Errorf("%s has no lines", file)
		}
		if err != nil {
			return exitFailed, err
		}
	}
	text, isSame := tell(compare(rename(files[0]), rename(files[1])))
	if _, err := io.WriteString(p.out, text); err != nil {
		return exitFailed, err
	}
	if !isSame {
		return exitChanged, nil
	}
	return exitSame, nil
}

// options are the flags of what plays.
type options struct {
	file, prefix     string
	against          string // a stored file
	store            bool   // to write it
	plays            int    // of each, but for real ones
	servers, workers strangers
}

// play plays what a file lacks, and prints the sums.
func (p program) play(ctx context.Context, command string, args []string) (code int, err error) {
	o, err := parseOptions(command, args)
	if err != nil {
		return exitFailed, err
	}
	base, err := o.readStored()
	if err != nil {
		return exitFailed, err
	}
	all, err := p.plays(command, o)
	if err != nil {
		return exitFailed, err
	}
	current, err := p.pick(ctx, o, runtime.GOMAXPROCS(0), repeatEach(all, o.plays))
	if err != nil {
		return exitFailed, err
	}
	realLines, err := p.real(ctx, o)
	if err != nil {
		return exitFailed, err
	}
	if _, err = io.WriteString(p.out, sum(slices.Concat(current, realLines))); err != nil {
		return exitFailed, err
	}
	if o.against == "" {
		return exitSame, nil
	}
	return p.against(ctx, o, all, base, current)
}

// parseOptions reads the flags of a command that plays.
func parseOptions(command string, args []string) (o options, err error) {
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.file, "o", "", "")
	f.StringVar(&o.prefix, "only", "", "")
	f.IntVar(&o.plays, "plays", 1, "")
	if command == corpus {
		f.StringVar(&o.against, "against", "", "")
		f.BoolVar(&o.store, "store", false, "")
		f.Var(&o.servers, "server", "")
		f.Var(&o.workers, "worker", "")
	}
	if err := f.Parse(args); err != nil || o.file == "" || f.NArg() > 0 || o.store && o.against == "" {
		return o, errors.Join(err, errUsage)
	}
	return o, nil
}

// plays returns the plays of a command, without those of real ones.
func (p program) plays(command string, o options) (all []play, err error) {
	catalogues, err := catalogues()
	switch {
	case err != nil:
	case command == mutants:
		catalogues = slices.DeleteFunc(catalogues, func(c catalogue) bool {
			_, name, _ := strings.Cut(o.prefix, " ") // to record all conversations takes long
			isAsked := strings.HasPrefix(name, c.name+"/") || strings.HasPrefix(c.name+"/", name)
			return c.fixture.Client != nil || !isAsked
		})
	case command == marksOff:
		catalogues, err = withoutMarks(catalogues)
	}
	for _, c := range catalogues {
		list := c.plays(p.bubbles)
		if command == mutants {
			if list, err = c.mutants(p.bubbles); err != nil {
				return nil, err
			}
		}
		all = append(all, list...)
	}
	return all, err
}

// repeatEach returns n plays for each of them.
func repeatEach(plays []play, n int) (all []play) {
	for i := range n {
		for _, entry := range plays {
			entry.play = i + 1
			all = append(all, entry)
		}
	}
	return all
}

// pick plays those of all plays that are asked for, some at a time.
func (p program) pick(ctx context.Context, o options, side int, all []play) ([]line, error) {
	all = slices.DeleteFunc(all, func(entry play) bool { return !strings.HasPrefix(entry.kind+" "+entry.name, o.prefix) })
	if len(all) == 0 && len(o.servers)+len(o.workers) == 0 {
		return nil, fmt.Errorf("nothing begins with -only %q: a kind and a name, as in \"bug fwp/ack-lost\"", o.prefix)
	}
	return (&player{file: o.file, log: p.log, side: side}).playAll(ctx, all)
}

// real plays real servers and workers, one at a time: they have time limits.
func (p program) real(ctx context.Context, o options) ([]line, error) {
	if len(o.servers)+len(o.workers) == 0 {
		return nil, nil
	}
	folder, err := os.MkdirTemp("", "fwp-proof-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is a temporary one
	fwpcheck := filepath.Join(folder, "fwpcheck")
	build := exec.CommandContext(ctx, "go", "build", "-o", fwpcheck, "./cmd/fwpcheck")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build fwpcheck: %w\n%s", err, out)
	}
	return p.pick(ctx, o, 1, playsOf(fwpcheck, o.servers, o.workers))
}
