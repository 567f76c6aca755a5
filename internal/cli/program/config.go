package program

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/internal/yamlfile"
)

const (
	configName = "fwpcheck.yaml" // which is read if the command line names no server
	noConfig   = "none"          // instead of a file's name
)

// DeclareConfig adds --config to the flags of `fwpcheck run`.
func DeclareConfig(f *pflag.FlagSet) {
	f.String("config", "", "read flags from `FILE` (YAML): url, start, expect, output or any other flag of this command as a "+
		"key. Without it "+configName+" in this folder is read, unless the command line names a server; "+noConfig+
		": no file is read")
}

// Which flags are about the server, and which about the checks of the suite.
var (
	serverFlags = []string{"url", "start", "password-file", "tls-ca", "tls-server-name", "tls-insecure", "protocol",
		"allow-shared", "allow-flush", "control", "fault", "cover-dir"}
	suiteFlags = []string{"check", "clause", "level", "quick", "require", "expect"}
	namesOne   = []string{"url", "start", "protocol", "fault"} // they name the server
)

// Configure sets the flags of a command that its command line does not have as a file says: that of --config, or the
// one of the working folder unless the command line names a server. It says on standard error what was set. What a file
// says about its server is left out where the command line names another one, and what it says about the checks of the
// suite where scripts are played.
func (p Process) Configure(cmd *cobra.Command, scripts bool) error {
	flags := cmd.Flags()
	name := flags.Lookup("config").Value.String()
	given := slices.ContainsFunc(namesOne, flags.Changed)
	var skip []string
	if given {
		skip = serverFlags
	}
	if scripts {
		skip = slices.Concat(skip, suiteFlags)
	}
	usual := name == ""
	if usual {
		name = configName
	}
	source, err := input.Read(name, yamlfile.MaxSource)
	switch {
	case (usual && errors.Is(err, fs.ErrNotExist)) || name == noConfig:
		return nil
	case err != nil:
		return fmt.Errorf("--config: %w", err)
	case usual && given:
		p.Logf("%s is not used, because the command line names the server: --config %[1]s uses it", name)
		return nil
	}
	c := config{flags: flags, command: cmd.CommandPath(), skip: skip, lines: map[string]int{}}
	c.problems.File = filepath.ToSlash(name)
	c.read(source)
	if err := c.problems.Err(); err != nil {
		return err
	}
	what := "nothing"
	if len(c.set) > 0 {
		what = strings.Join(c.set, ", ")
	}
	p.Logf("%s sets %s (--config %s: without it)", name, what, noConfig)
	return nil
}

// config is a file that is being read.
type config struct {
	flags    *pflag.FlagSet
	command  string
	skip     []string // what it does not set
	problems yamlfile.Problems
	lines    map[string]int // of the keys
	set      []string       // flags that it has set
}

func (c *config) read(source []byte) {
	root := c.problems.Root(source, yamlfile.Shape{
		Kind: yaml.MappingNode, Expected: "lines such as url: tcp://localhost:7419",
		Do: "write a key, a colon and a value in each line", One: "one mapping in a file",
	})
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], yamlfile.Resolved(root.Content[i+1])
		c.entry(key, value)
	}
	if c.lines["url"] > 0 && c.lines["start"] > 0 {
		c.problems.Report(yamlfile.Place{Line: max(c.lines["url"], c.lines["start"])}, &yamlfile.Problem{
			What: "url and start name two servers", Expected: "one of them", Do: "remove the other"})
	}
}

// entry sets the flag that a key names.
func (c *config) entry(key, value *yaml.Node) {
	name := strings.ReplaceAll(key.Value, "_", "-")
	flag := c.flags.Lookup(name)
	switch {
	case key.Kind != yaml.ScalarNode || !c.known(flag):
		c.unknown(key)
	case c.lines[name] > 0:
		c.problems.Report(yamlfile.At(key), &yamlfile.Problem{Key: key.Value, What: "the key is there twice",
			Expected: fmt.Sprintf("it once; line %d has it", c.lines[name]), Do: "remove one of them"})
	default:
		c.lines[name] = key.Line
		if slices.Contains(c.skip, name) || flag.Changed {
			return
		}
		for _, item := range c.items(key, flag, value) {
			if err := c.flags.Set(name, item.Value); err != nil {
				p := flagProblem(err)
				p.Key = key.Value
				c.problems.Report(yamlfile.At(item), p)
			}
		}
		c.set = append(c.set, "--"+name)
	}
}

// known reports whether a flag may stand in a file: not those that are about a single call.
func (c *config) known(flag *pflag.Flag) bool {
	return flag != nil && !flag.Hidden && !slices.Contains([]string{"config", "help", "update-expect"}, flag.Name)
}

func (c *config) unknown(key *yaml.Node) {
	what := "unknown key " + strconv.Quote(text.Brief(key.Value, 100))
	if key.Kind != yaml.ScalarNode {
		what = yamlfile.KindOf(key) + " is not a key"
	}
	var names []string
	c.flags.VisitAll(func(f *pflag.Flag) {
		if c.known(f) {
			names = append(names, f.Name)
		}
	})
	do := text.DidYouMean(text.Candidates(key.Value, names)...)
	if do == "" {
		do = c.command + " --help all lists them"
	}
	c.problems.Report(yamlfile.At(key), &yamlfile.Problem{
		What: what, Expected: "the name of a flag of " + c.command, Do: do})
}

// items returns the values of a key: those of a sequence, for a flag that may be repeated.
func (c *config) items(key *yaml.Node, flag *pflag.Flag, value *yaml.Node) []*yaml.Node {
	items := []*yaml.Node{value}
	if _, repeated := flag.Value.(pflag.SliceValue); repeated && value.Kind == yaml.SequenceNode {
		items = value.Content
	}
	for i, item := range items {
		items[i] = yamlfile.Resolved(item)
		if items[i].Kind != yaml.ScalarNode || items[i].Tag == "!!null" {
			c.problems.Report(yamlfile.At(item), &yamlfile.Problem{Key: key.Value, What: "this is " + yamlfile.KindOf(items[i]),
				Expected: "a value", Do: "write a value after the colon"})
			return nil
		}
	}
	return items
}
