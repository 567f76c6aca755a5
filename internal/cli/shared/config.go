package shared

import (
	"cmp"
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

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/text"
	baseyaml "github.com/fwpsuite/fwp/internal/base/yaml"
)

const (
	configName = "fwpcheck.yaml" // which is read if the command line names no server
	noConfig   = "none"          // instead of a file's name
)

// serverKeys are about the server, and how it is reached.
const (
	reachKeys  = "url password-file tls-ca tls-server-name tls-insecure tls-cert tls-key"
	serverKeys = reachKeys + " start start-timeout protocol exclusive allow-flush control bug variation"
)

// configKeys are the commands that read the file, and the keys at its top that each takes: flags that mean the same in
// all of these commands. Those of run are all of its flags. Below the name of a command, as a key, are the flags for it
// alone: known findings, for example, and files for results.
var configKeys = map[string]string{
	"run": "", "explore": serverKeys + " extension timeout patience", "shrink": serverKeys + " timeout",
	"compare": "timeout patience", "upgrade": "timeout patience", "clean": reachKeys + " timeout", "wait": reachKeys,
	"worker": "", "client": "", "record": "", "recheck": "", "site": "", "serve": "",
}

// DeclareConfig adds --config to the commands of fwpcheck that read the file.
func DeclareConfig(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if _, ok := configKeys[cmd.Name()]; ok {
			cmd.Flags().String("config", "", "read flags from `FILE` (YAML): each flag is a key; flags of one command "+
				"stand under its name. Without --config, "+configName+" in this folder is read, unless the "+
				"command line names a server; "+noConfig+": no file is read")
		}
	}
}

// Which flags are about the checks of the suite, which of them choose some, and which name the server.
var (
	suiteFlags     = []string{"check", "clause", "level", "quick", "require", "expect", "output", "save"}
	selectionFlags = []string{"check", "clause", "level"}
	serverFlags    = []string{"url", "start", "embedded", "from-environment", "protocol", "bug", "variation"}
)

// configure sets the flags of a command that its command line does not have as a file says: that of --config, or the
// one of the working folder unless the command line names a server. It says on standard error what was set. What a file
// says about its server is left out where the command line names another one, and what it says about the checks of the
// suite where scripts are played. Files for results are left out where the command line chooses checks. It does nothing
// for a command that reads no file.
func (p Process) configure(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	if flags.Lookup("config") == nil {
		return nil
	}
	name := flags.Lookup("config").Value.String()
	isServerNamed := slices.ContainsFunc(serverFlags, flags.Changed)
	isDefault := name == ""
	if isDefault {
		name = configName
	}
	source, err := input.Read(name, baseyaml.MaxSource)
	switch {
	case (isDefault && errors.Is(err, fs.ErrNotExist)) || name == noConfig:
		return nil
	case err != nil:
		return fmt.Errorf("--config: %w", err)
	case isDefault && isServerNamed:
		p.Logf("%s is ignored, because the command line names a server; to use it, give --config %[1]s", name)
		return nil
	}
	c := config{cmd: cmd, skip: skippedKeys(cmd, args)}
	c.problems.File = filepath.ToSlash(name)
	c.read(source)
	if err := c.problems.Err(); err != nil {
		return err
	}
	if list := strings.Join(c.flags, ", "); list != "" || !isDefault {
		p.Logf("%s sets %s (to ignore the file: --config %s)", name, cmp.Or(list, "nothing"), noConfig)
	}
	return nil
}

// skippedKeys returns what a command does not take from a file, because of its command line.
func skippedKeys(cmd *cobra.Command, args []string) (keys []string) {
	flags := cmd.Flags()
	if slices.ContainsFunc(serverFlags, flags.Changed) {
		keys = strings.Fields(serverKeys)
	}
	switch {
	case cmd.Name() == "run" && len(args) > 0:
		keys = append(keys, suiteFlags...)
	case slices.ContainsFunc(selectionFlags, flags.Changed): // it must not replace the report of all checks
		keys = append(keys, "output", "save")
	}
	return keys
}

// config is a file that is being read.
type config struct {
	cmd      *cobra.Command // whose flags are set
	skip     []string       // what is not set
	problems baseyaml.Problems
	flags    []string // flags that were set
}

func (c *config) read(source []byte) {
	root := c.problems.Root(source, baseyaml.Shape{
		Kind: yaml.MappingNode, Expected: "lines such as url: tcp://localhost:7419",
		Do: "write a key, a colon and a value in each line", SingleDocument: "one mapping of keys to values",
	})
	if root == nil {
		return
	}
	lines := c.mapping(root, nil)
	if lines["url"] > 0 && lines["start"] > 0 {
		c.problems.Report(baseyaml.Place{Line: max(lines["url"], lines["start"])}, &baseyaml.Problem{
			Description: "url and start each name a server", Expected: "one of them", Do: "remove the other"})
	}
}

