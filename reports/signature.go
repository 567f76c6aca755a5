package reports

import (
	"regexp"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// Signature returns what is the same of f in every run: what was received, or how it differs, and what was expected. It
// has one line; see Stable for what is replaced in it.
func (f *Finding) Signature() string {
	if len(f.Differences) > 0 {
		return beginning(strings.Join(f.Differences, "; "), 2*enoughOfASymptom)
	}
	received := beginning(text.FirstLine(f.Actual), enoughOfASymptom)
	if expected := text.FirstLine(f.Expected); expected != "" && received != "" {
		return received + " instead of " + beginning(expected, enoughOfASymptom)
	}
	return received
}

// enoughOfASymptom is how many characters of what was received or expected are in a signature. The rest of a long reply
// depends on where the report has cut it.
const enoughOfASymptom = 80

// beginning returns the first characters of s, stable.
func beginning(s string, most int) string {
	all := []rune(Stable(s))
	return strings.TrimSpace(string(all[:min(len(all), most)]))
}

// unstable holds what differs from run to run, and what stands for it. The order counts.
var unstable = []struct {
	what *regexp.Regexp
	by   string
}{
	// The names of scripts and of explorations, also behind an escape such as \r.
	{regexp.MustCompile(`fwp\d{10}[0-9a-f]{4}-\d+-([a-zA-Z_]+)[-0-9]*`), "$$$1"},
	{regexp.MustCompile(`(?:fwp|x)[0-9a-f]{16}-[-a-z0-9]+`), "$$name"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?`), "#time"},
	{regexp.MustCompile(`\b[0-9a-f]*\d[0-9a-f]{15,}\b`), "#"},
	{regexp.MustCompile(`\b(?:\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|m|h))+\b`), "#time"},
	{regexp.MustCompile(`\d+(?:[.,]\d+)*`), "#"},
}

// Stable returns s with what differs from run to run replaced: names that the suite made up by the word in them
// ("$queue"), times and durations by "#time", and other numbers by "#". Spaces are single.
func Stable(s string) string {
	for _, u := range unstable {
		s = u.what.ReplaceAllString(s, u.by)
	}
	return text.OneLine(s)
}
