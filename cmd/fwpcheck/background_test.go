package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

type backgroundKey struct{} // of the commands in the values of a script

// background is a command that was started by ready.
type background struct {
	cmd     *exec.Cmd
	in      io.Closer
	out     bytes.Buffer
	done    chan struct{} // closed when all of its output was read
	isEnded bool
}

// startCommand is `ready VAR COMMAND [ARG...]`: it starts a command that prints "ready URL" when it serves, and puts the URL
// into the variable.
func startCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ready VAR COMMAND [ARG...]")
	}
	path := ""
	for folder := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if _, err := os.Stat(folder + "/" + args[1]); err == nil && path == "" {
			path = folder + "/" + args[1]
		}
	}
	cmd := exec.Command(path, args[2:]...) //nolint:noctx // the end of the script ends it
	b := &background{cmd: cmd, done: make(chan struct{})}
	b.cmd.Dir, b.cmd.Stderr = ts.MkAbs("."), os.Stderr
	var err error
	b.in, err = b.cmd.StdinPipe()
	ts.Check(err)
	out, err := b.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(b.cmd.Start())
	ts.Defer(func() { _, _ = b.end() })
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	go func() {
		defer close(b.done)
		_, _ = io.Copy(&b.out, lines)
	}()
	ts.Check(err)
	url, ok := strings.CutPrefix(strings.TrimSpace(first), "ready ")
	if !ok {
		ts.Fatalf("%s printed %q", args[1], first)
	}
	url, _, _ = strings.Cut(url, " ") // the control of a double is behind it
	ts.Setenv(args[0], url)
	ts.Value(backgroundKey{}).(map[string]*background)[args[0]] = b
}

// end closes the standard input of a command, which ends it, and returns its exit code.
func (b *background) end() (int, error) {
	if b.isEnded {
		return 0, nil
	}
	b.isEnded = true
	_ = b.in.Close()
	<-b.done
	err := b.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// endCommand is `ended VAR CODE FILE`: it ends the command that ready has started for the variable, which has to end with
// this exit code, and writes what it printed to a file.
func endCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: ended VAR CODE FILE")
	}
	b := ts.Value(backgroundKey{}).(map[string]*background)[args[0]]
	code, err := b.end()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b.out.Bytes(), 0o600))
	if strconv.Itoa(code) != args[1] {
		ts.Fatalf("exit code %d, want %s:\n%s", code, args[1], b.out.String())
	}
}
