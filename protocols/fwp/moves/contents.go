package moves

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/base/values"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// The largest that is tried of what a job contains. Beyond 32 KiB a server may refuse a job as too large (AMB-14).
const (
	maxBytes   = 70_000
	maxWords   = 1_100
	maxFailure = 1<<14 + 1
	maxMembers = 1_100
	maxNesting = 130
	maxJobs    = 130 // of a burst
	maxQueues  = 66  // of a FETCH
)

// jobField is a field of a job with all its values: those that every server takes, and those that one may refuse.
type jobField struct {
	name, plain             string
	period                  int      // the field is there once in so many jobs; 0: always
	usualValues             []string // which half of the jobs have that have the field; nil: none
	safeValues, riskyValues []values.Bucket
}

// jobFields returns the fields whose values are free. Those of read-only fields are wrong ones of a client.
var jobFields = sync.OnceValue(func() []jobField {
	all := []jobField{
		{name: "jobtype", plain: `"t"`, safeValues: slices.Concat(values.Texts(), values.Lengths(maxWords))},
		{name: "args", plain: "[]", safeValues: values.Arrays(maxBytes/16, maxNesting)},
		{name: "retry", period: 2, usualValues: []string{"0", "-1", "1", "2", "25"},
			safeValues: addNull(values.Integers(-1, 1<<62))},
		{name: "backtrace", period: 3, usualValues: []string{"1", "2", "5"}, safeValues: addNull(values.Integers(0, 1<<62))},
		{name: "reserve_for", period: 3, usualValues: []string{"60"}, safeValues: addNull(values.Integers(-5, 1<<40))},
		{name: "created_at", period: 4, safeValues: addNull(slices.Concat(values.Instants(), values.CurrentTimes()))},
		{name: "custom", period: 2, safeValues: addNull(append(values.Objects(maxMembers, maxNesting), constant(namesakes)))},
		{name: "enqueued_at", period: 10, safeValues: []values.Bucket{constant(`"2001-01-01T00:00:00Z"`)}},
		{name: "failure", period: 10, safeValues: []values.Bucket{constant(`{"message":"of the producer"}`)}},
	}
	for i := range all {
		f := &all[i]
		f.safeValues, f.riskyValues = split(f.name, f.safeValues)
	}
	return all
})

// EachContent calls each with every class of values of the fields of a job whose values are free, those included that a
// server may refuse, and with texts for a part of its jid.
func EachContent(each func(field, class string, b values.Bucket)) {
	for _, b := range values.Texts() {
		each("jid", b.Name, b)
	}
	for _, f := range jobFields() {
		for _, b := range slices.Concat(f.safeValues, f.riskyValues) {
			each(f.name, b.Name, b)
		}
	}
}

// riskyValue is a value of a field of a job that a server may refuse. The zero value is none.
type riskyValue struct {
	field string
	values.Bucket
}

// riskyValues are all of them.
var riskyValues = sync.OnceValue(func() (all []riskyValue) {
	for _, f := range jobFields() {
		for _, b := range f.riskyValues {
			all = append(all, riskyValue{f.name, b})
		}
	}
	_, risks := instants(false)
	for _, b := range risks {
		all = append(all, riskyValue{"at", b})
	}
	return all
})

// namesakes has members with the names of the fields of a job.
const namesakes = `{"jid":"a","queue":"b","jobtype":"c","args":[0],"retry":-1,"reserve_for":1,"backtrace":9,` +
	`"at":"2001-02-03T04:05:06Z","custom":{"custom":1},"failure":{"message":"d"},"wid":"e","state":"quiet"}`

// addNull returns values of an optional field with the one that means none.
func addNull(all []values.Bucket) []values.Bucket { return append(all, constant("null")) }

func constant(value string) values.Bucket {
	return values.Bucket{Name: value, Make: func(*rand.Rand) string { return value }}
}

// split divides values of a field of a job into those that every server takes, and those that one may refuse.
func split(name string, all []values.Bucket) (safeValues, risks []values.Bucket) {
	r := rand.New(rand.NewPCG(0, 0))
	for _, b := range all {
		fields := map[string]string{
			"jid": `"0123456789abcdef"`, "jobtype": `"t"`, "args": "[]", "queue": `"q"`, name: b.Make(r),
		}
		var parts []string
		for field, value := range fields {
			parts = append(parts, `"`+field+`":`+value)
		}
		l := fwplaw.ReadLine([]byte("PUSH {" + strings.Join(parts, ",") + "}"))
		if l.Form == model.Okay && !l.IsRefusable() {
			safeValues = append(safeValues, b)
		} else {
			risks = append(risks, b)
		}
	}
	return safeValues, risks
}

// pastInstants are times at which a job is due at once, and futureInstants such that no run lives to see.
var (
	pastInstants = sync.OnceValue(func() []values.Bucket {
		safeValues, _ := instants(false)
		return append(addNull(safeValues), constant(`""`))
	})
	futureInstants = sync.OnceValue(func() []values.Bucket {
		safeValues, risks := instants(true)
		return append(safeValues, risks...)
	})
)

// instants are those behind this day, or those before it, and of these the ones that a server may refuse as too far
// away.
func instants(future bool) (safeValues, risks []values.Bucket) {
	safeValues, risks = split("at", values.Instants())
	others := func(b values.Bucket) bool {
		text := strings.Trim(b.Make(nil), `"`)
		at, err := number.ParseTime(text)
		return err != nil || strings.ContainsAny(text, "tz") || at.After(time.Now()) != future
	}
	return slices.DeleteFunc(safeValues, others), slices.DeleteFunc(risks, others)
}

// failureTexts are texts for errtype and message.
var failureTexts = sync.OnceValue(func() []values.Bucket {
	return slices.Concat(values.Texts(), values.Lengths(maxFailure))
})

// What a worker may say of itself: nothing that a server may refuse, as far as the text says.
var (
	hostNames = sync.OnceValue(func() []values.Bucket {
		return append(values.Lengths(64)[1:], constant(`"a.example.com"`), constant(`"h-1_2"`), constant(`"::1"`))
	})
	workerNames = []string{"", ":1", ".a-B", "_c", "-Ab", "-größe-數", `-"w\`, "-a b", "-<w>"}
	processes   = sync.OnceValue(func() []values.Bucket { return values.Integers(1, 1<<31-1) })
	labels      = sync.OnceValue(func() []values.Bucket { return values.Strings(33, values.Texts()) })
	memories    = sync.OnceValue(func() []values.Bucket { return values.Integers(0, 1<<40) })
)
