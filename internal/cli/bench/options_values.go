package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/validity"
)

// parseThresholds reads the values of --threshold.
func parseThresholds(texts []string) ([]validity.Threshold, error) {
	return parseEach("threshold", texts, validity.ParseThreshold)
}

// parseEach reads the values of a flag that is about the commands of a load.
func parseEach[T any](
	flag string, texts []string, parse func(source string, ops ...string) (T, error),
) (all []T, err error) {
	for _, text := range texts {
		value, err := parse(text, load.Ops()...)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		all = append(all, value)
	}
	return all, nil
}

// parseRate reads the value of a flag that is a rate.
func parseRate(flag, words string) (plan.Rate, error) {
	rate, err := plan.ParseRate(words)
	if err != nil {
		err = fmt.Errorf("--%s: %w", flag, err)
	}
	return rate, err
}

// firstGiven returns the first of these flags that was given, empty if none was.
func (o *loadFlags) firstGiven(flags ...string) string {
	at := slices.IndexFunc(flags, o.flags.Changed)
	if at < 0 {
		return ""
	}
	return flags[at]
}

// patience returns the --timeout that was given, 0 if none was.
func (o *loadFlags) patience() time.Duration {
	if o.flags.Changed("timeout") {
		return o.timeout
	}
	return 0
}
