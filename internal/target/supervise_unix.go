//go:build unix

package target

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	canStart  = true
	shellName = "sh"
)

// detach puts a process into a group of its own, which an interrupt from the keyboard does not reach.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Supervise runs a command of the shell and returns its exit code, 128 and the number of the signal that ended it, or
// 127 if the shell cannot be run. What it prints goes to output, which is a file for it to pass on. Supervise ends the
// command, with everything that the command started: by SIGTERM when orders ends or this process gets a signal to end,
// and by SIGKILL ten seconds later or when orders has a line "kill". A line "signal TERM" sends the command itself that
// signal: HUP, INT, TERM, TSTP, STOP, CONT, USR1 or USR2; "group STOP" sends it to all of its process group. A line
// "kill-server" kills the command alone, and gives the rest ten seconds to end by itself. What is left when the command
// has ended by itself is killed, too; but on Linux, after a command that ended well, what serves at the port of the
// server is waited for, from a line "serves" on, and until then all that is left. On Linux that is every descendant, on
// other systems what is still in its process group. It is for a process of its own, see [Starter] and [Program], whose
// children are all of the command.
func Supervise(command string, orders io.Reader, output io.Writer) int {
	adoptOrphans()
	defer removeFolder(os.Getppid())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	cmd := exec.Command(shellName, "-c", command) //nolint:noctx // it ends by an order
	cmd.Stdout, cmd.Stderr = output, output
	detach(cmd)
	syscall.CloseOnExec(reportFile) // the command does not get it
	if cmd.Start() != nil {
		return cannotRun
	}
	s := &supervisedCommand{pid: cmd.Process.Pid, ended: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its state says how it ended
		close(s.ended)
		if cmd.ProcessState.Success() {
			s.awaitDaemon()
		}
		close(done)
	}()
	select {
	case <-done:
		s.endRest()
		return exitCode(cmd.ProcessState)
	case <-signals:
	case order := <-s.receiveOrder(orders):
		switch order {
		case killOrder:
			_ = syscall.Kill(-s.pid, syscall.SIGKILL)
			<-s.ended
			endGroup(s.pid)
			return exitCode(cmd.ProcessState)
		case killServerOrder:
			s.killServer()
		}
	}
	defer endGroup(s.pid)
	if !s.stop() {
		return killedCode
	}
	return exitCode(cmd.ProcessState)
}

// reportFile is the file by which a supervisor tells the process that has started it what is left of a command.
const reportFile = 3

// endRest kills the processes that still run though the command has ended, and names them before.
func (s *supervisedCommand) endRest() {
	defer endGroup(s.pid)
	if pids := descendants(os.Getpid()); len(pids) > 0 {
		words := leftWord + " " + strings.Trim(fmt.Sprint(pids), "[]") + "\n"
		_, _ = syscall.Write(reportFile, []byte(words)) // no one listens, if it fails
	}
}

// supervisedCommand is a command and what it has started.
type supervisedCommand struct {
	pid       int           // of the command, and of its group
	ended     chan struct{} // closed when the command has ended
	hasServed atomic.Bool   // the server has served
}

// awaitDaemon waits for the end of a server that the command has put into the background: as long as there are
// processes of it which are about to serve, or do.
func (s *supervisedCommand) awaitDaemon() {
	port, err := strconv.Atoi(os.Getenv(portVariable))
	if err != nil {
		return // it is no server
	}
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
	awaitEnd(nil, func() bool {
		return !hasOrphans() || s.hasServed.Load() && len(holders(listeners(at), os.Getpid())) == 0
	})
}

// removeFolder removes the folder of the server, if the process that made it, the parent, has ended without doing so.
func removeFolder(parent int) {
	folder := os.Getenv(folderVariable)
	if os.Getppid() != parent && strings.HasPrefix(filepath.Base(folder), folderPrefix) {
		removeDir(folder)
	}
}

const cannotRun = 127 // as shells have it

// exitCode returns the exit code of a process as shells do.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// killServer kills the command, or what it has put into the background, and waits until the others have ended by
// themselves.
func (s *supervisedCommand) killServer() {
	select {
	case <-s.ended:
		signalOrphans(syscall.SIGKILL)
	default:
		_ = syscall.Kill(s.pid, syscall.SIGKILL)
		<-s.ended
	}
	patience := time.NewTimer(stopGrace)
	defer patience.Stop()
	awaitGroup(s.pid, patience.C)
}

