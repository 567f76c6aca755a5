package suite

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// varyingKeys are the keys of inspect whose values differ on servers that mean the same: times, and what depends on
// other clients.
var varyingKeys = []string{"created", "time", "started", "active-clients", "evicted-jobs"}

// normalize returns a reply in parts that are the same on servers that mean the same: ids are numbers in the order in
// which jobs were added, names are without the prefix of the play, and the text of an error is left out. A block, and
// each key of one record, is a part.
func (l *workqLaw) normalize(m session.Message) []string {
	if !l.Compared {
		return nil
	}
	if m.Kind != workqsession.OK {
		return []string{strings.SplitN(workqscript.Dialect{}.Text(m), " ", 2)[0]}
	}
	shape, records := workqsession.ShapeOf(m)
	parts := []string{strings.TrimSpace(string(m.Text) + " " + recordCount(m))}
	switch {
	case shape == workqsession.Leased:
		return append(parts, "id: "+l.symbol(string(m.Parts[1])), "name: "+l.symbol(string(m.Parts[2])),
			"ttr: "+string(m.Parts[3]), fmt.Sprintf("payload: %q", m.Parts[5]))
	case shape == workqsession.Result:
		return append(parts, "id: "+l.symbol(string(m.Parts[1])), "success: "+string(m.Parts[2]),
			fmt.Sprintf("result: %q", m.Parts[4]))
	case shape == workqsession.Inspected && records == 1:
		var keys map[string]json.RawMessage
		_ = json.Unmarshal(m.Parts[3], &keys) // the session has written it
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			if !slices.Contains(varyingKeys, name) {
				parts = append(parts, name+": "+l.symbol(string(keys[name])))
			}
		}
	}
	return parts
}

// recordCount returns how many records a reply has, "" if it has no count.
func recordCount(m session.Message) string {
	if len(m.Parts) == 0 {
		return ""
	}
	return string(m.Parts[0])
}

// symbol returns a text with the numbers of jobs in the place of their ids, and without the prefix of the play.
func (l *workqLaw) symbol(text string) string {
	if i := l.numbers[text]; i > 0 {
		return fmt.Sprintf("$id%d", i)
	}
	return strings.ReplaceAll(text, l.NamePrefix+"-", "$")
}

// leasedID returns the id of the job that a reply to lease brings; "" for any other reply.
func leasedID(m session.Message) string {
	if shape, _ := workqsession.ShapeOf(m); m.Kind != workqsession.OK || shape != workqsession.Leased {
		return ""
	}
	return string(m.Parts[1])
}