// mapping reads keys that are flags: those below the name of a command, or those at the top, where section is nil. What
// stands below a command's name comes before what is at the top. It returns the lines of the keys.
func (c *config) mapping(m *yaml.Node, section *cobra.Command) map[string]int {
	lines := map[string]int{}
	for pass := range 2 { // the sections, and then flags
		for i := 0; i+1 < len(m.Content); i += 2 {
			key, value := m.Content[i], baseyaml.Resolve(m.Content[i+1])
			name := strings.ReplaceAll(key.Value, "_", "-")
			_, isCommand := configKeys[name]
			isSection := section == nil && isCommand && value.Kind == yaml.MappingNode
			if isSection != (pass == 0) {
				continue
			}
			if lines[name] > 0 {
				c.problems.Report(baseyaml.At(key), &baseyaml.Problem{Key: key.Value, Description: "duplicate key",
					Expected: fmt.Sprintf("it only once (line %d has it already)", lines[name]), Do: "remove one of them"})
				continue
			}
			lines[name] = key.Line
			if isSection {
				c.mapping(value, c.command(name))
			} else {
				c.entry(key, value, name, section)
			}
		}
	}
	return lines
}

// command returns the command of a name, beside the one whose flags are set.
func (c *config) command(name string) *cobra.Command {
	all := c.cmd.Parent().Commands()
	return all[slices.IndexFunc(all, func(cmd *cobra.Command) bool { return cmd.Name() == name })]
}

// entry sets the flag that a key names, if it is for this command.
func (c *config) entry(key, value *yaml.Node, name string, section *cobra.Command) {
	owner := section
	if owner == nil {
		owner = c.command("run")
		if slices.Contains(strings.Fields(configKeys[c.cmd.Name()]), name) && c.cmd.Flags().Lookup(name) != nil {
			owner = c.cmd
		}
	}
	if key.Kind != yaml.ScalarNode || !isKey(owner.Flags().Lookup(name)) {
		c.reportUnknown(key, owner)
		return
	}
	flag := c.cmd.Flags().Lookup(name)
	if owner != c.cmd || slices.Contains(c.skip, name) || flag.Changed {
		return
	}
	for _, item := range c.items(key, flag, value) {
		if err := c.cmd.Flags().Set(name, item.Value); err != nil {
			p := flagProblem(err)
			p.Key = key.Value
			c.problems.Report(baseyaml.At(item), p)
		}
	}
	c.flags = append(c.flags, "--"+name)
}

// isKey reports whether a flag may stand in a file: not those that are about a single call.
func isKey(flag *pflag.Flag) bool {
	return flag != nil && !flag.Hidden && !slices.Contains([]string{"config", "help", "update-expect"}, flag.Name)
}

func (c *config) reportUnknown(key *yaml.Node, owner *cobra.Command) {
	problem := "unknown key " + strconv.Quote(text.Brief(key.Value, 100))
	if key.Kind != yaml.ScalarNode {
		problem = baseyaml.KindOf(key) + " is not a key"
	}
	var names []string
	owner.Flags().VisitAll(func(f *pflag.Flag) {
		if isKey(f) {
			names = append(names, f.Name)
		}
	})
	do := text.DidYouMean(text.Candidates(key.Value, names)...)
	if newName := text.Replacement(key.Value); newName != "" {
		do = "it is now called " + newName
	}
	for _, cmd := range owner.Parent().Commands() {
		if _, ok := configKeys[cmd.Name()]; ok && isKey(cmd.Flags().Lookup(strings.ReplaceAll(key.Value, "_", "-"))) {
			do = "write it under the name of its command: " + cmd.Name()
			break
		}
	}
	expected := ""
	if do == "" {
		expected, do = "the name of a flag of "+owner.CommandPath(), owner.CommandPath()+" --help all lists them"
	}
	c.problems.Report(baseyaml.At(key), &baseyaml.Problem{Description: problem, Expected: expected, Do: do})
}

// items returns the values of a key: those of a sequence, for a flag that may be repeated.
func (c *config) items(key *yaml.Node, flag *pflag.Flag, value *yaml.Node) []*yaml.Node {
	items := []*yaml.Node{value}
	if _, isSlice := flag.Value.(pflag.SliceValue); isSlice && value.Kind == yaml.SequenceNode {
		items = value.Content
	}
	for i, item := range items {
		items[i] = baseyaml.Resolve(item)
		if items[i].Kind != yaml.ScalarNode || items[i].Tag == "!!null" {
			c.problems.Report(baseyaml.At(item), &baseyaml.Problem{Key: key.Value, Description: "this is " +
				baseyaml.KindOf(items[i]),
				Expected: "a value", Do: "write a value after the colon"})
			return nil
		}
	}
	return items
}
