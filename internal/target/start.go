package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Starter starts servers on this machine by a command, as many as a run needs. Command must
// be set.
type Starter struct {
	// Value is the value of --start that the starter was made from, for messages.
	Value string
	// Command is a command of the shell. In it {port}, {port2} and {webport} stand for free ports of 127.0.0.1, of which
	// the second is for workers if the command has it, {password} for a password, which is empty for a server without one,
	// and {dir} for a new folder, which is kept over restarts. They are in its environment as FWP_PORT, FWP_PORT2,
	// FWP_WEBPORT, FWP_PASSWORD and FWP_DIR, too. The command must not end as long as the server runs; on Linux it may
	// end well (exit status 0) and leave the server running in the background.
	Command string
	// NewOperator returns what quiets and terminates workers, and after Control stops servers; nil: nothing does. Its
	// commands have the environment of the server.
	NewOperator func(Place) Operator
	// Ready reports whether a server serves, which is tried until it does; nil: whether it
	// accepts connections.
	Ready func(ctx context.Context, s *Server) error
	// Foreign says why a server will never be ready: it is of another protocol. It is asked now and then; "": it is not
	// known to be. It may be nil.
	Foreign func(ctx context.Context, s *Server) string
	// Probe is how it is seen whether what is done to a server takes effect; Ready is asked in the place of its own.
	Probe Probe
	// Patience is how long a server may take until it is ready; 30 s if zero. A machine that is late gives it more: see
	// [machine.Grace].
	Patience time.Duration
	// Disk, if not 0, makes the folder a small file system of its own in memory, of so many bytes, which can be filled. It
	// is for Linux, and needs the right to mount: see [CanMount].
	Disk int64
	// Supervisor is the program that runs commands, see [Supervise]; the present
	// program with the argument "supervise" if empty.
	Supervisor []string
	// Log gets all that the servers print; it may be nil.
	Log *Log

	starts             *starts // of all copies; nil: they are not bounded
	socket             string  // where a known server has its longest Unix socket, below its folder
	hasFolderInControl bool    // a command of Control has {dir}
}

const startPatience = 30 * time.Second

// ParseStart reads the value of --start: a command, or "faktory" or "faktory=PATH" for
// the Faktory server, whose flags and web page are known.
func ParseStart(value string) (Starter, error) {
	if err := NeedShell("--start"); err != nil {
		return Starter{}, err
	}
	kind, value := NameOf(value)
	if err := checkKind("--start", kind, NamesStart); err != nil {
		return Starter{}, err
	}
	if isFaktory(value) {
		starter := faktory(strings.TrimPrefix(strings.TrimPrefix(value, "faktory"), "="))
		starter.Value, starter.starts = value, newStarts()
		return starter, nil
	}
	switch {
	case strings.TrimSpace(value) == "":
		return Starter{}, errors.New("--start: no command was given")
	case !takesPort(value):
		return Starter{}, noPortError(value)
	}
	return Starter{Value: value, Command: value, starts: newStarts()}, nil
}

// starts bounds how many servers of a command start at a time, and how often it is reported that one is slow. Its nil
// bounds nothing.
type starts struct {
	all, slow chan struct{} // as many as may start, and as many of a command that takes long

	mu         sync.Mutex
	first      time.Duration // that the first one took which served; 0: none has
	reportedAt time.Time
}

// SlowStart is from when on a server is slow to start: it keeps a processor busy, and others beside it, which would not
// start sooner.
const SlowStart = 2 * time.Second

func newStarts() *starts {
	const perProcessor = 4 // for each processor
	n := runtime.GOMAXPROCS(0)
	return &starts{all: make(chan struct{}, perProcessor*n), slow: make(chan struct{}, n)}
}

// enter waits until one more server may start. The returned function says that it serves, after some time, or, with 0,
// that it does not.
func (s *starts) enter(ctx context.Context) (leave func(took time.Duration), err error) {
	if s == nil {
		return func(time.Duration) {}, nil
	}
	rooms := []chan struct{}{s.all}
	if s.firstTime() >= SlowStart {
		rooms = append(rooms, s.slow)
	}
	for i, room := range rooms {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			for _, entered := range rooms[:i] {
				<-entered
			}
			return nil, context.Cause(ctx)
		}
	}
	return func(took time.Duration) {
		s.mu.Lock()
		s.first = cmp.Or(s.first, took)
		s.mu.Unlock()
		for _, room := range rooms {
			<-room
		}
	}, nil
}

// firstTime returns how long the first server took that served, 0 if none has.
func (s *starts) firstTime() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// isWorthReport reports whether a wait is worth a line: it is longer than twice that for the first server, and there
// was no line a moment ago.
func (s *starts) isWorthReport(waited time.Duration) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if waited < 2*s.first || time.Since(s.reportedAt) < tellPause {
		return false
	}
	s.reportedAt = time.Now()
	return true
}

