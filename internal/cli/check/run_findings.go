package check

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

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
			if f := &c.Findings[j]; f.Saved != "" {
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
		}
	}
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
		c.hint = " # fill in the password, or set FAKTORY_URL and leave out --url"
		if s.Choice.Variable != "" {
			c.hint = " # fill in the password, or leave out --url while " + s.Choice.Variable + " is set"
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

// shrink returns the command that makes a small script of a finding of the law in a check.
func (c commands) shrink(check, finding string) string {
	words := []string{"fwpcheck", "explain", text.ShellQuote(check), "|", "fwpcheck", "shrink", "-"}
	if c.own {
		words = []string{"fwpcheck", "shrink", text.ShellQuote(check)}
	}
	words = append(words, "--finding", text.ShellQuote(finding))
	flags := c.o.again("password-file", "tls-ca", "tls-server-name", "tls-insecure", "timeout", "fault")
	return strings.Join(slices.Concat(words, c.s.Flags(), flags), " ") + c.hint
}

// coverFlags are the flags about the coverage of a server's own code.
type coverFlags struct{ dir string }

func (c *coverFlags) declare(f *pflag.FlagSet) {
	f.StringVar(&c.dir, "cover-dir", "", "collect in `FOLDER` what code of a Go server of --start, built with -cover, "+
		"was reached (GOCOVERDIR), and list the functions that nothing did")
}

// apply has servers that are started write their coverage into the folder, which is made if it is not there.
func (c *coverFlags) apply(e program.Endpoint) error {
	if c.dir == "" {
		return nil
	}
	if e.Starter == nil {
		return errors.New("--cover-dir works only with --start: another server's environment cannot be set")
	}
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		return fmt.Errorf("--cover-dir: %w", err)
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return fmt.Errorf("--cover-dir: %w", err)
	}
	e.Starter.Environment = append(e.Starter.Environment, "GOCOVERDIR="+dir)
	return nil
}

// coverPatience is how long the tool may take that reads the coverage.
const coverPatience = time.Minute

// functions returns which functions of the server were reached, nil without the flag. All servers must have ended.
func (c *coverFlags) functions(ctx context.Context) *reports.Functions {
	if c.dir == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), coverPatience)
	defer cancel()
	data, _ := filepath.Glob(filepath.Join(c.dir, "covcounters.*")) // the pattern is a right one
	if len(data) == 0 {
		return &reports.Functions{Open: "the server has written nothing: it must be built with -cover, and end in order at " +
			"SIGTERM"}
	}
	if _, err := exec.LookPath("go"); err != nil {
		return &reports.Functions{Open: "the command go is not on PATH: go tool covdata func -i=" + c.dir + " lists them"}
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "covdata", "func", "-i="+c.dir).Output() //nolint:gosec // a folder
	if err != nil {
		return &reports.Functions{Open: "go tool covdata: " + err.Error()}
	}
	return reached(out)
}

// reached reads what go tool covdata func prints: in each line a file with its line, a function and its percentage.
func reached(out []byte) *reports.Functions {
	f := &reports.Functions{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || !strings.HasSuffix(words[0], ":") {
			continue
		}
		if f.Of++; words[2] == "0.0%" {
			f.Never = append(f.Never, words[0]+" "+words[1])
		}
	}
	return f
}
