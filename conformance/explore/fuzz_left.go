package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// fuzzedJob is a job that fuzzed bytes may have pushed.
type fuzzedJob struct{ jid, queue string }

// fetchable are queues that a FETCH can name.
var fetchable = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// jobsIn lists the jobs that some server might find in bytes.
func jobsIn(all []byte) []fuzzedJob {
	var jobs []fuzzedJob
	for len(all) > 0 {
		line, rest, _ := bytes.Cut(all, []byte("\n"))
		if at := afterVerb(line, fwp.PUSH); at > 0 && bytes.IndexByte(line[at:], '{') >= 0 {
			fields, _ := topFields(all[at+bytes.IndexByte(line[at:], '{'):])
			jobs = append(jobs, jobOf(fields))
		}
		all = rest
	}
	return jobs
}

func jobOf(fields []member) (j fuzzedJob) {
	for _, f := range fields {
		switch f.name {
		case "jid":
			j.jid = f.value
		case "queue":
			j.queue = f.value
		}
	}
	return j
}

// cleanse removes what fuzzed bytes have left: no judged conversation knows of it. The
// time for it is short.
func (p *play) cleanse() {
	p.fuzzed = slices.DeleteFunc(p.fuzzed, func(j fuzzedJob) bool { return !strings.HasPrefix(j.queue, p.prefix) })
	if p.dead || len(p.fuzzed) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), hasty)
	defer cancel()
	c, err := p.greeted(ctx)
	if err != nil {
		return
	}
	defer c.leave(scenarios.Closed)
	queues := map[string]bool{}
	for _, j := range p.fuzzed {
		queues[j.queue] = true
		if _, err := c.ask(ctx, acknowledge(j.jid), hasty); err != nil {
			return
		}
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(queues)), 200) {
		p.emptied(ctx, c, part)
	}
	p.fuzzed = nil
}

func acknowledge(jid string) string {
	text, _ := json.Marshal(jid) // strings can always be written
	return `ACK {"jid":` + string(text) + `}`
}

// emptied fetches from queues until a job comes that was pushed to another one for that:
// a FETCH for queues that are empty would wait for two seconds.
func (p *play) emptied(ctx context.Context, c *conn, queues []string) {
	last := fmt.Sprintf("%s-last%d", p.prefix, len(queues))
	push := fmt.Sprintf(`PUSH {"jid":"%s-0123456789","jobtype":"t","args":[],"queue":"%s","retry":0}`, last, last)
	if _, err := c.ask(ctx, push, hasty); err != nil {
		return
	}
	for range 4*len(queues) + 10 { // a server may give the same one again and again
		reply, err := c.ask(ctx, "FETCH "+strings.Join(queues, " ")+" "+last, hasty)
		if err != nil || reply.Kind != fwp.BulkString {
			return
		}
		fields, _ := topFields(reply.Text)
		at := slices.IndexFunc(fields, func(f member) bool { return f.name == "jid" })
		if at < 0 {
			return
		}
		jid := fields[at].value
		if _, err := c.ask(ctx, acknowledge(jid), hasty); err != nil || strings.HasPrefix(jid, last) {
			return
		}
	}
}
