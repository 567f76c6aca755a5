package moves

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/values"
)

// job makes up a legal work unit. Not all have the same fields, so that what a server mixes up between jobs shows. Most
// have only values that every server takes, since a job that is refused shows nothing of its other fields; the others
// have one value that a server may refuse.
func (g *maker) job() string {
	way := ""
	if g.ways != nil {
		way = deal(g, "way", g.ways)
	}
	return g.jobOf(way, g.queue())
}

// jobOf makes up a legal work unit that goes a way. One for which a FETCH waits is not unusual.
func (g *maker) jobOf(way, queue string) string {
	isAwaited := hasWord(way, wayAwaited)
	isUnusual := !isAwaited && g.IntN(20) == 0 // it may go wrong only when the job is enqueued
	if isUnusual {
		queue = g.oddQueue(way)
	}
	jid := g.jobID(way)
	var risky riskyValue
	switch {
	case isUnusual, len(g.Fill(jid)) > plainLength:
		risky.field = "name"
	case !isAwaited && g.IntN(5) < 2:
		risky = deal(g, "risky", riskyValues())
	}
	if g.plans != nil {
		g.plans[jid] = plan{way: way}
	}
	fields := []string{`"jid":"` + g.spellName(jid) + `"`, `"queue":"` + g.spellName(queue) + `"`}
	for _, f := range jobFields() {
		if value := g.fieldOf(f, way, risky, isUnusual); value != "" {
			fields = append(fields, fmt.Sprintf("%q:%s", f.name, value))
		}
	}
	if at := g.fieldAt(way, isUnusual, risky); at != "" {
		fields = append(fields, `"at":`+at)
	}
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "{" + strings.Join(fields, ",") + "}"
}

// fieldOf returns the value of a field of a job, empty for none.
func (g *maker) fieldOf(f jobField, way string, risky riskyValue, isUnusual bool) string {
	switch {
	case f.name == risky.field:
		return g.makeValue(risky.Bucket)
	case f.period == 0 && risky.field != "": // required, and plain here
		return f.plain
	case f.name == "reserve_for" && (hasWord(way, wayExpire) || hasWord(way, wayAck) && (isUnusual || g.IntN(2) == 0)):
		return "60"
	case risky.field == "":
		return g.usualValue(f, way)
	}
	return ""
}

// fieldAt returns the field at of some jobs, empty for none: soon, where they are unusual or their way has it.
func (g *maker) fieldAt(way string, isUnusual bool, risky riskyValue) string {
	switch {
	case risky.field == "at":
		return g.makeValue(risky.Bucket)
	case hasWord(way, wayAt):
		return g.momentTime()
	case g.isSteady && risky.field == "" && g.IntN(8) == 0:
		return g.value("past", pastInstants())
	case g.isSteady:
	case isUnusual && g.IntN(2) == 0:
		return g.secondsTime()
	case g.Uses("at") && g.IntN(8) == 0:
		return g.enqueueTime()
	}
	return ""
}

// usualValue returns a value of a field that every server takes, "" if the job has none. Each way has all values.
func (g *maker) usualValue(f jobField, way string) string {
	switch {
	case len(f.safeValues) == 0 || !g.Uses(f.name) || g.IntN(max(f.period-b2i(g.isSteady), 1)) > 0:
		return ""
	case f.usualValues != nil && g.IntN(4-2*b2i(!g.isSteady || g.times.isBrief())) == 0:
		return choose(g, f.usualValues)
	}
	return g.value(f.name+way, f.safeValues)
}

// value draws from those buckets that were drawn least until now under that name, and writes it as steps have it.
func (g *maker) value(name string, all []values.Bucket) string {
	return g.makeValue(deal(g, name, all))
}

// makeValue returns a value of a bucket as steps have it.
func (g *maker) makeValue(b values.Bucket) string {
	return strings.ReplaceAll(b.Make(g.Rand), "$", "$$")
}

// secondsTime is a time in 2 to 15 seconds. A name of a time has one value in all of a play, so
// that none must come twice for long.
func (g *maker) secondsTime() string { return fmt.Sprintf(`"$now+%dms"`, 1500+g.jobs%manyTimes) }

