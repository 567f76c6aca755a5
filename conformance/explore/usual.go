package explore

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// usual are short conversations in which a finding of a family often shows, the
// plainest first. They are tried before those that come from the exploration, so that
// what is wrong with every job is not told of a strange one.
func usual(family string) []Trace {
	switch family {
	case "missing":
		return usualMissing()
	case "swapped":
		return usualSwapped()
	case "delivered":
		return usualDelivered()
	case "field":
		return usualField()
	case amongMany:
		return usualAmongMany()
	case "foreign": // a BEAT may have been one that nobody wrote down
		return []Trace{plainly(usualWorker(2), line(2, `BEAT {"wid":"$wid1"}`))}
	case "silent", "refused":
		producer := Step{Kind: Open, Conn: 2, Role: scenarios.Producer}
		return []Trace{plainly(usualWorker(2), line(2, "INFO")), plainly(producer, line(2, "INFO")), repeated([]Step{usualWorker(2), line(2, "INFO")}, 200)}
	}
	return nil
}

// The lines of an uneventful day.
const (
	usualPush  = `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1"}`
	usualFetch = "FETCH $queue1"
	usualAck   = `ACK {"jid":"$jid1"}`
	usualFail  = `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":[]}`
)

// amongMany is the family of what servers die of while many clients are at work.
const amongMany = "among many"

// usualAmongMany have several clients do something at the same time, again and again.
func usualAmongMany() []Trace {
	const newQueue = `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1#"}`
	producer := func(conn int) Step { return Step{Kind: Open, Conn: conn, Role: scenarios.Producer} }
	await := func(conn int) Step { return Step{Kind: Await, Conn: conn} }
	asking := []Step{producer(2), producer(3), ahead(2, "INFO"), ahead(3, newQueue), await(2), await(3)}
	return []Trace{repeated(asking, 2000), repeated(asking, 6000)}
}

func usualWorker(conn int) Step {
	return Step{Kind: Open, Conn: conn, Role: scenarios.Consumer, Worker: 1}
}

func plainly(steps ...Step) Trace { return Trace{Steps: steps} }

// ahead makes a step whose answer is not awaited before the next one.
func ahead(conn int, text string) Step {
	return Step{Kind: Send, Conn: conn, Segments: []string{text}, Ahead: true}
}

func usualMissing() []Trace {
	day := []Step{usualWorker(2), line(2, usualPush), line(2, usualFetch), line(2, usualAck)}
	return []Trace{
		plainly(day[:3]...),
		plainly(usualWorker(2), usualWorker(3), ahead(2, usualFetch), line(3, "INFO"), Step{Kind: Await, Conn: 2}),
		plainly(usualWorker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5}`),
			line(2, usualFetch), line(2, usualFail), Step{Kind: Wait, For: 170 * time.Second}, line(2, usualFetch)),
		repeated(day, 60), repeated(day, 600),
	}
}

func usualSwapped() []Trace {
	pair := []Step{
		usualWorker(2), usualWorker(3), line(2, usualPush), line(3, `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue2"}`),
		ahead(2, usualFetch), ahead(3, "FETCH $queue2"), {Kind: Await, Conn: 2}, {Kind: Await, Conn: 3},
		line(2, `PUSH {"jid":"$jid3","jobtype":"t","args":[],"queue":"$queue1"}`), line(2, usualFetch), // an odd number of jobs, for faults that count
	}
	return []Trace{plainly(pair...), repeated(pair, 60), repeated(pair, 600)}
}

func usualDelivered() []Trace {
	failing := func(retry, times int) Trace {
		push := line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":%d}`, retry)
		steps := []Step{usualWorker(2), push, line(2, usualFetch)}
		for range times {
			steps = append(steps, line(2, usualFail), Step{Kind: Wait, For: time.Minute}, line(2, usualFetch))
		}
		return plainly(steps...)
	}
	once := []Step{usualWorker(2), line(2, usualPush), line(2, usualFetch)}
	twice := append(slices.Clone(once), line(2, usualFetch))
	atOnce := plainly(append(slices.Clone(once), line(2, usualFail), line(2, usualFetch))...)
	return []Trace{atOnce, failing(0, 1), failing(-1, 1), failing(1, 2), plainly(twice...), repeated(once, 60), repeated(once, 600)}
}

func usualField() []Trace {
	const fail = `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":["the first line","the second line"]}`
	const other = `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue1","retry":7}`
	return []Trace{
		plainly(usualWorker(2), line(2, usualPush), line(2, usualFetch)),
		plainly(usualWorker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5,"backtrace":1}`),
			line(2, usualFetch), line(2, fail), Step{Kind: Wait, For: time.Minute}, line(2, usualFetch)),
		repeated([]Step{usualWorker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":3}`),
			line(2, other), line(2, usualFetch), line(2, usualFetch)}, 60),
	}
}

// repeated opens connections and then repeats what is sent on them. Nothing is closed: in
// the next round somebody will want it again.
func repeated(steps []Step, n int) Trace {
	var opened []int
	var begin, round []Step
	for _, step := range steps {
		switch step.Kind {
		case Open:
			if !slices.Contains(opened, step.Conn) {
				opened, begin = append(opened, step.Conn), append(begin, step)
			}
		case Send, Await, Wait:
			round = append(round, step)
		}
	}
	return Trace{Steps: slices.Concat(begin, round), From: len(begin), To: len(begin) + len(round), N: n}
}
