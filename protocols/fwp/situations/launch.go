package situations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/target"
)

// Launcher starts the program under test.
type Launcher interface {
	// Launch starts it once more and does not wait for it.
	Launch(e Environment) (Process, error)
	// Sets reports whether the program is known to take this part of its environment: "queues", "concurrency".
	Sets(part string) bool
}

// Environment is the configuration that the program receives.
type Environment struct {
	URL      string
	Variable string // that has the URL; empty: FAKTORY_URL
	// UsesProvider has the URL in a variable that FAKTORY_PROVIDER names, and one where nothing answers in FAKTORY_URL.
	UsesProvider bool
	Queues       []string
	Concurrency  int
	Heartbeat    time.Duration // between two heartbeats, as server and worker have agreed; 0: they have none
	Hosts        string        // path of its file of names, in the place of /etc/hosts; empty: that of this machine
	Zone         string        // its time zone; empty: that of this process
	CA           string        // path of a file with the certificate of a TLS server, empty if there is none
	Input        io.Reader     // its standard input, nil if there is none
	Line         func(string)  // is called for each line that it prints, without a password; it may be nil
}

// Process is one run of the program. Its methods may be called by many goroutines at once.
type Process interface {
	// Signal sends it a signal: "TERM", "INT", "TSTP".
	Signal(name string)
	// Done returns a channel that is closed when it has ended.
	Done() <-chan struct{}
	// Code returns its exit code, and ExitStatus describes its end. They may be called when it is over.
	Code() int
	ExitStatus() string
	// Output returns the last lines that it printed, and Lines all that have their end, up to 10,000.
	Output() []string
	Lines() []PrintedLine
	// Kill ends it with everything that it started, and blocks until that is done.
	Kill()
}

// PrintedLine is a line that a program has printed, and when it was read.
type PrintedLine struct {
	Text string
	At   time.Time
}

// Command is a [Launcher] of a command. In its words {url}, {queues} and {concurrency} stand for its environment; it
// finds the same in FAKTORY_URL, FWP_QUEUES and FWP_CONCURRENCY, and a time between heartbeats in FWP_HEARTBEAT or
// {heartbeat}; {n} is {concurrency} for producers. Queues are separated by commas.
type Command struct {
	Words      []string
	Supervisor []string // see target.Program
}

// providerName is the variable that FAKTORY_PROVIDER names.
const providerName = "FWP_TESTED_URL"

// deadURL is a URL at which nothing answers: the port is reserved.
const deadURL = "tcp://127.0.0.1:1"

// Sets reports whether one of the words holds the part.
func (c Command) Sets(part string) bool {
	return strings.Contains(c.String(), "{"+part+"}") || part == "concurrency" && strings.Contains(c.String(), "{n}")
}

// String returns the command as it was given.
func (c Command) String() string { return strings.Join(c.Words, " ") }

// Launch starts the command.
func (c Command) Launch(e Environment) (Process, error) {
	fill := strings.NewReplacer("{url}", e.URL, "{queues}", strings.Join(e.Queues, ","),
		"{concurrency}", strconv.Itoa(e.Concurrency), "{n}", strconv.Itoa(e.Concurrency), "{heartbeat}", e.seconds())
	words := make([]string, len(c.Words))
	for i, word := range c.Words {
		words[i] = fill.Replace(word)
	}
	printed := &lines{secret: e.password()}
	add := func(line string) {
		printed.add(line)
		if e.Line != nil {
			e.Line(printed.hide(line))
		}
	}
	p := target.Program{
		Args: words, Environment: e.variables(), Input: e.Input, Line: add, Supervisor: c.Supervisor,
	}
	if e.Hosts != "" {
		p, _ = p.WithHosts(e.Hosts) // CanName has tried it
	}
	running, err := p.Start()
	if err != nil {
		return nil, err
	}
	return commandProcess{running, printed}, nil
}

// commandProcess is a command that was started.
type commandProcess struct {
	*target.RunningProgram
	lines *lines
}

func (s commandProcess) Lines() []PrintedLine { return s.lines.all() }

// Output returns the last lines that it printed, without the password.
func (s commandProcess) Output() []string {
	all := slices.Clone(s.RunningProgram.Output())
	for i, line := range all {
		all[i] = s.lines.hide(line)
	}
	return all
}

// Leaks reports whether it has printed the password of its server.
func (s commandProcess) Leaks() bool { return s.lines.leaks() }

// password returns that in the URL, as it stands there; empty if there is none.
func (e Environment) password() string {
	_, rest, _ := strings.Cut(e.URL, "://:")
	secret, _, ok := strings.Cut(rest, "@")
	if !ok {
		return ""
	}
	return secret
}

// seconds returns the time between two heartbeats.
func (e Environment) seconds() string { return strconv.FormatFloat(e.Heartbeat.Seconds(), 'f', -1, 64) }

// variables returns the environment as variables; a name alone is a variable that must not be set.
func (e Environment) variables() []string {
	all := []string{cmp.Or(e.Variable, "FAKTORY_URL") + "=" + e.URL, "FAKTORY_PROVIDER", providerName}
	if e.Heartbeat > 0 {
		all = append(all, "FWP_HEARTBEAT="+e.seconds())
	}
	if e.UsesProvider {
		all = []string{"FAKTORY_URL=" + deadURL, "FAKTORY_PROVIDER=" + providerName, providerName + "=" + e.URL}
	}
	all = append(all, "FWP_QUEUES="+strings.Join(e.Queues, ","), "FWP_CONCURRENCY="+strconv.Itoa(e.Concurrency))
	if e.Zone != "" {
		all = append(all, "TZ="+e.Zone)
	}
	if e.CA != "" {
		all = append(all, "SSL_CERT_FILE="+e.CA, "NODE_EXTRA_CA_CERTS="+e.CA, "REQUESTS_CA_BUNDLE="+e.CA)
	}
	return all
}