// manyTimes is how many times have names of their own, a millisecond apart.
const manyTimes = 13_000

// enqueueTime is when a job is to be enqueued: long ago, soon, or at once.
func (g *maker) enqueueTime() string {
	if g.IntN(3) == 0 {
		return g.value("past", pastInstants())
	}
	soon := func(zone string) string { return fmt.Sprintf(`"$now+%dms%s"`, 3000+g.IntN(6000), zone) }
	return choose(g, []string{
		`"$now-2h"`, `"$now-30h@+05:30"`, fmt.Sprintf(`"$now+%dms"`, 1000+g.IntN(6000)), soon("@-05:30"),
		soon("@+02:00"), "null", `""`,
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// failure makes the argument of a FAIL, its texts its own.
func (g *maker) failure(jid string) string {
	class, message := "Error", "failed on purpose"
	if g.isSteady || g.IntN(4) == 0 {
		class, message = g.failureText("errtype"), g.failureText("message")
	}
	return g.failureOf(jid, class, message)
}

// failureOf makes the argument of a FAIL with an errtype and a message, behind which the number of the failure stands.
// Now and then one of its fields is empty or missing, or all are.
func (g *maker) failureOf(jid, class, message string) string {
	g.failures++
	n := 1_000_000 + g.failures // as long as all others, so that no text contains another one
	lines := make([]string, deal(g, "lines", values.Sizes(33)))
	for i := range lines {
		lines[i] = fmt.Sprintf(`"%d.go line %d of it"`, n, i+1)
	}
	if len(lines) > 0 && g.IntN(4) == 0 {
		lines[0] = fmt.Sprintf(`"%d %s"`, n, g.failureText("trace line"))
	}
	text := fmt.Sprintf(`,"message":"%s %d"`, message, n)
	switch g.IntN(20) {
	case 0:
		text = ""
	case 1:
		text = `,"message":""`
	case 2:
		return `{"jid":"` + jid + `"}`
	}
	return fmt.Sprintf(`{"jid":"%s","errtype":"%s%d"%s,"backtrace":[%s]}`, jid, class, n, text, strings.Join(lines, ","))
}

// failureText is a text without the quotes of JSON around it.
func (g *maker) failureText(name string) string {
	quoted := g.value(name, failureTexts())
	return quoted[1 : len(quoted)-1]
}

// greeting is a HELLO that is legal, or one that the text leaves open.
func (g *maker) greeting() string {
	g.workers++
	wid := g.workers
	if g.IntN(3) == 0 {
		wid = 1 + g.IntN(g.workers)
	}
	consumer := fmt.Sprintf(`"hostname":"fwpcheck","wid":"$wid%d","pid":4711,"labels":["fwpcheck"],`, wid)
	changed := strings.Replace(consumer, "4711", "4712", 1)
	hash := g.hash()
	if wid == g.workers && g.IntN(3) == 0 { // a worker that no other connection is of
		return g.workerHello(fmt.Sprintf("$wid%d%s", wid, deal(g, "wid", workerNames)))
	}
	return choose(g, []string{
		`{` + hash + `"v":2}`, `{` + consumer + hash + `"v":2}`, `{` + consumer + hash + `"v":2}`,
		`{` + changed + hash + `"v":2}`,
		`{` + hash + `"v":2,"fwpcheck":true}`, `{` + hash + `"v":3}`, `{` + hash + `"w":1}`,
	})
}

// workerHello is the HELLO of a worker with values from all buckets. Many have no labels.
func (g *maker) workerHello(wid string) string {
	labelList := "[]"
	if g.IntN(4) > 0 {
		labelList = g.value("labels", labels())
	}
	return fmt.Sprintf(`{"hostname":%s,"wid":"%s","pid":%s,"labels":%s,%s"v":2}`, g.value("hostname", hostNames()),
		g.spellName(wid), g.value("pid", processes()), labelList, g.hash())
}

// hash is the field of a HELLO with the right password hash, nothing if none is needed.
func (g *maker) hash() string {
	if g.Terms.Password == "" {
		return ""
	}
	return `"pwdhash":"$pwdhash",`
}
