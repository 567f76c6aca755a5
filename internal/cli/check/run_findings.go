package check

import (
	"cmp"
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

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/target"
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
	f, err := shared.OpenFile(filepath.Join(path, "fwpcheck"))
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
	err := shared.NewFile(path, write)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		path = filepath.Join(d.path, fmt.Sprintf("%s-%d%s", name, n, kind))
		err = shared.NewFile(path, write)
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

// saveFindings saves a script for each finding that is not known: that of the check that has shown it, or
// the one that a property made.
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
	again, saved := o.commands(s, true), map[string]string{}
	for i := range r.Checks {
		c := &r.Checks[i]
		saveCheck(c, r, save, saved)
		for j := range c.Findings {
			if f := &c.Findings[j]; f.Saved != "" && len(f.Unshrunk) == 0 {
				f.Reproduce = again.run(f.Saved)
				if f.Shrink != "" {
					f.Shrink = again.shrink(f.Saved, c.ID+" "+f.Clause)
				}
			}
		}
	}
	if d.failed != nil {
		r.Internal = d.failed.Error()
	}
}

// saveCheck saves the scripts of the findings of one check: those that were made for them, and those of the checks that
// have shown them, which are saved once.
func saveCheck(
	c *reports.Check, r *reports.Report, save func(name, script string) string, saved map[string]string,
) {
	c.Findings = r.FindingsOf(c)
	for j := range c.Findings {
		f := &c.Findings[j]
		id := cmp.Or(f.File, c.ID)
		name, script := strings.ReplaceAll(id, "/", "-"), r.Scripts[id]
		switch {
		case f.Known > 0:
		case f.Script != "":
			f.Saved = save(name+"-"+f.Clause, f.Script)
		case script != "":
			if saved[id] == "" {
				saved[id] = save(name, script)
			}
			f.Saved = saved[id]
		case len(f.Unshrunk) > 0:
			f.Saved = save(name+"-"+f.Clause, unplayed(f.Unshrunk))
		}
	}
}

// decisive are the flags that the result of a check may depend on: not those for selecting and reporting.
var decisive = []string{"password-file", "tls-ca", "tls-server-name", "tls-insecure", "tls-cert", "tls-key",
	"timeout", "patience", "repeat",
	"exclusive", "allow-flush", "bug", "variation", "control", "restart-cmd", "kill-cmd", "signal-cmd"}

// again returns those of some flags that were given, with their values, as words for a shell.
func (o *testOptions) again(names ...string) (words []string) {
	o.given.VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed || !slices.Contains(names, f.Name):
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name, text.ShellQuote(target.RedactCommand(f.Value.String())))
		}
	})
	return words
}

// commands are those that show a finding of a run again.
type commands struct {
	o    *runOptions
	s    subject
	own  bool   // checks are scripts of the user's, or saved ones
	hint string // a comment of the shell
}

func (o *runOptions) commands(s subject, own bool) commands {
	c := commands{o: o, s: s, own: own}
	if !s.Ours() && s.Choice.Address.Password != "" {
		c.hint = " # fill in the password, or set FAKTORY_URL and replace --url by --from-environment"
		if s.Choice.Variable != "" {
			c.hint = " # fill in the password, or replace --url by --from-environment while " + s.Choice.Variable + " is set"
		}
	}
	return c
}

// run returns the command that plays a check again.
func (c commands) run(check string) string {
	words := []string{"fwpcheck", "run", "--check", text.ShellQuote(check)}
	if c.own {
		words = []string{"fwpcheck", "run", text.ShellQuote(check)}
	}
	words = append(words, "--seed", strconv.FormatUint(c.o.seed, 10))
	return strings.Join(slices.Concat(words, c.s.Flags(), c.o.again(decisive...)), " ") + c.hint
}

// shrink returns the command that makes a small script of a finding of the law in a check; without a finding, the one
// that looks for what a generated check has found.
func (c commands) shrink(check, finding string) string {
	words := []string{"fwpcheck", "explain", text.ShellQuote(check), "|", "fwpcheck", "shrink", "-"}
	if c.own {
		words = []string{"fwpcheck", "shrink", text.ShellQuote(check)}
	}
	if words = append(words, "--finding", text.ShellQuote(finding)); finding == "" {
		words = []string{"fwpcheck", "explore", "--time", "2m"}
	}
	flags := c.o.again("password-file", "tls-ca", "tls-server-name", "tls-insecure", "tls-cert", "tls-key", "timeout",
		"bug", "variation")
	return strings.Join(slices.Concat(words, c.s.Flags(), flags), " ") + c.hint
}
