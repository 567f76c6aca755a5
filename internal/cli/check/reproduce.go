package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
)

// repeated holds the flags that the result of a check may depend on: not those for selecting and reporting.
var repeated = []string{"password-file", "tls-ca", "tls-server-name", "tls-insecure", "timeout", "patience", "repeat",
	"allow-shared", "allow-flush", "fault", "control", "restart-cmd", "kill-cmd", "signal-cmd"}

// reproducer returns a function that returns the command that plays a check, or a script of the user's, again.
func (o *runOptions) reproducer(s subject, own bool) func(check string) string {
	var rest []string
	o.given.VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed || !slices.Contains(repeated, f.Name):
		case f.Value.Type() == "bool":
			rest = append(rest, "--"+f.Name)
		default:
			rest = append(rest, "--"+f.Name, text.ShellQuote(target.Redact(f.Value.String())))
		}
	})
	hint := ""
	rest = append(s.endpoint.Flags(), rest...)
	if !s.endpoint.Ours() {
		if s.endpoint.Choice.Address.Password != "" {
			hint = " # fill in the password, or set FAKTORY_URL and leave out --url"
		}
		if s.endpoint.Choice.Variable != "" && hint != "" {
			hint = " # fill in the password, or leave out --url while " + s.endpoint.Choice.Variable + " is set"
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
