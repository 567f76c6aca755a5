package shared_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/bench"
	"github.com/fwpsuite/fwp/internal/cli/check"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
)

// attempt is how a command is called with a protocol, of which the test sees at once whether it works: {protocol} is
// its name, {url} a port of it at which nothing listens, {script} the script of {check}, and {clause} a clause. works
// is in the output then.
type attempt struct{ command, words, want string }

const (
	connectionRefused = "connection refused"
	noBug             = "no-such-bug"
)

var attempts = []attempt{
	{"fwpcheck run", "--url {url}", connectionRefused},
	{"fwpcheck lint", "{script}", ""},
	{"fwpcheck fmt", "--check {script}", ""},
	{"fwpcheck list", "--protocol {protocol}", "{check}"},
	{"fwpcheck explain", "{clause}", "{clause}"},
	{"fwpcheck wait", "--url {url} --timeout 1ms", "was not ready"},
	{"fwpcheck explore", "--url {url} --time 1s", connectionRefused},
	{"fwpcheck compare", "{url} {url} --time 1s", connectionRefused},
	{"fwpcheck upgrade", "--protocol {protocol} --bug no-such-bug", noBug},
	{"fwpcheck serve", "--protocol {protocol} --bug no-such-bug", noBug},
	{"fwpcheck record", "--upstream {url}", connectionRefused},
	{"fwpcheck shrink", "{script} --url {url}", connectionRefused},
	{"fwpcheck clean", "--url {url}", connectionRefused},
	{"fwpcheck worker", "--protocol {protocol} -- true", ""},
	{"fwpcheck client", "--protocol {protocol} -- true", ""},
	{"fwpbench run", "--url {url}", connectionRefused},
	{"fwpbench compare", "--run {url} {url} --pairs 6", connectionRefused},
	{"fwpbench capacity", "--url {url} --threshold errors<1%", connectionRefused},
}

// exceptions are the commands that have to do with no protocol, whose files say which, or that know FWP only and take no
// other.
var exceptions = map[string]bool{
	"completion": true, "help": true, "version": true, "recheck": true, "site": true, "presets": true,
	"metrics": true, "merge": true, "shrink": true, "init": true, "fwpbench worker": true,
}

// callProgram calls a program and returns its output, with each run of white space as one blank.
func callProgram(args ...string) string {
	var out strings.Builder
	main := map[string]func(shared.Process) int{"fwpcheck": check.Main, "fwpbench": bench.Main}[args[0]]
	main(shared.Process{
		Args: args[1:], In: strings.NewReader(""), Out: &out, Err: &out,
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	return strings.Join(strings.Fields(out.String()), " ")
}

// TestEachCommandWorksOrSaysWhyNot calls each command with each other protocol: it refuses that in the words of its
// refusal, or works. docs/protocols.md has the same.
func TestEachCommandWorksOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for _, a := range attempts {
		for _, p := range registry.All()[1:] {
			script := filepath.Join(t.TempDir(), "script.fwp")
			first, err := p.Suite.Scripts()
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(script, []byte(strings.Join(first[0].Source, "\n")), 0o600))
			fill := strings.NewReplacer("{protocol}", p.Name, "{url}", p.Scheme.Name+"://127.0.0.1:1", "{script}", script,
				"{clause}", p.Clauses()[0].ID, "{check}", first[0].Name)
			words := append(strings.Fields(a.command), strings.Fields(fill.Replace(a.words))...)
			out := callProgram(words...)
			if refusal := p.Refusal(a.command); refusal != nil {
				assert.Contains(t, out, refusal.Error(), words)
				continue
			}
			assert.Contains(t, out, fill.Replace(a.want), words)
			assert.NotContains(t, out, "only, not with", words)
			assert.NotContains(t, out, "unknown flag", words)
		}
	}
}

// TestEveryCommandIsHeld finds each command in the table of attempts, and each that refuses a protocol.
func TestEveryCommandIsHeld(t *testing.T) {
	t.Parallel()
	commands := map[string]bool{}
	for _, a := range attempts {
		commands[a.command] = true
	}
	for _, name := range []string{"fwpcheck", "fwpbench"} {
		var out strings.Builder
		main := map[string]func(shared.Process) int{"fwpcheck": check.Main, "fwpbench": bench.Main}[name]
		main(shared.Process{Args: []string{"__complete", ""}, In: strings.NewReader(""), Out: &out, Err: &out,
			LookupEnv: func(string) (string, bool) { return "", false }})
		for line := range strings.Lines(out.String()) {
			command, _, ok := strings.Cut(line, "\t")
			if ok && !exceptions[command] && !exceptions[name+" "+command] {
				assert.True(t, commands[name+" "+command], "%s %s has no row in the table", name, command)
			}
		}
		assert.Contains(t, out.String(), "run\t")
	}
	for _, p := range registry.All() {
		for command := range p.Refusals {
			assert.True(t, commands[command], command)
		}
	}
}

// TestVariationsStandBesideFaults: each command with the flag --bug has --variation too, so that a test can compare a
// wrong server with an unusual one that is right.
func TestVariationsStandBesideFaults(t *testing.T) {
	t.Parallel()
	bugy := 0
	for _, a := range attempts {
		name, command, _ := strings.Cut(a.command, " ")
		flags := callProgram(name, "__complete", command, "--")
		assert.Equal(t, strings.Contains(flags, " --bug "), strings.Contains(flags, " --variation "), a.command)
		bugy += strings.Count(flags, " --bug ")
	}
	assert.Positive(t, bugy, "completion names the flags")
}

func TestDocumentOfProtocols(t *testing.T) {
	t.Parallel()
	var table, reasons strings.Builder
	for _, a := range attempts {
		row := []string{"`" + a.command + "`"}
		for _, p := range registry.All() {
			err := p.Refusal(a.command)
			if err == nil {
				row = append(row, "yes")
				continue
			}
			row = append(row, "no")
			_, reason, _ := strings.Cut(err.Error(), ": ")
			fmt.Fprintf(&reasons, "- `%s`, %s: %s.\n", a.command, p.Title, reason)
		}
		fmt.Fprintf(&table, "| %s |\n", strings.Join(row, " | "))
	}
	var titles, schemes []string
	for _, p := range registry.All() {
		titles, schemes = append(titles, p.Title), append(schemes, p.Scheme.Name+"://")
	}
	last := len(schemes) - 1
	text := fmt.Sprintf(introductionTimeout, strings.Join(schemes[:last], ", ")+" or "+schemes[last], strings.Join(titles, " | "),
		strings.Repeat("---|", len(titles)), table.String(), reasons.String())
	golden.Document(t, "../../../docs/protocols.md", text, "go test ./internal/cli/shared -run Document -update")
}

const introductionTimeout = `# Which command works with which protocol

Written by ` + "`go test ./internal/cli/shared -run Document -update`" + `; do not edit. A test calls each command.

The scheme of a URL says the protocol: %s. Without a URL it is that of
` + "`--protocol`" + `, or of the header of a script. Commands that are not here read files; ` + "`fwpbench worker`" + `
is for FWP.

| command | %s |
|---|%s
%s
Where a command does not work it ends with exit code 2, and says why:

%s`
