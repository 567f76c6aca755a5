package fwpsubject

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/values"
)

// otherBytes is counted as the command of bytes that are not one line with a verb.
const otherBytes = "other bytes"

// fields says what the commands of FWP consist of.
func fields() *law.Fields {
	return &law.Fields{
		Each: eachField, Split: lines, Known: knownClasses, Job: "PUSH jid",
		Populations: map[string]int{law.Connections: 64, "workers": 64, "jobs in hand": mostJobs, "FETCHes that wait": 64},
		Ways:        []string{law.AtOnce, law.ToWaiting, law.Scheduled, law.Failed, law.Expired, law.Restarted},
	}
}

// eachField splits a line into its verb and the fields that an alphabet generates.
func eachField(command []byte, each func(name string, value []byte)) {
	line, ended := bytes.CutSuffix(command, []byte("\r\n"))
	c := fwp.SplitCommand(line)
	_, known := model.About(c.Verb)
	if !ended || !known || bytes.IndexByte(line, '\n') >= 0 {
		each(otherBytes, nil)
		return
	}
	each(c.Verb, nil)
	if c.Verb == fwp.FETCH {
		quoted, _ := json.Marshal(oracle.Words(string(c.Args))) // texts always can be
		each("FETCH queues", quoted)
		return
	}
	of := fieldNames()[c.Verb]
	values.Members(c.Args, func(name string, value []byte) {
		if field, known := of[name]; known {
			each(field, value)
		}
	})
}

// lines returns the lines of bytes that end with one.
func lines(all []byte) [][]byte {
	if !bytes.HasSuffix(all, []byte("\r\n")) {
		return [][]byte{all}
	}
	split := bytes.SplitAfter(all, []byte("\r\n"))
	return split[:len(split)-1]
}

// fieldNames returns the dimension of each known field, by verb.
var fieldNames = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for field := range knownFields() {
		verb, name, _ := bytes.Cut([]byte(field), []byte(" "))
		if all[string(verb)] == nil {
			all[string(verb)] = map[string]string{}
		}
		all[string(verb)][string(name)] = field
	}
	return all
})

// knownClasses returns the classes of what is generated.
var knownClasses = sync.OnceValue(func() map[string][]string { return law.Classes(knownFields()) })

// knownFields returns the fields with what is generated of them; of names, and of what has few values, what there can
// be.
var knownFields = sync.OnceValue(func() map[string][]values.Bucket {
	words := wordsOfFailures()
	names := ofLength(256)
	of := func(texts ...string) (all []values.Bucket) {
		for _, t := range texts {
			all = append(all, constant(t))
		}
		return all
	}
	all := map[string][]values.Bucket{
		"PUSH jid": names, "PUSH queue": names, "PUSH at": slices.Concat(pastInstants(), futureInstants()),
		"FETCH queues": counted(1, mostQueues),
		"ACK jid":      names, "FAIL jid": names, "FAIL errtype": words, "FAIL message": words,
		"FAIL backtrace": counted(0, 33), "BEAT wid": names, "BEAT rss_kb": memories(),
		"BEAT current_state": of(`""`, `"quiet"`, `"terminate"`), "HELLO v": of("2", "1", "3"),
		"HELLO wid": names, "HELLO hostname": hostNames(), "HELLO pid": processes(), "HELLO labels": labels(),
	}
	for _, f := range jobFields() {
		all["PUSH "+f.name] = slices.Concat(f.must, f.may)
	}
	return all
})

// ofLength returns texts of each length that a name can have: all begin with the prefix of the run.
func ofLength(most int) (all []values.Bucket) {
	const prefix = 32
	for _, n := range values.Sizes(most) {
		if n >= prefix {
			all = append(all, constant(`"`+strings.Repeat("n", n)+`"`))
		}
	}
	return all
}

// counted returns arrays of each number of elements. These are alike, and of no length that is a border.
func counted(least, most int) (all []values.Bucket) {
	for _, n := range values.Sizes(most)[least:] {
		all = append(all, constant("["+strings.TrimSuffix(strings.Repeat(`"an element of an array",`, n), ",")+"]"))
	}
	return all
}

// Populations implements [law.Populated].
func (l *fwpLaw) Populations(conn int, each func(of string, n int)) {
	each("workers", l.world.Workers())
	if c := l.world.Conns[conn]; c != nil && c.WID != "" {
		each("jobs in hand", len(l.world.Held(c.WID)))
	}
	waiting := 0
	for _, c := range l.conns {
		waiting += b2i(c.awaits && c.verb == fwp.FETCH)
	}
	each("FETCHes that wait", waiting)
}

var _ law.Populated = (*fwpLaw)(nil)
