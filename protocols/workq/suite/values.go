package suite

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/base/values"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// The values of commands are drawn from buckets: those that were drawn least come first.

// deal draws a value from buckets.
func (m *maker) deal(name string, all []values.Bucket) string {
	return all[m.Deal(name, len(all))].Make(m.Rand)
}

// buckets are those of the fields. Of ttr and ttl they are those that a play does not see end.
type buckets struct {
	priority, positive, attempts, fails, ttr, ttl, text []values.Bucket
	size                                                []int
}

var fieldBuckets = sync.OnceValue(func() buckets {
	fixed := func(value string) values.Bucket {
		return values.Bucket{Name: value, Make: func(*rand.Rand) string { return value }}
	}
	return buckets{
		priority: values.Integers(workq.MinPriority, workq.MaxPriority), positive: values.Integers(0, workq.MaxPriority),
		attempts: values.Integers(1, 255), fails: values.Integers(1, 1<<31), ttr: values.Integers(600_000, workq.MaxTTR),
		ttl:  append(values.Integers(3_600_000, 1<<63-1), fixed("9223372036854775808"), fixed("18446744073709551615")),
		text: values.Plain(values.Texts()), size: values.Sizes(70_000),
	}
})

// flags returns some of the flags of a command in any order, each with a blank in front of it.
func (m *maker) flags(verb string) string {
	var flags []string
	choice := m.Deal("flags of "+verb, 8) // all that stand together
	flag := func(name string, value string) { flags = append(flags, " -"+name+"="+value) }
	if m.Uses(workq.Priority) && choice&1 != 0 {
		value := strconv.Itoa(m.IntN(4))
		switch {
		case m.IntN(2) > 0:
		case verb == workq.Add:
			value = m.deal(workq.Priority, fieldBuckets().priority)
		default: // of schedule and run the document says that 0 is the lowest
			value = m.deal("positive", fieldBuckets().positive)
		}
		flag(workq.Priority, value)
	}
	if verb != workq.Run && choice&2 != 0 {
		value := strconv.Itoa(1 + m.IntN(3))
		if m.IntN(4) == 0 {
			value = m.deal(workq.MaxFails, fieldBuckets().fails)
		}
		flag(workq.MaxFails, value)
	}
	if verb != workq.Run && choice&4 != 0 {
		value := strconv.Itoa(1 + m.IntN(3))
		if m.IntN(3) == 0 {
			value = m.deal(workq.MaxAttempts, fieldBuckets().attempts)
		}
		flag(workq.MaxAttempts, value)
	}
	m.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
	return strings.Join(flags, "")
}

// ttr is a time to run in milliseconds.
func (m *maker) ttr() string {
	switch n := m.IntN(8); {
	case m.hasShortTimes && n < 6, n == 0 && !m.Compared:
		return strconv.Itoa(150 + m.IntN(500))
	case n < 4:
		return m.deal("ttr", fieldBuckets().ttr)
	}
	return strconv.Itoa(600_000 + m.IntN(3))
}

// ttl is a time to live in milliseconds.
func (m *maker) ttl() string {
	switch n := m.IntN(8); {
	case m.hasShortTimes && n < 2, n == 0 && !m.Compared:
		return strconv.Itoa(400 + m.IntN(800))
	case n < 4:
		return m.deal("ttl", fieldBuckets().ttl)
	}
	return "3600000"
}

// dueTime is the time of a scheduled job.
func (m *maker) dueTime() string {
	if m.hasShortTimes && m.IntN(4) > 0 || !m.Compared && m.IntN(4) == 0 {
		return fmt.Sprintf("$now+%dms", 1000+len(m.jobs)) // a name of a time has one value
	}
	return []string{
		"2040-01-02T15:04:05Z", "2038-01-19T03:14:07Z", "2038-01-19T03:14:08Z", "2048-02-29T23:59:59Z",
		"2100-02-28T00:00:00Z", "2106-02-07T06:28:15Z", "2106-02-07T06:28:16Z", "2200-02-28T12:00:00Z",
	}[m.Deal("time", 8)]
}

// waitSuffix marks a command that may wait for long.
const waitSuffix = " (waits)"

// wait is a time to wait, in milliseconds, with a blank in front of it.
func (m *maker) wait() string {
	wait := 50 + m.IntN(300)
	if m.hasShortTimes {
		wait = 200 + m.IntN(2600)
	}
	return fmt.Sprintf(" %d%s", wait, waitSuffix)
}

// name is one of the names that jobs have, mostly of the last ones.
func (m *maker) name() string {
	if len(m.names) == 0 {
		return m.newName()
	}
	const recent = 4
	if m.IntN(8) == 0 {
		return pick(m, m.names...)
	}
	return pick(m, m.names[max(0, len(m.names)-recent):]...)
}

// newName is a new one: most are plain, the others have all characters, differ by case, or are long.
func (m *maker) newName() string {
	n := len(m.names)
	name := fmt.Sprintf("$name%d", n+1)
	switch n % 10 {
	case 3:
		name = "." + name
	case 4:
		name += "-A"
	case 5:
		name = fmt.Sprintf("$name%d-a", n) // of the one before, in small letters
	case 6:
		name = "_" + name + "."
	case 7:
		name = "9-" + name + "_Z"
	case 8:
		longs := []int{31, 32, 33, 63, 64, 65, 100, 127, 128}
		name += "-" + strings.Repeat("x", max(0, longs[m.Deal("long name", len(longs))]-len(m.Fill(name))-1))
	}
	m.names = append(m.names, name)
	return name
}

// block is the payload or the result of a command of a verb, with its signs in front of it.
func (m *maker) block(verb string) string {
	switch m.IntN(6) {
	case 0:
		return m.sizedBlock(verb)
	case 1:
		return " * <- " + escape(cmp.Or(m.deal("text", fieldBuckets().text), "x"))
	case 2:
		return " * <- " + escape(pick(m, "a b", "  blanks ", "-TIMEOUT", "+OK 1", "\r\n", "\r\n+OK\r\n", "a\x00", "\x00",
			"\n", "x\ny\r", allBytes()))
	case 3:
		return " * <-"
	}
	return " * <- " + pick(m, "x", "pong", "result")
}

// sizedBlock is a block of one of the sizes, of a command of a verb.
func (m *maker) sizedBlock(verb string) string {
	return fmt.Sprintf(" * <- $filler(%dB)", max(1, m.size(verb)))
}

// size is one around which servers differ; the largest comes once for each verb, since it takes long.
func (m *maker) size(verb string) int {
	if !m.largestVerbs[verb] {
		m.largestVerbs[verb] = true
		return workq.MaxBlock
	}
	return fieldBuckets().size[m.Deal("size", len(fieldBuckets().size))]
}

// escape returns a text as steps have it.
func escape(text string) string { return strings.ReplaceAll(text, "$", "$$") }

func allBytes() string {
	var b strings.Builder
	for i := range 256 {
		b.WriteByte(byte(i))
	}
	return b.String()
}
