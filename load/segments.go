package load

import (
	"encoding/json"
	"fmt"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
)

// CheckSegments returns an error unless the reports are those of all segments of one load, each once. names are what
// messages call them.
func CheckSegments(names []string, parts []*results.Load) error {
	of := 0
	have := map[string]string{}
	for i, l := range parts {
		segment, err := workload.ParseSegment(l.Plan.Segment)
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		if other := have[l.Plan.Segment]; other != "" {
			return fmt.Errorf("%s and %s are both segment %s", other, names[i], l.Plan.Segment)
		}
		have[l.Plan.Segment] = names[i]
		switch {
		case i == 0:
			of = segment.Of
		case segment.Of != of:
			return fmt.Errorf("%s is segment %s, and %s is segment %s: they are of different loads", names[0],
				parts[0].Plan.Segment, names[i], l.Plan.Segment)
		case parts[0].Seed != l.Seed || whole(parts[0]) != whole(l):
			return fmt.Errorf("%s and %s are not segments of the same load: their seeds or their workloads differ", names[0],
				names[i])
		}
	}
	for i := range of {
		if name := (workload.Segment{Index: i, Of: of}).String(); have[name] == "" {
			return fmt.Errorf("segment %s is missing: the sum of the others is not the load (their --hlog files can be merged)",
				name)
		}
	}
	return nil
}

// whole returns the settings that the segments of a load have in common, as JSON.
func whole(l *results.Load) string {
	settings := map[string]string{}
	if json.Unmarshal(l.Plan.Workload, &settings) != nil {
		return ""
	}
	for _, key := range shared {
		delete(settings, key)
	}
	text, _ := json.Marshal(settings) // strings can be written
	return string(text)
}
