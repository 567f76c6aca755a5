package suite

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/values"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// The types of the frames behind an id.

// maxMessageSize is how many bytes a message has at most, and maxNameSize a name or an id.
const maxMessageSize, maxNameSize = 1<<17 + 1, 257

// messages are the buckets of what a peer may say to another one: any text and any bytes, JSON among them.
var messages = sync.OnceValue(func() []values.Bucket {
	all := slices.Concat(values.Plain(values.Texts()), numbers(), structures())
	for _, c := range []byte("\x00\t\n\r ,:'\"\\\x7f\x80\xff") {
		all = append(all, values.Bucket{Name: fmt.Sprintf("%q at both ends", c), Make: func(*rand.Rand) string {
			return string([]byte{c, 'a', c})
		}})
	}
	for _, n := range values.Sizes(maxMessageSize) {
		all = append(all, values.Bucket{Name: fmt.Sprintf("size %d", n), Make: func(r *rand.Rand) string {
			return randomText(r, n, ' ', '~')
		}})
	}
	for _, n := range values.Sizes(maxNameSize) {
		all = append(all, values.Bucket{Name: fmt.Sprintf("bytes %d", n), Make: func(r *rand.Rand) string {
			return randomText(r, n, 0, math.MaxUint8)
		}})
	}
	return all
})

// numbers are those of JSON that a peer may change that parses what it passes on: not the small integers.
func numbers() []values.Bucket {
	return slices.DeleteFunc(values.Numbers(), func(b values.Bucket) bool {
		n, err := strconv.ParseInt(b.Name, 10, 64)
		return err == nil && n > -1<<53 && n < 1<<53
	})
}

// structures are objects and arrays whose form a peer may change that parses what it passes on.
func structures() []values.Bucket {
	return slices.DeleteFunc(append(values.Objects(2, 2), values.Arrays(2, 2)...), func(b values.Bucket) bool {
		return strings.HasPrefix(b.Name, "name ") || strings.HasPrefix(b.Name, "element ")
	})
}

// randomText returns a text of n bytes, each of them between two.
func randomText(r *rand.Rand, n int, from, to byte) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = from + byte(r.IntN(int(to-from)+1))
	}
	return string(text)
}

// names are the buckets of what stands behind the name of a queue or an id: texts that have no quote, no escape and no
// control character in JSON.
var names = sync.OnceValue(func() (all []values.Bucket) {
	for _, b := range values.Plain(values.Texts()) {
		text := b.Make(rand.New(rand.NewPCG(1, 1)))
		quoted, _ := json.Marshal(text) // a string always can be
		if string(quoted) == `"`+text+`"` && isPrintable(text) && !strings.Contains(text, "'") {
			all = append(all, b)
		}
	}
	all = append(all, values.Bucket{Name: "signs", Make: func(r *rand.Rand) string {
		signs := []byte("!#%()*+,-./:;=?@[]^_`{|}~")
		r.Shuffle(len(signs), func(i, j int) { signs[i], signs[j] = signs[j], signs[i] })
		return "a" + string(signs) + "b"
	}})
	for _, n := range values.Sizes(maxNameSize) {
		all = append(all, values.Bucket{Name: fmt.Sprintf("size %d", n), Make: func(r *rand.Rand) string {
			return randomText(r, n, 'A', 'Z')
		}})
	}
	return all
})

// weights are those of queues, retries the numbers of retry-count, and seconds those of timeout: zero, or so many that
// none ends while a check lasts. Any number of 31 bits is one. (eMQP / Worker, Headers)
var (
	weights = sync.OnceValue(func() []values.Bucket { return values.Integers(0, math.MaxInt32) })
	seconds = sync.OnceValue(func() []values.Bucket {
		return slices.DeleteFunc(slices.Clone(weights()), func(b values.Bucket) bool {
			return len(b.Name) == 1 && b.Name != "0"
		})
	})
)

// stamps are the buckets of the timestamp of a HEARTBEAT. (Global Frames)
var stamps = []string{"0", "1", "946684800", "1700000000", "1700000000.25", "2147483647", "2147483648", "4102444800"}

func (m *maker) timestamp() string { return quote(stamps[m.Deal("stamp", len(stamps))]) }

// value returns a value of one of the buckets of a field that were drawn least.
func (m *maker) value(field string, buckets []values.Bucket) string {
	return buckets[m.Deal(field, len(buckets))].Make(m.Rand)
}

// quote writes a text as a frame of a line.
func quote(text string) string { return strings.ReplaceAll(strconv.Quote(text), "$", "$$") }

// frame writes a name of the script language and what stands behind it as a frame of a line.
func frame(name, suffix string) string { return `"` + name + quote("-" + suffix)[1:] }