// Protects reports whether servers can have a password.
func (s *Starter) Protects() bool {
	return strings.Contains(s.Command, "{password}") || strings.Contains(s.Command, "FWP_PASSWORD")
}

// Control makes commands the operator of the servers: they quiet and terminate workers, and stop, kill, pause and
// resume servers. In them {port}, {webport}, {password} and {dir} stand for those of the server. An action without a
// command stays as it was.
func (s *Starter) Control(commands Commands) {
	before := s.NewOperator
	for _, command := range commands.ByAction {
		s.hasFolderInControl = s.hasFolderInControl || strings.Contains(command, "{dir}")
	}
	s.NewOperator = func(p Place) Operator {
		filled := Commands{ByAction: map[Action]string{}, Timeout: commands.Timeout}
		for action, command := range commands.ByAction {
			filled.ByAction[action] = p.expand(command)
		}
		if before == nil || filled.Can(Quiet) && filled.Can(Terminate) {
			return filled
		}
		return before(p)
	}
}

// Place is where a started server is.
type Place struct {
	Port, WebPort int    // of 127.0.0.1
	Port2         int    // of 127.0.0.1, for workers
	Password      string // empty: the server is open
	Dir           string // the folder of the server
}

// folderPrefix is what the names of the servers' folders begin with.
const folderPrefix = "fwp-server-"

// folderVariable tells a server its folder, and portVariable its port.
const (
	folderVariable = "FWP_DIR"
	portVariable   = "FWP_PORT"
)

// newPlace reserves free ports and makes a folder in the one above. The reservation must be closed, after an error too.
func newPlace(parent, password string) (place Place, ports reservation, err error) {
	free, ports, err := reservePorts(3)
	if err != nil {
		return Place{}, ports, err
	}
	dir, err := os.MkdirTemp(parent, folderPrefix+"*")
	return Place{Port: free[0], WebPort: free[1], Port2: free[2], Password: password, Dir: dir}, ports, err
}

// The range of the ports of started servers. Systems assign ports to connections, and to servers that ask for any port,
// from a higher range: another process could get one of these before the server listens.
const firstPort, lastPort = 20_000, 29_999

// reservation keeps ports from other runs of this suite on this machine.
type reservation []net.PacketConn

// Close ends a reservation.
func (r reservation) Close() {
	for _, c := range r {
		_ = c.Close()
	}
}

// reservePorts returns ports of 127.0.0.1, all different, on which no server listens now. Of each it holds the UDP port
// with the same number, which tells other runs that it is taken: the server does not listen at once, nor while it is
// restarted, and a run must not meet the server of another one. The reservation must be closed, after an error too.
func reservePorts(n int) (free []int, ports reservation, err error) {
	var config net.ListenConfig
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		conn, failed := config.ListenPacket(context.Background(), "udp", address)
		if failed != nil {
			err = failed
			continue
		}
		ln, failed := config.Listen(context.Background(), "tcp", address)
		ports = append(ports, conn)
		if failed != nil { // a server listens there: the port is not looked at again
			err = failed
			continue
		}
		_ = ln.Close()
		if free = append(free, port); len(free) == n {
			return free, ports, nil
		}
	}
	return nil, ports, err
}

// aloneWord is a password that is a word of the command by itself.
var aloneWord = regexp.MustCompile(`(^|\s)\{password\}(\s|$)`)

// expand puts the place into a command. Of a server without a password, that is an empty word: a flag takes no other
// word for it.
func (p Place) expand(command string) string {
	if p.Password == "" {
		command = aloneWord.ReplaceAllString(command, "$1''$2")
	}
	return strings.NewReplacer(
		"{port}", strconv.Itoa(p.Port), "{port2}", strconv.Itoa(p.Port2), "{webport}", strconv.Itoa(p.WebPort),
		"{password}", p.Password, "{dir}", p.Dir,
	).Replace(command)
}

// environment returns the place as variables.
func (p Place) environment() []string {
	return []string{
		portVariable + "=" + strconv.Itoa(p.Port), "FWP_PORT2=" + strconv.Itoa(p.Port2),
		"FWP_WEBPORT=" + strconv.Itoa(p.WebPort),
		"FWP_PASSWORD=" + p.Password, folderVariable + "=" + p.Dir,
	}
}