// Lookup returns the value of a variable, and reports whether it is set.
func (e Environment) Lookup(name string) (value string, ok bool) {
	for _, v := range e.variables() {
		if key, value, ok := strings.Cut(v, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// input is the standard input of a program: lines that a situation adds, until it ends it. Its methods may be called by
// many goroutines at once.
type input struct {
	mu       sync.Mutex
	changed  *sync.Cond
	text     []byte
	hasEnded bool
}

func newInput(lines ...string) *input {
	in := new(input)
	in.changed = sync.NewCond(&in.mu)
	in.add(lines...)
	return in
}

// add adds lines.
func (in *input) add(lines ...string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, line := range lines {
		in.text = append(in.text, line+"\n"...)
	}
	in.changed.Broadcast()
}

// end ends the input behind what was added.
func (in *input) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.hasEnded = true
	in.changed.Broadcast()
}

// Read blocks until there is more, or the end.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.text) == 0 && !in.hasEnded {
		in.changed.Wait()
	}
	if len(in.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, in.text)
	in.text = in.text[n:]
	return n, nil
}

func texts(lines []PrintedLine) (all []string) {
	for _, line := range lines {
		all = append(all, line.Text)
	}
	return all
}

// lines are what a program has printed, up to a limit. Its methods may be called by many goroutines at once.
type lines struct {
	secret   string // as in a URL; empty: there is none
	mu       sync.Mutex
	list     []PrintedLine
	isLeaked bool // one has the secret
}

const maxPrinted = 10_000

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < maxPrinted {
		l.list = append(l.list, PrintedLine{line, time.Now()})
	}
	const minSecret = 10 // bytes of a password that no line has by chance
	l.isLeaked = l.isLeaked || l.hide(line) != line && (len(l.secret) >= minSecret ||
		strings.Contains(line, ":"+l.secret+"@"))
}

// hide returns a line without the secret, as it stands in the URL or unescaped.
func (l *lines) hide(line string) string {
	if l.secret == "" {
		return line
	}
	const hidden = "*****"
	line = strings.ReplaceAll(line, l.secret, hidden)
	if plain, err := url.PathUnescape(l.secret); err == nil {
		line = strings.ReplaceAll(line, plain, hidden)
	}
	return line
}

// leaks reports whether a line had the secret.
func (l *lines) leaks() bool { return WithLock(&l.mu, func() bool { return l.isLeaked }) }

// all returns the lines; the caller may keep them.
func (l *lines) all() []PrintedLine {
	return WithLock(&l.mu, func() []PrintedLine { return slices.Clone(l.list) })
}

// namer is a launcher that can give a program a file of names of its own. CanName returns why it cannot here.
type namer interface{ CanName() error }

var (
	_ namer = Command{}
	_ namer = InProcess(nil)
)

// serverName is the name by which a program finds a server whose name may not resolve for a while.
const serverName = "fwp-server.test"

// nameServers prepares the file of names. The play is left out where the launcher has none.
func (t *trial) nameServers() {
	err := errors.New("the program must be started directly")
	if n, ok := t.harness.Launcher.(namer); ok {
		err = n.CanName()
	}
	if err != nil {
		t.leaveOut("needs-names", "needs permission for a mount namespace, to give the program its own hosts file")
	}
	folder, err := os.MkdirTemp("", "fwp-names-")
	if err != nil {
		t.giveUp(false, "%v", t.notice(err))
	}
	t.hosts = filepath.Join(folder, "hosts")
}

// resolve has the name of a server resolve, or not.
func (t *trial) resolve(s *server, resolves bool) {
	address, _, err := net.SplitHostPort(s.Addr())
	if !resolves {
		address = ""
	}
	if err = errors.Join(err, target.WriteHosts(t.hosts, serverName, address)); err != nil {
		t.giveUp(false, "%v", t.notice(err))
	}
}

// CanName implements namer.
func (c Command) CanName() error {
	if _, ok := (target.Program{Supervisor: c.Supervisor}).WithHosts(target.SystemHosts); !ok {
		return errors.New("unshare and mount fail")
	}
	return nil
}

// CanName implements namer: such programs look names up with [Environment.Resolve].
func (InProcess) CanName() error { return nil }

// Resolve returns an address with what its host resolves to in Hosts.
func (e Environment) Resolve(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || e.Hosts == "" || host != serverName {
		return addr, err
	}
	address, err := target.LookupHost(e.Hosts, host)
	return net.JoinHostPort(address, port), err
}

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
	p := &inProcess{cancel: cancel, done: make(chan struct{})}
	f := l(e, p.printed.add, p.logged.add)
	if p.signal = f.Signal; p.signal == nil {
		p.signal = func(string) { cancel() }
	}
	go func() {
		p.code = f.Run(ctx)
		close(p.done)
	}()
	return p, nil
}

// inProcess is one run of such a program.
type inProcess struct {
	signal func(string)
	cancel context.CancelFunc
	done   chan struct{}
	code   int

	printed, logged lines
}

func (p *inProcess) Signal(name string)    { p.signal(name) }
func (p *inProcess) Done() <-chan struct{} { return p.done }
func (p *inProcess) Code() int             { return p.code }
func (p *inProcess) Lines() []PrintedLine  { return p.printed.all() }
func (p *inProcess) ExitStatus() string    { return fmt.Sprintf("exit status %d", p.code) }

// Output returns the last lines that it logged.
func (p *inProcess) Output() []string {
	const limit = 20
	all := p.logged.all()
	return texts(all[max(0, len(all)-limit):])
}

// Kill ends it.
func (p *inProcess) Kill() {
	p.cancel()
	<-p.done
}
