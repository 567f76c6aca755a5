package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// folder is where the files of findings go. The zero value keeps none.
type folder struct {
	path    string
	secrets *target.Secrets // what the files must not have
	failed  error           // the first file that could not be written
}

// validateFolder creates the folder of --save if it does not exist, and checks that files can be written there.
func validateFolder(path string, given bool) error {
	if !given {
		return nil
	}
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // scripts are no secret
		return fmt.Errorf("--save: %w", err)
	}
	f, err := program.OpenFile(filepath.Join(path, "fwpcheck"))
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	f.Discard()
	return nil
}

// save writes a new file if there is a folder, and returns its name, "" if there is none.
func (d *folder) save(p process, name, kind string, write func(io.Writer) error) string {
	if d.path == "" {
		return ""
	}
	path := filepath.Join(d.path, name+kind)
	write = d.secrets.Hidden(write)
	err := program.NewFile(path, write)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		path = filepath.Join(d.path, fmt.Sprintf("%s-%d%s", name, n, kind))
		err = program.NewFile(path, write)
	}
	if err == nil {
		return path
	}
	if d.failed == nil {
		d.failed = fmt.Errorf("save a finding: %w", err)
		p.Logf("%v", d.failed)
	}
	return ""
}

// saveScript saves a script behind a comment on where it is from.
func (d *folder) saveScript(p process, name, script, version, target string, seed uint64, started time.Time) string {
	return d.save(p, name, ".fwp", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "# found by %s in %s,\n# with seed %d, on %s\n%s", version, target, seed,
			started.UTC().Format(time.RFC3339), script)
		return err
	})
}

// saveFindings saves a script for each finding that is not known: that of its check, or the one that a property made.
// The commands under the findings play these files then.
func (o *runOptions) saveFindings(p process, r *reports.Report, s subject, chosen selection) {
	if o.folder == "" || chosen.own {
		return
	}
	d := &folder{path: o.folder, secrets: s.Secrets}
	where := target.Redact(s.String())
	save := func(name, script string) string {
		return d.saveScript(p, strings.TrimSuffix(name, "-"), script, r.Version, where, r.Seed, r.Started)
	}
	for i := range r.Checks {
		saveCheck(&r.Checks[i], r, source(chosen.in, r.Checks[i].ID), save)
		for j := range r.Checks[i].Findings {
			if f := &r.Checks[i].Findings[j]; f.Saved != "" {
				f.Reproduce = o.reproducer(s, true)(f.Saved)
			}
		}
	}
	if d.failed != nil {
		r.Internal = d.failed.Error()
	}
}

// saveCheck saves the scripts of the findings of one check; script is its own, which is saved once.
func saveCheck(
	c *reports.Check, r *reports.Report, script string, save func(name, script string) string,
) {
	c.Findings = r.FindingsOf(c)
	name, saved := strings.ReplaceAll(c.ID, "/", "-"), ""
	for j := range c.Findings {
		switch f := &c.Findings[j]; {
		case f.Known > 0:
		case f.Script != "":
			f.Saved = save(name+"-"+f.Clause, f.Script)
		case script != "":
			if saved == "" {
				saved = save(name, script)
			}
			f.Saved = saved
		}
	}
}

// source returns the text of the script of a check; empty if it is none.
func source(checks []conformance.Check, id string) string {
	for _, c := range checks {
		if d := c.Describe(); d.ID == id && len(d.Source) > 0 {
			return strings.TrimSuffix(strings.Join(d.Source, "\n"), "\n") + "\n"
		}
	}
	return ""
}

// decisive are the flags that the result of a check may depend on: not those for selecting and reporting.
var decisive = []string{"password-file", "tls-ca", "tls-server-name", "tls-insecure", "timeout", "patience", "repeat",
	"allow-shared", "allow-flush", "fault", "control", "restart-cmd", "kill-cmd", "signal-cmd"}

// again returns those of some flags that were given, with their values, as words for a shell.
func (o *testOptions) again(names ...string) (words []string) {
	o.given.VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed || !slices.Contains(names, f.Name):
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name, text.ShellQuote(target.Redact(f.Value.String())))
		}
	})
	return words
}

// reproducer returns a function that returns the command that plays a check, or a script of the user's, again.
func (o *runOptions) reproducer(s subject, own bool) func(check string) string {
	hint := ""
	rest := append(s.Flags(), o.again(decisive...)...)
	if !s.Ours() {
		if s.Choice.Address.Password != "" {
			hint = " # fill in the password, or set FAKTORY_URL and leave out --url"
		}
		if s.Choice.Variable != "" && hint != "" {
			hint = " # fill in the password, or leave out --url while " + s.Choice.Variable + " is set"
		}
	}
	return func(check string) string {
		words := []string{"fwpcheck", "run", "--check", text.ShellQuote(check)}
		if own {
			words = []string{"fwpcheck", "run", text.ShellQuote(check)}
		}
		words = append(words, "--seed", strconv.FormatUint(o.seed, 10))
		return strings.Join(append(words, rest...), " ") + hint
	}
}
