package shared

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
)

// SubjectFlag is the flag that names what is tested.
type SubjectFlag struct{ values []string }

// Declare adds the flag to f.
func (s *SubjectFlag) Declare(f *pflag.FlagSet) {
	f.StringArrayVar(&s.values, "subject", nil, "`NAME` and version of the tested program in the report, such as "+
		"\"faktory 1.9.3\" (default: the ones that it reports)")
}

// Name gives a subject the name of the flag, which may be given once for each subject; the first is number 0.
func (s *SubjectFlag) Name(number int, subject *reports.Subject) (err error) {
	if number >= len(s.values) {
		return nil
	}
	if subject.Name, subject.Version, err = reports.ParseSubject(s.values[number]); err != nil {
		return fmt.Errorf("--subject: %w", err)
	}
	return nil
}

// Check returns an error if the flag was given more often than there are subjects.
func (s *SubjectFlag) Check(most int) error {
	if len(s.values) > most {
		return fmt.Errorf("--subject: got %d names for %d tested programs", len(s.values), most)
	}
	return nil
}

// The bounds of what is hashed of a command.
const (
	mostHashed     = 1 << 30 // bytes of a file
	mostHashedFile = 4
)

// wrappers are words of a command that are not its program.
var wrappers = []string{"exec", "env", "command", "nohup", "nice", "time"}

// assignment matches a word that sets a variable.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// Started returns the subject that a command starts, with the files that its words name. shown is the command as the
// report has it: the passwords of its URLs are left out.
func Started(shown string, words []string) reports.Subject {
	s := reports.Subject{Command: target.RedactCommand(shown)}
	begun := false
	for _, word := range words {
		file := strings.Trim(word, `'"`)
		if !begun {
			if slices.Contains(wrappers, file) || assignment.MatchString(file) {
				continue
			}
			begun = true
			file, _ = exec.LookPath(file)
		}
		if of, is := hashed(filepath.Base(file), file); is && len(s.Files) < mostHashedFile {
			s.Files = append(s.Files, of)
		}
	}
	return s
}

// Serves returns the files of what serves, as far as they are known: its program first.
func Serves(server target.Serving) (all []reports.SubjectFile) {
	for _, file := range server.Files() {
		if of, is := hashed(file.Name, file.Path); is && len(all) < mostHashedFile {
			all = append(all, of)
		}
	}
	return all
}

// hashed returns what is known of a regular file.
func hashed(name, path string) (of reports.SubjectFile, is bool) {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return of, false
	}
	of = reports.SubjectFile{Name: name, Size: info.Size()}
	f, err := input.Open(path)
	if err != nil || of.Size > mostHashed {
		return of, true
	}
	defer f.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, mostHashed)); err == nil {
		of.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return of, true
}

// dialer is a server that can be asked.
type dialer interface {
	Dial(ctx context.Context) (net.Conn, error)
}

// serving is a server of which it can be known what process it is.
type serving interface {
	Serving(ctx context.Context) target.Serving
}

// introduction bounds how long a server may take to say what it is: it changes no result.
const introduction = 3 * time.Second

// Introduced returns a target with what its server says of itself: its greeting, if that is not known, and name and
// version; and with the files of what serves, if it was started. It opens connections of its own, also after an
// interrupt; what a server does not say stays unknown.
func (e Endpoint) Introduced(
	ctx context.Context, t reports.Target, server dialer, password string, timeout time.Duration,
) reports.Target {
	if e.Choice.Embedded || server == nil {
		return t
	}
	timeout = min(timeout, introduction)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*timeout)
	defer cancel()
	if of, is := server.(serving); is && e.Starter != nil {
		if files := Serves(of.Serving(ctx)); len(files) > 0 {
			t.Subject.Files = files
		}
	}
	if t.HI == "" {
		if id, err := e.Peer.Identify(ctx, server, timeout); err == nil {
			t.HI = e.Secrets.Hide(id.Greeting)
		}
	}
	name, version, err := e.Software(ctx, server, password, timeout)
	if err != nil || name == "" {
		return t
	}
	name, version = e.Secrets.Hide(name), e.Secrets.Hide(version)
	if s := &t.Subject; s.Name == "" {
		s.Name, s.Version = name, version
	} else if says := reports.JoinWith(" ", name, version); says != reports.JoinWith(" ", s.Name, s.Version) {
		s.Reports = says
	}
	return t
}

// Software returns the name and the version that a server says of itself; see [registry.Peer].
func (e Endpoint) Software(
	ctx context.Context, server dialer, password string, timeout time.Duration,
) (name, version string, err error) {
	if e.Peer.Software == nil {
		return "", "", fmt.Errorf("the protocol has no command for that")
	}
	nc, err := server.Dial(ctx)
	if err != nil {
		return "", "", err
	}
	return e.Peer.Software(ctx, nc, password, timeout)
}

// Subject returns what is known of the target before it is asked.
func (e Endpoint) Subject() reports.Subject { return e.subject }

// Reached returns how the target was chosen, and the addresses of its name to which connections were opened.
func (e Endpoint) Reached(ctx context.Context, chosen string) string {
	return reports.JoinWith("; ", chosen, e.reached.Words(ctx, e.Choice.Address.Host))
}

// Target returns the target as a report names it, given what it is; the zero Identity if it is not known.
func (e Endpoint) Target(id conformance.Identity) reports.Target {
	t := reports.Target{Subject: e.subject, Chosen: e.Choice.How, HI: e.Secrets.Hide(id.Greeting)}
	if e.Password != "" && id.Greeting != "" && !id.Protected {
		t.Chosen += "; a password was given, but the server does not ask for one"
	}
	if !e.Ours() {
		t.URL = e.Choice.Address.String()
	}
	return t
}
