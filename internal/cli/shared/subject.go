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

// Apply gives a subject the name of the flag, which may be given once for each subject; the first is number 0.
func (s *SubjectFlag) Apply(number int, subject *reports.Subject) (err error) {
	if number >= len(s.values) {
		return nil
	}
	if subject.Name, subject.Version, err = reports.ParseSubject(s.values[number]); err != nil {
		return fmt.Errorf("--subject: %w", err)
	}
	return nil
}

// Check returns an error if the flag was given more often than there are subjects.
func (s *SubjectFlag) Check(limit int) error {
	if len(s.values) > limit {
		return fmt.Errorf("--subject: got %d names for %d tested programs", len(s.values), limit)
	}
	return nil
}

// The bounds of what is hashed of a command.
const (
	maxHashedBytes = 1 << 30 // bytes of a file
	maxHashedFiles = 4
)

// wrappers are words of a command that are not its program.
var wrappers = []string{"exec", "env", "command", "nohup", "nice", "time"}

// assignment matches a word that sets a variable.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// CommandSubject returns the subject that a command starts, with the files that its words name. The report has the
// command without the passwords of its URLs.
func CommandSubject(command string, words []string) reports.Subject {
	s := reports.Subject{Command: target.RedactCommand(command)}
	hasProgram := false
	for _, word := range words {
		file := strings.Trim(word, `'"`)
		if !hasProgram {
			if slices.Contains(wrappers, file) || assignment.MatchString(file) {
				continue
			}
			hasProgram = true
			file, _ = exec.LookPath(file)
		}
		if f, ok := hashFile(filepath.Base(file), file); ok && len(s.Files) < maxHashedFiles {
			s.Files = append(s.Files, f)
		}
	}
	return s
}

// ServingFiles returns the files of what serves, as far as they are known: its program first.
func ServingFiles(server target.ServingProcess) (all []reports.SubjectFile) {
	for _, file := range server.Files() {
		if f, ok := hashFile(file.Name, file.Path); ok && len(all) < maxHashedFiles {
			all = append(all, f)
		}
	}
	return all
}

// hashFile returns what is known of a regular file.
func hashFile(name, path string) (file reports.SubjectFile, isRegular bool) {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return file, false
	}
	file = reports.SubjectFile{Name: name, Size: info.Size()}
	f, err := input.Open(path)
	if err != nil || file.Size > maxHashedBytes {
		return file, true
	}
	defer f.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxHashedBytes)); err == nil {
		file.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return file, true
}

// dialer is a server that can be asked.
type dialer interface {
	Dial(ctx context.Context) (net.Conn, error)
}

// serving is a server of which it can be known what process it is.
type serving interface {
	ServingProcess(ctx context.Context) target.ServingProcess
}

// introductionTimeout bounds how long a server may take to say what it is: it changes no result.
const introductionTimeout = 3 * time.Second

// Introduce returns a target with what its server says of itself: its greeting, if that is not known, and name and
// version; and with the files of what serves, if it was started. It opens connections of its own, also after an
// interrupt; what a server does not say stays unknown.
func (e Endpoint) Introduce(
	ctx context.Context, t reports.Target, server dialer, password string, timeout time.Duration,
) reports.Target {
	if e.Choice.IsEmbedded || server == nil {
		return t
	}
	timeout = min(timeout, introductionTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*timeout)
	defer cancel()
	if process, ok := server.(serving); ok && e.Starter != nil {
		if files := ServingFiles(process.ServingProcess(ctx)); len(files) > 0 {
			t.Subject.Files = files
		}
	}
	if t.HI == "" {
		if id, err := e.Entry.Identify(ctx, server, timeout); err == nil {
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
	} else if report := reports.JoinWith(" ", name, version); report != reports.JoinWith(" ", s.Name, s.Version) {
		s.Reports = report
	}
	return t
}

// Software returns the name and the version that a server says of itself; see [registry.Entry].
func (e Endpoint) Software(
	ctx context.Context, server dialer, password string, timeout time.Duration,
) (name, version string, err error) {
	if e.Entry.Software == nil {
		return "", "", fmt.Errorf("the protocol has no command for that")
	}
	nc, err := server.Dial(ctx)
	if err != nil {
		return "", "", err
	}
	return e.Entry.Software(ctx, nc, password, timeout)
}

// Subject returns what is known of the target before it is asked.
func (e Endpoint) Subject() reports.Subject { return e.subject }

// DescribeChoice returns how the target was chosen, and the addresses of its name to which connections were opened.
func (e Endpoint) DescribeChoice(ctx context.Context, choice string) string {
	return reports.JoinWith("; ", choice, e.addresses.Words(ctx, e.Choice.Address.Host))
}

// Target returns the target as a report names it, given what it is; the zero Identity if it is not known.
func (e Endpoint) Target(id conformance.Identity) reports.Target {
	t := reports.Target{Subject: e.subject, Chosen: e.Choice.Source, HI: e.Secrets.Hide(id.Greeting)}
	if e.Password != "" && id.Greeting != "" && !id.Protected {
		t.Chosen += "; a password was given, but the server does not ask for one"
	}
	if !e.IsPrivate() {
		t.URL = e.Choice.Address.String()
	}
	return t
}
