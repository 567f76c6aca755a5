package clientrules

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// Here right streams are made of the right streams of the tests. Nothing may break, and what was kept stays kept: a
// rule must not find more than what it is about.

// states returns the states of rules by their names.
func states(results []Result) map[string]State {
	all := map[string]State{}
	for _, r := range results {
		all[r.Rule.Breach] = r.State()
	}
	return all
}

func judgeParts(t *testing.T, parts int, test ruleTest) []Result {
	t.Helper()
	events, end := streamIn(t, parts, linesOf(test.stream))
	return judgeAll(test.cfg, events, end)
}

// What comes in parts is judged as if it came at once, and numbers are names.
func TestPartsAndNumbersDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, test := range ruleTests() {
		want := states(judgeParts(t, 1, test))
		for parts := 2; parts <= 3; parts++ {
			assert.Equal(t, want, states(judgeParts(t, parts, test)), "%s/%s in %d parts", test.breach, test.name, parts)
		}
		events, end := streamOf(t, test.stream)
		got := states(judgeAll(test.cfg, renumber(events), end))
		assert.Equal(t, want, got, "%s/%s renumbered", test.breach, test.name)
	}
}

// renumber returns events with other numbers of connections and processes, in another order.
func renumber(events []Event) []Event {
	events = slices.Clone(events)
	for i := range events {
		for _, n := range []*int{&events[i].Conn, &events[i].Process} {
			if *n > 0 {
				*n = 1000 - *n
			}
		}
	}
	return events
}

// rightTests are those whose stream breaks nothing.
func rightTests() []ruleTest {
	return slices.DeleteFunc(ruleTests(), func(test ruleTest) bool { return test.isWrong || test.others != "" })
}

// requireRight requires that a stream which was made of a right one breaks nothing, and keeps what that keeps.
func requireRight(t *testing.T, test ruleTest, change string, events []Event, end time.Duration, except ...string) {
	t.Helper()
	results := judgeAll(test.cfg, events, end)
	got := states(results)
	for breach, want := range states(judgeParts(t, 1, test)) {
		if got[breach] == StateBroken || want == StateHeld && got[breach] == StateInconclusive && !slices.Contains(except, breach) {
			assert.Fail(t, "another state", "%s/%s, %s: %s is %s now\n%s", test.breach, test.name, change, breach, got[breach],
				examples(results))
		}
	}
}

// isClientAct reports whether a client does something in a line of a stream.
func isClientAct(line string) bool {
	_, rest, _ := strings.Cut(line, " ")
	word, _, _ := strings.Cut(rest, " ")
	return slices.Contains([]string{"C:", "open", "worker", "producer"}, word)
}

// A client may rest before it does something, where no time matters.
func TestRests(t *testing.T) {
	t.Parallel()
	for _, test := range rightTests() {
		if strings.Contains(test.stream, "\n\t\t\t+") || strings.Contains(test.stream, "\n+") {
			continue
		}
		lines := linesOf(test.stream)
		for i, line := range lines {
			if isClientAct(line) {
				events, end := streamIn(t, 2, slices.Insert(slices.Clone(lines), i, "+4s"))
				requireRight(t, test, fmt.Sprintf("4 s before line %d, %s", i, line), events, end)
			}
		}
	}
}

// A machine may be late, more and more: then rules about time decide less.
func TestLagMayGrow(t *testing.T) {
	t.Parallel()
	for _, test := range rightTests() {
		if strings.Contains(test.stream, "lag ") {
			continue
		}
		events, end := streamOf(t, test.stream)
		var lagEvents []Event
		for i, e := range events {
			lagEvents = append(lagEvents, Event{At: e.At, Kind: Lag, Lag: time.Duration(i) * 50 * time.Millisecond}, e)
		}
		requireRight(t, test, "lag", lagEvents, end, timedBreaches...)
	}
}

// shift returns events after a while.
func shift(events []Event, by time.Duration) []Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].At += by
	}
	return events
}

var (
	jids = regexp.MustCompile(`jid"\s*:\s*"|jid\\"\s*:\s*\\"`)
	wids = regexp.MustCompile(`\bw\d\b`)
)

// pairs calls f for pairs of right streams that are judged alike, as those of producers always are: one of so many
// without FWP_SLOW=1. The first has other jobs. Lag would be that of both.
func pairs(f func(first, second ruleTest)) {
	all := slices.DeleteFunc(rightTests(), func(test ruleTest) bool { return strings.Contains(test.stream, "lag ") })
	sample := golden.Sample[uint32](32, 1)
	for _, b := range all {
		for _, a := range all {
			isDrawn := crc32.ChecksumIEEE([]byte(a.name+b.name))%sample == 0
			isProducer := a.cfg.supply() == 0 && strings.HasPrefix(strings.TrimSpace(a.stream), "1 producer")
			isAlike := isProducer || fmt.Sprint(a.cfg) == fmt.Sprint(b.cfg)
			if isDrawn && isAlike && a.name != b.name {
				a.stream = jids.ReplaceAllString(a.stream, "${0}other")
				f(a, b)
			}
		}
	}
}

// What a client does says nothing of another one, whose connections and workers are others.
func TestBeside(t *testing.T) {
	t.Parallel()
	pairs(func(other, test ruleTest) {
		events, end := streamOf(t, test.stream)
		extra, extraEnd := streamOf(t, wids.ReplaceAllString(other.stream, "other$0"))
		last := max(end, extraEnd)
		all := slices.Concat(shift(events, last-end), shift(renumber(extra), last-extraEnd))
		slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
		requireRight(t, test, "beside "+other.breach+"/"+other.name, all, last, timedBreaches...)
	})
}

// losesWorker reports whether events lose a worker for ever.
func losesWorker(events []Event) bool {
	w := NewWatch(Config{})
	for _, e := range events {
		w.See(e)
	}
	return len(w.world.lostWIDs.current) > 0
}

// What was known of a worker is over when it has left: another one may have its wid.
func TestAfter(t *testing.T) {
	t.Parallel()
	pairs(func(before, test ruleTest) {
		if events, _ := streamOf(t, before.stream); losesWorker(events) {
			return
		}
		first, pause := streamOf(t, before.stream)
		events, end := streamOf(t, test.stream)
		pause += absenceLimit + 2*time.Second
		first = endAll(renumber(first), pause-absenceLimit-time.Second)
		requireRight(t, test, "after "+before.breach+"/"+before.name, slices.Concat(first, shift(events, pause)), end+pause)
	})
}

// endAll ends what is open at the end of a stream.
func endAll(events []Event, end time.Duration) []Event {
	conns, processes := map[int]Event{}, map[int]bool{}
	for _, e := range events {
		switch e.Kind {
		case ConnOpen:
			conns[e.Conn] = e
		case ConnClose, ByteLoss:
			delete(conns, e.Conn)
		case ProcessStart:
			processes[e.Process] = true
		case ProcessExit:
			delete(processes, e.Process)
		}
	}
	for _, e := range conns {
		events = append(events, Event{At: end, Kind: ConnClose, Closer: Server, Conn: e.Conn, Process: e.Process})
	}
	for p := range processes {
		events = append(events, Event{At: end, Kind: ProcessExit, Process: p})
	}
	return events
}
