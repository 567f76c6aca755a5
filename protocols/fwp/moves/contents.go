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
	mostBytes   = 70_000
	mostWords   = 1_100
	mostFailure = 1<<14 + 1
	mostMembers = 1_100
	mostNested  = 130
	mostJobs    = 130 // of a burst
	mostQueues  = 66  // of a FETCH
)

// jobField is a field of a job with all its values: those that every server takes, and those that one may refuse.
type jobField struct {
	name, plain string
	often       int      // the field is there once in so many jobs; 0: always
	usual       []string // which half of the jobs have that have the field; nil: none
	must, may   []values.Bucket
}

// jobFields returns the fields whose values are free. Those of read-only fields are wrong ones of a client.
var jobFields = sync.OnceValue(func() []jobField {
	all := []jobField{
		{name: "jobtype", plain: `"t"`, must: slices.Concat(values.Texts(), values.Lengths(mostWords))},
		{name: "args", plain: "[]", must: values.Arrays(mostBytes/16, mostNested)},
		{name: "retry", often: 2, usual: []string{"0", "-1", "1", "2", "25"}, must: orNull(values.Integers(-1, 1<<62))},
		{name: "backtrace", often: 3, usual: []string{"1", "2", "5"}, must: orNull(values.Integers(0, 1<<62))},
		{name: "reserve_for", often: 3, usual: []string{"60"}, must: orNull(values.Integers(-5, 1<<40))},
		{name: "created_at", often: 4, must: orNull(slices.Concat(values.Instants(), values.Near()))},
		{name: "custom", often: 2, must: orNull(append(values.Objects(mostMembers, mostNested), constant(namesakes)))},
		{name: "enqueued_at", often: 10, must: []values.Bucket{constant(`"2001-01-01T00:00:00Z"`)}},
		{name: "failure", often: 10, must: []values.Bucket{constant(`{"message":"of the producer"}`)}},
	}
	for i := range all {
		f := &all[i]
		f.must, f.may = split(f.name, f.must)
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
		for _, b := range slices.Concat(f.must, f.may) {
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
		for _, b := range f.may {
			all = append(all, riskyValue{f.name, b})
		}
	}
	_, far := instants(false)
	for _, b := range far {
		all = append(all, riskyValue{"at", b})
	}
	return all
})

// namesakes has members with the names of the fields of a job.
const namesakes = `{"jid":"a","queue":"b","jobtype":"c","args":[0],"retry":-1,"reserve_for":1,"backtrace":9,` +
	`"at":"2001-02-03T04:05:06Z","custom":{"custom":1},"failure":{"message":"d"},"wid":"e","state":"quiet"}`

// orNull returns values of an optional field with the one that means none.
func orNull(all []values.Bucket) []values.Bucket { return append(all, constant("null")) }

func constant(value string) values.Bucket {
	return values.Bucket{Name: value, Make: func(*rand.Rand) string { return value }}
}

// split divides values of a field of a job into those that every server takes, and those that one may refuse.
func split(name string, all []values.Bucket) (must, may []values.Bucket) {
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
		if l.Form == model.Okay && !l.Refusable() {
			must = append(must, b)
		} else {
			may = append(may, b)
		}
	}
	return must, may
}

// pastInstants are times at which a job is due at once, and futureInstants such that no run lives to see.
var (
	pastInstants = sync.OnceValue(func() []values.Bucket {
		must, _ := instants(false)
		return append(orNull(must), constant(`""`))
	})
	futureInstants = sync.OnceValue(func() []values.Bucket {
		must, may := instants(true)
		return append(must, may...)
	})
)

// instants are those behind this day, or those before it, and of these the ones that a server may refuse as too far
// away.
func instants(future bool) (must, may []values.Bucket) {
	must, may = split("at", values.Instants())
	others := func(b values.Bucket) bool {
		text := strings.Trim(b.Make(nil), `"`)
		at, err := number.ParseTime(text)
		return err != nil || strings.ContainsAny(text, "tz") || at.After(time.Now()) != future
	}
	return slices.DeleteFunc(must, others), slices.DeleteFunc(may, others)
}

// wordsOfFailures are texts for errtype and message.
var wordsOfFailures = sync.OnceValue(func() []values.Bucket {
	return slices.Concat(values.Texts(), values.Lengths(mostFailure))
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
