package workqsubject

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/values"
	"github.com/fwpsuite/fwp/workq"
)

// otherBytes is counted as the command of what is not one command.
const otherBytes = "other bytes"

// fields says what the commands of Workq consist of. By which way a job is leased is not followed.
func fields() *law.Fields {
	return &law.Fields{Each: eachField, Known: knownClasses, Populations: map[string]int{law.Connections: 16}}
}

// eachField splits a command into its verb and its fields. Numbers that are 0 are those of flags that are missing.
func eachField(command []byte, each func(name string, value []byte)) {
	c, n, err := workq.ParseCommand(command)
	if err != nil || n != len(command) {
		each(otherBytes, nil)
		return
	}
	each(c.Verb, nil)
	number := func(name string, n uint64) {
		if n > 0 {
			each(c.Verb+" "+name, strconv.AppendUint(nil, n, 10))
		}
	}
	number("ttr", c.TTR)
	number("ttl", c.TTL)
	number(workq.MaxAttempts, c.MaxAttempts)
	number(workq.MaxFails, c.MaxFails)
	if c.Priority != 0 {
		each(c.Verb+" "+workq.Priority, strconv.AppendInt(nil, c.Priority, 10))
	}
	if c.Time != "" {
		each(c.Verb+" time", []byte(values.Quote(c.Time)))
	}
	if c.Block != nil {
		each(c.Verb+" block", []byte(values.Quote(string(c.Block))))
	}
}

// knownClasses returns the classes of what is generated.
var knownClasses = sync.OnceValue(func() map[string][]string { return law.Classes(knownFields()) })

// knownFields returns the fields with what is generated of them.
func knownFields() map[string][]values.Bucket {
	b := fieldBuckets()
	var block []values.Bucket
	for _, text := range b.text { // a block has no escapes
		block = append(block, values.Bucket{Make: func(r *rand.Rand) string { return values.Quote(text.Make(r)) }})
	}
	for _, n := range b.size[1:] {
		block = append(block, values.Bucket{Make: func(*rand.Rand) string { return values.Quote(strings.Repeat("x", n)) }})
	}
	all := map[string][]values.Bucket{
		workq.Run + " ttr": b.ttr, workq.Run + " " + workq.Priority: some(b.positive), workq.Run + " block": block,
		workq.Complete + " block": block, workq.Fail + " block": block,
	}
	for verb, priority := range map[string][]values.Bucket{workq.Add: some(b.priority), workq.Schedule: some(b.positive)} {
		for name, buckets := range map[string][]values.Bucket{
			"ttr": b.ttr, "ttl": b.ttl, "block": block, workq.Priority: priority, workq.MaxAttempts: b.attempts,
			workq.MaxFails: b.fails,
		} {
			all[verb+" "+name] = buckets
		}
	}
	return all
}

// some returns buckets of numbers without 0, which is as if the flag were missing.
func some(buckets []values.Bucket) []values.Bucket {
	return slices.DeleteFunc(slices.Clone(buckets), func(b values.Bucket) bool { return b.Name == "0" })
}
