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
	err     error           // the first file that could not be written
}

// validateFolder creates the folder of --save if it does not exist, and checks that files can be written there.
func validateFolder(path string, isGiven bool) error {
	if !isGiven {
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
	if d.err == nil {
		d.err = fmt.Errorf("save a finding: %w", err)
		p.Logf("%v", d.err)
	}
	return ""
}

// saveScript saves a script behind a comment on where it is from.
func (d *folder) saveScript(p process, name, script, version, target string, seed uint64, start time.Time) string {
	return d.save(p, name, ".fwp", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "# found by %s in %s,\n# with seed %d, on %s\n%s", version, target, seed,
			start.UTC().Format(time.RFC3339), script)
		return err
	})
}

// saveFindings saves a script for each finding that is not known: that of the check that has shown it, or
// the one that a property made.
// The commands under the findings play these files then.
func (o *runOptions) saveFindings(p process, r *reports.Report, s testTarget, picks selection) {
	if o.folder == "" || picks.areUserScripts {
		return
	}
	d := &folder{path: o.folder, secrets: s.Secrets}
	place := target.Redact(s.String())
	save := func(name, script string) string {
		return d.saveScript(p, strings.TrimSuffix(name, "-"), script, r.Version, place, r.Seed, r.StartTime)
	}
	cmds, paths := o.commands(s, true), map[string]string{}
	for i := range r.Checks {
		c := &r.Checks[i]
		saveCheck(c, r, save, paths)
		for j := range c.Findings {
			if f := &c.Findings[j]; f.Saved != "" && len(f.LastSteps) == 0 {
				f.Reproduce = cmds.run(f.Saved)
				if f.Shrink != "" {
					f.Shrink = cmds.shrink(f.Saved, c.ID+" "+f.Clause)
				}
			}
		}
	}
	if d.err != nil {
		r.Internal = d.err.Error()
	}
}

// saveCheck saves the scripts of the findings of one check: those that were made for them, and those of the checks that
// have shown them, which are saved once.
func saveCheck(
	c *reports.Check, r *reports.Report, save func(name, script string) string, paths map[string]string,
) {
	c.Findings = r.FindingsOf(c)
	for j := range c.Findings {
		f := &c.Findings[j]
		id := cmp.Or(f.File, c.ID)
		name, script := strings.ReplaceAll(id, "/", "-"), r.Scripts[id]
		switch {
		case f.KnownLine > 0:
		case f.Script != "":
			f.Saved = save(name+"-"+f.Clause, f.Script)
		case script != "":
			if paths[id] == "" {
				paths[id] = save(name, script)
			}
			f.Saved = paths[id]
		case len(f.LastSteps) > 0:
			f.Saved = save(name+"-"+f.Clause, unplayedText(f.LastSteps))
		}
	}
}

// reproduceFlags are the flags that the result of a check may depend on: not those for selecting and reporting.
var reproduceFlags = []string{"password-file", "tls-ca", "tls-server-name", "tls-insecure", "tls-cert", "tls-key",
	"timeout", "patience", "repeat",
	"exclusive", "allow-flush", "bug", "variation", "control", "restart-cmd", "kill-cmd", "signal-cmd"}

// flagWords returns those of some flags that were given, with their values, as words for a shell.
func (o *testOptions) flagWords(names ...string) (words []string) {
	o.flags.VisitAll(func(f *pflag.Flag) {
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
	o        *runOptions
	s        testTarget
	isScript bool   // checks are scripts of the user's, or saved ones
	hint     string // a comment of the shell
}

func (o *runOptions) commands(s testTarget, isScript bool) commands {
	c := commands{o: o, s: s, isScript: isScript}
	if !s.IsPrivate() && s.Choice.Address.Password != "" {
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
	if c.isScript {
		words = []string{"fwpcheck", "run", text.ShellQuote(check)}
	}
	words = append(words, "--seed", strconv.FormatUint(c.o.seed, 10))
	return strings.Join(slices.Concat(words, c.s.Flags(), c.o.flagWords(reproduceFlags...)), " ") + c.hint
}

// shrink returns the command that makes a small script of a finding of the law in a check; without a finding, the one
// that looks for what a generated check has found.
func (c commands) shrink(check, finding string) string {
	words := []string{"fwpcheck", "explain", text.ShellQuote(check), "|", "fwpcheck", "shrink", "-"}
	if c.isScript {
		words = []string{"fwpcheck", "shrink", text.ShellQuote(check)}
	}
	if words = append(words, "--finding", text.ShellQuote(finding)); finding == "" {
		words = []string{"fwpcheck", "explore", "--time", "2m"}
	}
	flags := c.o.flagWords("password-file", "tls-ca", "tls-server-name", "tls-insecure", "tls-cert", "tls-key", "timeout",
		"bug", "variation")
	return strings.Join(slices.Concat(words, c.s.Flags(), flags), " ") + c.hint
}
