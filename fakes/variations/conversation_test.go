package variations_test

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/transcript"
)

// Conversations have "a producer", "a worker" and "a worker b", which greet, "quiet a" and "terminate a", "restart" and
// "kill" of their own. Words in capitals stand for others.
//
//go:embed testdata/conversations.txt
var conversationsText string

// repetition is a part that is repeated, with another # each time.
var repetition = regexp.MustCompile(`(?s)\nrepeat (\d+)(\n.*?)\nend`)

// conversations are those of testdata/conversations.txt.
func conversations(t *testing.T) map[string][]transcript.Event {
	t.Helper()
	text := repetition.ReplaceAllStringFunc(conversationsText, func(part string) (result string) {
		var times int
		m := repetition.FindStringSubmatch(part)
		_, _ = fmt.Sscan(m[1], &times)
		for i := range times {
			result += strings.ReplaceAll(m[2], "#", fmt.Sprint(i))
		}
		return result
	})
	all, err := transcript.ParseAll(text)
	require.NoError(t, err)
	for _, events := range all {
		for i := range events {
			events[i].Bytes = []byte(words().Replace(string(events[i].Bytes)))
		}
	}
	return all
}

const password, salt = "foobar", "55104dc76695721d"

// words are those that stand for others.
var words = sync.OnceValue(func() *strings.Replacer {
	hash := fakes.Hash(password+salt, 3)
	return strings.NewReplacer("HASH", hash, "HALF", hash[:32], "LONG", strings.Repeat("Long", 90),
		"UPPER", strings.ToUpper(hash),
		"DEEP", strings.Repeat("[", 40)+strings.Repeat("]", 40),
		"MANY", strings.Repeat(`PUSH {"jid":"many","jobtype":"t","args":[]}`+"\r\n", 1501),
		"KILOS", strings.Repeat("kilo", 1200), "HUGE", strings.Repeat("huge", 20_000))
})

// figures are what differs from run to run in an INFO: its memory, and so its length.
var figures = regexp.MustCompile(`"used_memory_mb":"\d+ MB"|\$\d+\r\n(?:\{"faktory")`)

// play returns what is said to a server that needs a password or not. configure makes it another one; nil: it is as it
// should be.
func play(
	t *testing.T, name string, events []transcript.Event, configure func(*fakes.Config),
) (result []transcript.Event) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		config := fakes.Config{Seed: 1, Listen: place.Listen}
		if strings.HasPrefix(name, "protected") {
			config.Password, config.Salt, config.Iterations = password, salt, 3
		}
		if configure != nil {
			configure(&config)
		}
		s := fakes.NewServer(config)
		k := &transcript.Clients{Log: transcript.NewLog(), Dial: place.MustDial, Wait: synctest.Wait}
		k.Other = func(e transcript.Event) { other(t, s, k, e) }
		k.Hold(events)
		time.Sleep(time.Minute)
		k.Close()
		s.Close()
		synctest.Wait()
		result = k.Events()
		for i := range result {
			if result[i].Kind == transcript.Server {
				result[i].Bytes = figures.ReplaceAll(result[i].Bytes, nil)
			}
		}
	})
	return result
}

// other does what is not said on a connection.
func other(t *testing.T, s *fakes.Server, k *transcript.Clients, e transcript.Event) {
	t.Helper()
	word, rest, _ := strings.Cut(string(e.Bytes), " ")
	switch word {
	case "restart":
		require.NoError(t, s.Restart())
	case "kill":
		require.NoError(t, s.Kill())
	case "quiet", "terminate":
		_ = s.Signal(rest, word) // of a worker that the server may not know
	case "producer":
		k.Send(e.Conn, []byte("HELLO {\"v\":2}\r\n"))
	case "worker":
		wid := e.Conn
		if rest != "" {
			wid = rest
		}
		hello := `HELLO {"hostname":"` + wid + `","wid":"` + wid + `","pid":17,"labels":["go"],"v":2}`
		k.Send(e.Conn, []byte(hello+"\r\n"))
	default:
		require.Fail(t, "unknown words", "%s", e.Bytes)
	}
}
