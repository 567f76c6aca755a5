package target

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
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
	// FWP_WEBPORT, FWP_PASSWORD and FWP_DIR, too. The command must not end as long as the server runs.
	Command string
	// Environment has variables, NAME=VALUE, that the command gets besides.
	Environment []string
	// Workers quiets and terminates workers; nil: nothing does. Its commands have the
	// environment of the server.
	Workers func(Place) Operator
	// Ready reports whether a server serves, which is tried until it does; nil: whether it
	// accepts connections.
	Ready func(ctx context.Context, s *Server) error
	// Patience is how long a server may take until it is ready; 30 s if zero. A machine that is late gives it more: see
	// [lag.Grace].
	Patience time.Duration
	// Disk, if not 0, makes the folder a small file system of its own in memory, of so many bytes, which can be filled. It
	// is for Linux, and needs the right to mount: see [CanMount].
	Disk int64
	// Supervisor is the program that runs commands, see [Supervise]; the present
	// program with the argument "supervise" if empty.
	Supervisor []string
}

const startPatience = 30 * time.Second

// ParseStart reads the value of --start: a command, or "faktory" or "faktory=PATH" for
// the Faktory server, whose flags and web page are known.
func ParseStart(value string) (Starter, error) {
	if path, ok := strings.CutPrefix(value, "faktory"); ok && (path == "" || path[0] == '=') {
		starter := faktory(strings.TrimPrefix(path, "="))
		starter.Value = value
		return starter, nil
	}
	switch {
	case strings.TrimSpace(value) == "":
		return Starter{}, errors.New("--start: no command was given")
	case !strings.Contains(value, "{port}") && !strings.Contains(value, "FWP_PORT"):
		return Starter{}, errors.New("--start: the command must listen on the port that it is given: " +
			"write {port} where the command takes it")
	}
	return Starter{Value: value, Command: value}, nil
}

// Protects reports whether servers can have a password.
func (s *Starter) Protects() bool {
	return strings.Contains(s.Command, "{password}") || strings.Contains(s.Command, "FWP_PASSWORD")
}

// Control makes commands quiet and terminate workers; in them {port}, {webport},
// {password} and {dir} stand for those of the server. An action without a command
// stays as it was.
func (s *Starter) Control(commands Commands) {
	before := s.Workers
	s.Workers = func(p Place) Operator {
		filled := Commands{ByAction: map[Action]string{}, Timeout: commands.Timeout}
		for action, command := range commands.ByAction {
			filled.ByAction[action] = p.fill(command)
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

// folderVariable tells a server its folder.
const folderVariable = "FWP_DIR"

// newPlace reserves free ports and makes a folder. The reservation must be closed, after an error too.
func newPlace(password string) (place Place, held reservation, err error) {
	free, held, err := reservePorts(3)
	if err != nil {
		return Place{}, held, err
	}
	dir, err := os.MkdirTemp("", folderPrefix+"*")
	return Place{Port: free[0], WebPort: free[1], Port2: free[2], Password: password, Dir: dir}, held, err
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
func reservePorts(n int) (free []int, held reservation, err error) {
	var config net.ListenConfig
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		taken, failed := config.ListenPacket(context.Background(), "udp", address)
		if failed != nil {
			err = failed
			continue
		}
		ln, failed := config.Listen(context.Background(), "tcp", address)
		held = append(held, taken)
		if failed != nil { // a server listens there: the port is not looked at again
			err = failed
			continue
		}
		_ = ln.Close()
		if free = append(free, port); len(free) == n {
			return free, held, nil
		}
	}
	return nil, held, err
}

// aloneWord is a password that is a word of the command by itself.
var aloneWord = regexp.MustCompile(`(^|\s)\{password\}(\s|$)`)

// fill puts the place into a command. Of a server without a password, that is an empty word: a flag takes no other word
// for it.
func (p Place) fill(command string) string {
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
		"FWP_PORT=" + strconv.Itoa(p.Port), "FWP_PORT2=" + strconv.Itoa(p.Port2), "FWP_WEBPORT=" + strconv.Itoa(p.WebPort),
		"FWP_PASSWORD=" + p.Password, folderVariable + "=" + p.Dir,
	}
}

// Start starts a server with a password, or without one if it is empty, and waits until it is
// ready. The error is a [StartError] if the server ended, or was not ready in time.
func (s *Starter) Start(ctx context.Context, password string) (*Started, error) {
	if !canStart {
		return nil, errors.New("--start works on Unix only: start the server yourself, and give its --url")
	}
	place, held, err := newPlace(password)
	if err != nil {
		held.Close()
		return nil, fmt.Errorf("start a server: %w", err)
	}
	if s.Disk > 0 {
		if err := mount(place.Dir, s.Disk); err != nil {
			held.Close()
			removeDir(place.Dir)
			return nil, fmt.Errorf("start a server: %w", err)
		}
	}
	i := &Started{starter: s, place: place, held: held, output: new(lastLines)}
	i.Server.Address = Address{Host: "127.0.0.1", Port: strconv.Itoa(place.Port), Password: password}
	i.Server.Address.Backend = s.backend(place)
	i.Server.Operator = i
	if s.Workers != nil {
		i.workers = s.Workers(place)
	}
	if err := i.begin(ctx); err != nil {
		i.End()
		return nil, err
	}
	return i, nil
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
	Cause  error
	Output []string // the last lines that it printed
}

func (e *StartError) Error() string {
	if len(e.Output) == 0 {
		return "the server that --start started: " + e.Cause.Error() + "; it printed nothing"
	}
	return "the server that --start started: " + e.Cause.Error() + "; the last lines that it printed:\n  " +
		strings.Join(e.Output, "\n  ")
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Cause }
