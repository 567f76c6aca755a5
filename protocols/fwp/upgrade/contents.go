package upgrade

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/base/values"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
)

// The times of a fill.
const (
	soonDelay       = 8 * time.Second
	laterDelay      = 40 * time.Second
	farDelay        = 10 * 365 * 24 * time.Hour
	reservationTime = time.Minute // the shortest reserve_for
	plainJobs       = 20          // of a state whose contents are not seen again
	lastTries       = 5           // jobs whose next failure is the last one: less than that, so that dead jobs are missed
	largeJob        = 1 << 20     // bytes
)

// content is what a job has beside its names.
type content struct {
	class         string // for people
	field         string
	value         string
	jid           string // behind its jid
	queue         string // behind the name of its queue
	alteredFields json.RawMessage
}

// queueNames are parts of names of queues: nothing that ends a word of a FETCH.
var queueNames = []string{
	"A", "a", ".b", "_c", "-D-", "0", ":1", "%20", "*", "a/b", "{x}", "größe-數", "'q'", "#", strings.Repeat("n", 200),
}

// manyTypes is in each fill, however few contents are asked for.
const manyTypes = `[9007199254740993,0.1,1e3,-0,null,true," both ","größe 漢字","<&>",{"a":[null,{"b":""}]}]`

// contents returns what jobs are made of: a job for each class of each field, and of names.
func contents(draw *rand.Rand, every int) (all []content) {
	for range plainJobs {
		all = append(all, content{})
	}
	for _, name := range queueNames {
		all = append(all, content{class: "queue " + name[:min(len(name), 20)], queue: name})
	}
	n := 0
	moves.EachContent(func(field, class string, b values.Bucket) {
		if n++; n%max(every, 1) > 0 {
			return
		}
		c := content{class: field + ", " + class, field: field, value: b.Make(draw)}
		if field == "jid" {
			c = content{class: c.class, jid: c.value[1 : len(c.value)-1]}
		}
		all = append(all, c)
	})
	return append(all, content{class: "args, types mixed", field: "args", value: manyTypes},
		content{class: "args, 1 MiB", queue: "-big", field: "args", value: `["` + strings.Repeat("x", largeJob) + `"]`})
}

// alteredFields returns the fields of a job that came back otherwise than they were sent, as they came; nil if there
// are none.
func alteredFields(c *content, got []byte) json.RawMessage {
	object := number.Object(got)
	sent := map[string]any{"jid": object["jid"], "queue": object["queue"], "jobtype": "t", "args": []any{}}
	fields := map[string]any{}
	if c.field != "" {
		sent[c.field], _ = number.Decode([]byte(c.value))
	}
	for range 9 {
		v := fwplaw.Difference(sent, nil, object)
		if v == nil {
			break
		}
		field, _, _ := strings.Cut(v.Got, ":")
		sent[field], fields[field] = object[field], object[field]
	}
	if len(fields) == 0 {
		return nil
	}
	b, _ := json.Marshal(fields) // it was decoded from JSON
	return b
}

// integer returns a number that is an integer, nil for anything else.
func integer(v any) *int64 {
	number, _ := v.(json.Number)
	if n, err := number.Int64(); err == nil {
		return &n
	}
	return nil
}
