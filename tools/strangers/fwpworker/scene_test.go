package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// scene is a script for the fake server and what must be seen in it.
type scene struct {
	env      []string // for the worker
	password string   // in the URL, as spelled there
	workers  int      // how many processes; 0 is one
	hi       []string // the greeting of each connection; the last one is for all others
	rules    []rule
	until    string        // the scene ends when the transcript matches this
	last     time.Duration // or after this time
	need     string        // what the whole transcript must match
	forbid   string        // what it must not match
	check    func(*server) string
}

// childMark tells the test's binary to be the worker.
const childMark = "FWPWORKER_CHILD"

// play runs a worker with the flags in a scene and returns the server with its transcript.
func (sc *scene) play(t *testing.T, flags ...string) *server {
	t.Helper()
	s := newServer(t, sc)
	processes := make([]*process, max(1, sc.workers))
	for i := range processes {
		processes[i] = startProcess(t, s, flags)
	}
	for end := time.Now().Add(sc.last); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if sc.until != "" && s.matches(sc.until) {
			break
		}
	}
	s.note("x", 0, "the scene is over")
	for _, p := range processes {
		p.stop()
	}
	close(s.over)
	_ = s.listener.Close()
	s.serving.Wait()
	return s
}

// process is a running worker.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// startProcess starts a worker for the server.
func startProcess(t *testing.T, s *server, flags []string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], flags...)
	user := ""
	if s.scene.password != "" {
		user = ":" + s.scene.password + "@"
	}
	cmd.Env = append(os.Environ(), childMark+"=1", "WORKER_SPEEDUP=10", "WORKER_CONCURRENCY=1",
		"FAKTORY_PROVIDER=OTHER_URL", fmt.Sprintf("OTHER_URL=tcp://%s%s", user, s.listener.Addr()))
	cmd.Env = append(cmd.Env, s.scene.env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		s.note("x", 0, fmt.Sprintf("exit %d", cmd.ProcessState.ExitCode()))
		close(p.done)
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return p
}

// stop asks the worker to end, and kills it when it does not.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(8 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// verdict is what is wrong in the transcript, or nothing.
func (sc *scene) verdict(s *server) string {
	if sc.need != "" && !s.matches(sc.need) {
		return "never seen: " + sc.need
	}
	if sc.forbid != "" && s.matches(sc.forbid) {
		return "seen: " + sc.forbid
	}
	if sc.check != nil {
		return sc.check(s)
	}
	return ""
}

// bulk is a bulk string in RESP.
func bulk(body string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(body), body) }

// unit is a work unit in RESP. The further members begin with a comma.
func unit(jid, jobtype, args, further string) string {
	return bulk(fmt.Sprintf(`{"jid":%q,"jobtype":%q,"args":%s%s}`, jid, jobtype, args, further))
}

// tail is the end of a transcript, for messages.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}