// receiveOrder sends the order to end when there is one. It passes signals on until then.
func (s *supervisedCommand) receiveOrder(orders io.Reader) <-chan string {
	order := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(orders)
		for {
			line, err := lines.ReadString('\n')
			name, isSignal := strings.CutPrefix(line, signalOrder)
			group, isGroup := strings.CutPrefix(line, groupOrder)
			switch {
			case err == nil && line == servesOrder:
				s.hasServed.Store(true)
			case err == nil && isSignal:
				sendSignal(name, s.pid)
			case err == nil && isGroup:
				sendSignal(group, -s.pid)
				signalOrphans(namedSignals[strings.TrimSpace(group)])
			default:
				order <- line
				return
			}
		}
	}()
	return order
}

// sendSignal sends a process, or a group if its number is negative, the signal of that name.
func sendSignal(name string, pid int) {
	if s, ok := namedSignals[strings.TrimSpace(name)]; ok {
		_ = syscall.Kill(pid, s) // an error means that it has ended
	}
}

// namedSignals are the signals that a command can be sent.
var namedSignals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "TSTP": syscall.SIGTSTP,
	"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
}

// stop stops a group in order, and then what is left of its descendants, and waits until all have ended. It reports
// whether they did in time.
func (s *supervisedCommand) stop() (isInTime bool) {
	_ = syscall.Kill(-s.pid, syscall.SIGTERM)
	_ = syscall.Kill(-s.pid, syscall.SIGCONT) // one that stands still ends when it continues
	patience := time.NewTimer(stopGrace)
	defer patience.Stop()
	select {
	case <-s.ended:
		return awaitGroup(s.pid, patience.C) && stopOrphans(patience.C)
	case <-patience.C:
		_ = syscall.Kill(-s.pid, syscall.SIGKILL)
		<-s.ended
	}
	return false
}

// awaitGroup waits until all processes of a group have ended, or the patience is over, and reports whether they have.
func awaitGroup(group int, patience <-chan time.Time) bool {
	return awaitEnd(patience, func() bool { return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) })
}

// awaitEnd waits until something is over, or the patience is, and reports whether it is.
func awaitEnd(patience <-chan time.Time, isOver func() bool) bool {
	look := time.NewTicker(readyInterval) // the system has no event for it
	defer look.Stop()
	for {
		if reap(); isOver() {
			return true
		}
		select {
		case <-patience:
			return false
		case <-look.C:
		}
	}
}

// endGroup kills what is left of a group and of its descendants.
func endGroup(group int) {
	_ = syscall.Kill(-group, syscall.SIGKILL)
	killOrphans()
	reap()
}

// reap releases children that have ended.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 || err != nil {
			return
		}
	}
}

// shell runs a command in a process group of its own, so that everything it
// started ends with it when its time is up, and nothing of it when the user
// interrupts the suite.
func shell(ctx context.Context, command string) *exec.Cmd {
	c := exec.CommandContext(ctx, shellName, "-c", command)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// namedPipe is the input of a program: a pipe with a name, which the shell opens.
type namedPipe struct{ folder, path string }

func newNamedPipe() (*namedPipe, error) {
	folder, err := os.MkdirTemp("", "fwp-input-")
	if err != nil {
		return nil, err
	}
	p := &namedPipe{folder, filepath.Join(folder, "input")}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		p.discard()
		return nil, err
	}
	return p, nil
}

// discard removes the pipe.
func (p *namedPipe) discard() {
	if p != nil {
		_ = os.RemoveAll(p.folder)
	}
}

// copy writes what it reads into the pipe, and removes that when the program is over.
func (p *namedPipe) copy(from io.Reader, done <-chan struct{}) {
	if p == nil {
		return
	}
	opened := make(chan struct{})
	go func() {
		<-done
		// A program that has not opened its end keeps the writer waiting: another reader ends that.
		if end, err := os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			<-opened
			_ = end.Close()
		}
		p.discard()
	}()
	to, err := os.OpenFile(p.path, os.O_WRONLY, 0) // blocks until there is a reader
	close(opened)
	if err != nil {
		return
	}
	defer to.Close() //nolint:errcheck // the program has ended, or gets all that was written
	_, _ = io.Copy(to, from)
}