// Start starts a server with a password, or without one if it is empty, and waits until it is
// ready. The error is a [StartError] if the server ended, or was not ready in time.
func (s *Starter) Start(ctx context.Context, password string) (*StartedServer, error) {
	if !canStart {
		return nil, errors.New("--start works on Unix only: start the server yourself, and give its --url")
	}
	parent, err := s.folderAbove(os.TempDir(), "/tmp")
	if err = cmp.Or(err, s.folderFits(parent)); err != nil {
		return nil, &StartError{Cause: err}
	}
	place, ports, err := newPlace(parent, password)
	if err != nil {
		ports.Close()
		return nil, fmt.Errorf("start a server: %w", err)
	}
	if s.Disk > 0 {
		if err := mount(place.Dir, s.Disk); err != nil {
			ports.Close()
			removeDir(place.Dir)
			return nil, fmt.Errorf("start a server: %w", err)
		}
	}
	i := s.newServer(ctx, place, ports)
	if err := i.begin(ctx); err != nil {
		i.End()
		return nil, explainStart(err, place)
	}
	return i, nil
}

// newServer returns a server that has not begun, at a place.
func (s *Starter) newServer(ctx context.Context, place Place, ports reservation) *StartedServer {
	i := &StartedServer{starter: s, place: place, ports: ports, tell: reporterOf(ctx)}
	i.output = &lastLines{all: s.Log.writer(place.Port)}
	i.Server = Server{
		Address: Address{
			Host: "127.0.0.1", Port: strconv.Itoa(place.Port), Password: place.Password, Backend: s.backend(place),
		},
		Operator: i, Patience: s.Patience, Probe: s.Probe, processes: i.PID,
	}
	i.Server.Probe.Ready = s.Ready
	i.operate()
	return i
}

// folder matches names of folders that mean nothing to a shell, in whatever quotes they stand.
var folder = regexp.MustCompile(`^[\pL\pN_.:@%+=,/-]*$`)

// folderFits returns an error if a shell would read the name of a folder in it as something else: it stands in the
// commands as it is.
func (s *Starter) folderFits(parent string) error {
	if !strings.Contains(s.Command, "{dir}") && !s.hasFolderInControl || folder.MatchString(parent) {
		return nil
	}
	return fmt.Errorf("it was not started: the folder for temporary files, %q, has characters that mean something to a "+
		`shell: set TMPDIR to another one, or write "$FWP_DIR" in the place of {dir}`, parent)
}

// longestSocket is how many bytes the path of a Unix socket has at most.
const longestSocket = 107

// folderAbove returns the first of some folders in which the sockets of a known server have room.
func (s *Starter) folderAbove(preferred string, others ...string) (string, error) {
	length := len("/"+folderPrefix+"4294967295") + len(s.socket)
	for _, parent := range append([]string{preferred}, others...) {
		if stat, err := os.Stat(parent); s.socket == "" || len(parent)+length <= longestSocket && err == nil && stat.IsDir() {
			return parent, nil
		}
	}
	return "", fmt.Errorf("it was not started: the name of the folder for temporary files has %d bytes, so the path "+
		"of the server's socket would have %d bytes, more than the limit of %d: set TMPDIR to a shorter one",
		len(preferred), len(preferred)+length, longestSocket)
}

// longFolder is from how many bytes on the name of a folder may be too long for a socket in it.
const longFolder = 80

// explainStart adds to the error of a start what this machine may have to do with it.
func explainStart(err error, place Place) error {
	failed, ok := errors.AsType[*StartError](err)
	switch {
	case errors.Is(err, ErrNoSupervisor):
		return &StartError{Cause: err}
	case ok && len(place.Dir) > longFolder:
		return &StartError{Output: failed.Output, Cause: fmt.Errorf("%w (the name of its folder has %d bytes, and the "+
			"path of a Unix socket may have at most 107: set TMPDIR to a shorter one)", failed.Cause, len(place.Dir))}
	}
	return err
}

// backend returns the port for workers, empty if the command has none.
func (s *Starter) backend(p Place) string {
	if strings.Contains(s.Command, "{port2}") || strings.Contains(s.Command, "FWP_PORT2") {
		return strconv.Itoa(p.Port2)
	}
	return ""
}

// StartError reports that a started server ended before it served, or was not ready in
// time.
type StartError struct {
	Cause       error
	Output      []string // the last lines that it printed
	HadServed   bool     // it had served, and was stopped
	StartsEmpty bool     // by the same command another one serves, in an empty folder
}

func (e *StartError) Error() string {
	words := "the server of --start: " + e.Cause.Error()
	if e.HadServed {
		words = "the server did not start again: " + e.Cause.Error()
	}
	if e.StartsEmpty {
		words += "; the same command starts in an empty folder: the server cannot start with its data"
	}
	if len(e.Output) == 0 {
		return words + "; it printed nothing"
	}
	return words + "; the last lines that it printed:\n  " + strings.Join(e.Output, "\n  ")
}

// OnData reports whether the server would serve without its data.
func (e *StartError) OnData() bool { return e.StartsEmpty }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Cause }
