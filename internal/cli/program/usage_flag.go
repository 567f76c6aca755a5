package program

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/load/workload"
)

// flagError returns an error of pflag in the words of package workload, with a suggestion.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return invalidValue(invalid)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	return err
}

func invalidValue(invalid *pflag.InvalidValueError) error {
	flag, text, cause := invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap()
	if IsURL(text) {
		return fmt.Errorf("--%s does not take a URL; use --url URL for a server", flag.Name)
	}
	if _, described := errors.AsType[*workload.Problem](cause); !described {
		if problem := invalidText(flag.Value.Type(), text); problem != nil {
			cause = problem
		}
	}
	return fmt.Errorf("--%s: %w", flag.Name, cause)
}

// invalidText returns why a text is not a value of a type that pflag itself reads, as a problem of package workload;
// nil for other types.
func invalidText(kind, text string) error {
	p := &workload.Problem{}
	switch kind {
	case "duration":
		p.What, p.Expected = "is not a valid duration", "a duration"
		p.Do = "write a number and a unit, as in 500ms, 30s or 5m"
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			p.What = "has no unit"
		} else if tooLong.MatchString(text) {
			p.What, p.Do = "is too long", fmt.Sprintf("write %dh at most", math.MaxInt64/int64(time.Hour))
		}
	case "uint64":
		p.What, p.Do = "is not a valid seed", "write digits, as in 42"
		p.Expected = fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64))
	case "int":
		p.What, p.Expected, p.Do = "is not a valid whole number", "a whole number", "write digits, as in 50"
	case "float64":
		p.What, p.Expected, p.Do = "is not a valid number", "a number", "write it as in 50 or 0.5"
	case "bool":
		p.What, p.Expected, p.Do = "is neither true nor false", "true or false", "write one of them, or the flag alone"
	default:
		return nil
	}
	p.What = fmt.Sprintf("%q %s", text, p.What)
	return p
}

// tooLong matches durations, those that do not fit into 64 bits too.
var tooLong = regexp.MustCompile(`^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`)

// unknownFlag returns an error about an unknown flag, with similar ones.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	err, name := error(unknown), unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		name, _, _ = strings.Cut(letters, "=") // -url instead of --url
		err = fmt.Errorf("unknown flag -%s", name)
	}
	if name == "protocol" {
		return fmt.Errorf("%w: %s", err, peer.WithoutFlag(cmd.CommandPath()))
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, Suggestion("--"+name, flags))
}