// text is a message of the buckets of a command: there are many, and now and then it is one of the shortest.
func (m *maker) text(command string) string {
	const period = 8
	if shortest := []string{"", "", "\x00", "\xff"}; m.Deal("length of "+command, period) == 0 {
		return quote(shortest[m.Deal("shortest of "+command, len(shortest))])
	}
	return quote(m.value(command, messages()))
}

// similarName changes a name as little as can be: such names are those of other queues. (EMQP-REQ-02)
func (m *maker) similarName(name string) string {
	_, size := utf8.DecodeLastRuneInString(name)
	last := name[:len(name)-size]
	return []string{
		name + "x", name + " ", name + ".", name + "0", name + "/", name + ":", name + "-", name + ",", last,
		last + string(rune('a'+m.IntN(26))), strings.ToLower(name), strings.ToUpper(name), " " + name, name + name,
		strings.ReplaceAll(name, "_", "."), strings.ReplaceAll(name, ".", "_"),
	}[m.Deal("alike", 16)]
}

// requestHeaders draws a set of the headers of a REQUEST, in any order. (Headers)
func (m *maker) requestHeaders(always ...string) string {
	all := []string{
		emqp.Guarantee, emqp.RetryCount + ":" + m.value("retries", weights()),
		emqp.Timeout + ":" + m.value("seconds", seconds()),
	}
	headers := slices.Clone(always)
	for i, set := 0, m.Deal("headers", 1<<len(all)); i < len(all); i++ {
		if set>>i&1 == 1 {
			headers = append(headers, all[i])
		}
	}
	m.Shuffle(len(headers), func(i, k int) { headers[i], headers[k] = headers[k], headers[i] })
	return quote(strings.Join(headers, ","))
}

// malformed is a message that the document does not allow, made of one that it does: with other frames, or with a frame
// that cannot be. It names a queue, which it must not disturb. Its id and headers are right: a broker may acknowledge
// it, or pass it on as it is. (EMQP-FRAME-07)
func (m *maker) malformed() string {
	commands := []string{
		emqp.REQUEST, emqp.INFORM, emqp.SCHEDULE, emqp.UNSCHEDULE, emqp.PUBLISH, emqp.REPLY, emqp.ACK, emqp.READY,
		emqp.KBAI, emqp.HEARTBEAT, "NONSENSE", "request", "Inform", "READY ", "", "\xff\xfe",
	}
	queue, command := m.queue(), quote(commands[m.Deal("malformed", len(commands))])
	frames := []string{`""`, `"eMQP/1.0"`, command, m.id(), queue, `""`, `"text"`}
	if m.Deal("malformed frame", 2) == 0 {
		return m.wrongField(queue)
	}
	switch kind := m.Deal("malformed how", 10); kind {
	case 0:
		frames[0] = `"x"`
	case 1:
		frames[4], frames[5] = `"[[10,\"`+strings.Trim(queue, `"`)+`\""`, `"worker"`
	case 2:
		frames[2], frames[5] = quote(emqp.INFORM), `"nonsense"`
	default:
		frames = append(frames, `"more"`, `"more"`, `""`)[:kind-2+m.IntN(2)*2]
	}
	return "[" + strings.Join(frames, ", ") + "]"
}

// wrongField is a message one field of which cannot be: near misses of what the tables have. (EMQP-FRAME-07)
func (m *maker) wrongField(queue string) string {
	name := queue
	if quoted, ok := strings.CutPrefix(queue, `"`); ok {
		name = strings.TrimSuffix(quoted, `"`)
	}
	types := []string{"", "Worker", "WORKER", "worker ", "workers", "work", "client", "Scheduler", "scheduler\x00"}
	queues := []string{
		`[[10,"%s"]`, `[[10,"%s"`, `[["10","%s"]]`, `[["%s",10]]`, `[["%s"]]`, `{"%s":10}`, `%s`, `[[10,"%s"],]`,
		`[[10,%s]]`, `[[10.5,"%s"]]`, `[[null,"%s"]]`, `[[10,"%s"]]]`, `[[10,["%s"]]]`, `"%s"`, `[10 "%s"]`,
	}
	stamps := []string{"", "now", "-1", "1e9", "0x60000000", "1700000000s", " 1700000000", "1,7", "NaN", "Inf", "1."}
	n := m.Deal("wrong field", 1+len(types)+len(queues)+len(stamps))
	switch {
	case n < len(types):
		return m.message(emqp.INFORM, `"[[10,\"`+name+`\"]]"`, quote(types[n]))
	case n < len(types)+len(queues):
		text := strconv.Quote(fmt.Sprintf(queues[n-len(types)], "NAME"))
		return m.message(emqp.INFORM, strings.Replace(text, "NAME", name, 1), `"worker"`)
	case n < len(types)+len(queues)+len(stamps):
		return m.message(emqp.HEARTBEAT, quote(stamps[n-len(types)-len(queues)]))
	}
	return m.message(emqp.ACK, `""`)
}
