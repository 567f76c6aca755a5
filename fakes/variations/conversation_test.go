package variations_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
)

// conversation is a list of steps:
//
//	a: raw               a connection of that name; "hello" greets as a producer, "worker" as one, "as b" as worker b
//	a> INFO              sends a line, of which the words in capitals are replaced; a"IN\r sends bytes
//	a! close             closes the connection; "end" ends what is sent
//	wait 2s
//	restart              or kill, or quiet a, or terminate a
//	times 3 ... end      repeats the steps with another # each
type conversation struct {
	name  string
	steps []string
}

//go:embed testdata/conversations.txt
var conversationsText string

// conversations are those of testdata/conversations.txt.
func conversations() (all []conversation) {
	for _, part := range strings.Split(conversationsText, "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		var steps, repeated []string
		times := 0
		for step := range strings.SplitSeq(strings.TrimRight(rest, "\n"), "\n") {
			switch _, err := fmt.Sscanf(step, "times %d", &times); {
			case err == nil:
				repeated = []string{}
			case step == "end":
				for i := range times {
					for _, s := range repeated {
						steps = append(steps, strings.ReplaceAll(s, "#", fmt.Sprint(i)))
					}
				}
				repeated = nil
			case repeated != nil:
				repeated = append(repeated, step)
			default:
				steps = append(steps, step)
			}
		}
		all = append(all, conversation{name, steps})
	}
	return all
}

const password, salt = "foobar", "55104dc76695721d"

// words are those that stand for others in a line.
var words = sync.OnceValue(func() *strings.Replacer {
	hash := fakes.Hash(password+salt, 3)
	return strings.NewReplacer("HASH", hash, "HALF", hash[:32], "LONG", strings.Repeat("Long", 90),
		"UPPER", strings.ToUpper(hash),
		"DEEP", strings.Repeat("[", 40)+strings.Repeat("]", 40),
		"MANY", strings.Repeat(`PUSH {"jid":"many","jobtype":"t","args":[]}`+"\r\n", 1501),
		"KILOS", strings.Repeat("kilo", 1200), "HUGE", strings.Repeat("huge", 20_000),
		`\r`, "\r", `\n`, "\n", `\xff`, "\xff", `\xc3`, "\xc3", `\xbc`, "\xbc", `\x00`, "\x00")
})

// talk is a conversation that is held.
type talk struct {
	t     *testing.T
	began time.Time
	dial  func() net.Conn
	conns map[string]net.Conn

	mu   sync.Mutex
	said []said
}

type said struct {
	at   time.Duration
	conn string
	text []byte
}

// hold returns what the server says. configure makes it another one; nil: it is as it should be.
func (c conversation) hold(t *testing.T, configure func(*fakes.Config)) (transcript string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		config := fakes.Config{Seed: 1, Listen: place.Listen}
		if strings.HasPrefix(c.name, "protected") {
			config.Password, config.Salt, config.Iterations = password, salt, 3
		}
		if configure != nil {
			configure(&config)
		}
		s := fakes.NewServer(config)
		k := &talk{t: t, began: time.Now(), conns: map[string]net.Conn{}, dial: place.MustDial}
		for _, step := range c.steps {
			k.step(s, step)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		for _, conn := range k.conns {
			conn.Close()
		}
		s.Close()
		synctest.Wait()
		transcript = k.transcript()
	})
	return transcript
}

func (k *talk) step(s *fakes.Server, step string) {
	word, rest, _ := strings.Cut(step, " ")
	switch name := step[:1]; {
	case word == "wait":
		d, err := time.ParseDuration(rest)
		require.NoError(k.t, err)
		time.Sleep(d)
	case word == "restart":
		require.NoError(k.t, s.Restart())
	case word == "kill":
		require.NoError(k.t, s.Kill())
	case word == "quiet", word == "terminate":
		_ = s.Signal(rest, word) // of a worker that the server may not know
	case step[1] == ':':
		k.open(name, rest)
	case step[1] == '>':
		k.send(name, step[3:]+"\r\n")
	case step[1] == '"':
		k.send(name, step[2:])
	case rest == "end":
		_ = k.conns[name].(interface{ CloseWrite() error }).CloseWrite()
	default:
		k.conns[name].Close()
	}
}

func (k *talk) open(name, as string) {
	conn := k.dial()
	k.conns[name] = conn
	go func() {
		for buf := make([]byte, 64<<10); ; {
			n, err := conn.Read(buf)
			k.say(name, buf[:n])
			if err != nil {
				if err != io.EOF { //nolint:errorlint // it is no wrapped one
					err = io.ErrUnexpectedEOF
				}
				k.say(name, []byte(err.Error()))
				return
			}
		}
	}()
	switch wid := strings.TrimPrefix(as, "as "); {
	case as == "hello":
		k.send(name, "HELLO {\"v\":2}\r\n")
	case as == "worker":
		wid = name
		fallthrough
	case wid != as:
		k.send(name, `HELLO {"hostname":"`+wid+`","wid":"`+wid+`","pid":17,"labels":["go"],"v":2}`+"\r\n")
	}
}

func (k *talk) send(name, text string) {
	_, _ = io.WriteString(k.conns[name], words().Replace(text)) // a server may have closed it
}

func (k *talk) say(conn string, text []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.said = append(k.said, said{time.Since(k.began), conn, bytes.Clone(text)})
}

// figures are what differs from run to run in an INFO: its memory, and so its length.
var figures = regexp.MustCompile(`"used_memory_mb":"\d+ MB"|\$\d+\r\n(?:\{"faktory")`)

// transcript returns what was said, by time and connection, and long texts by their sums.
func (k *talk) transcript() string {
	slices.SortStableFunc(k.said, func(a, b said) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return strings.Compare(a.conn, b.conn)
	})
	var all strings.Builder
	for i := 0; i < len(k.said); {
		first, text := k.said[i], []byte{}
		for ; i < len(k.said) && k.said[i].at == first.at && k.said[i].conn == first.conn; i++ {
			text = append(text, k.said[i].text...)
		}
		for line := range bytes.SplitSeq(figures.ReplaceAll(text, nil), []byte("\n")) {
			if len(line) > 2000 {
				line = fmt.Appendf(nil, "%d bytes, %08x", len(line), crc32.ChecksumIEEE(line))
			}
			fmt.Fprintf(&all, "%v %s %q\n", first.at, first.conn, line)
		}
	}
	return all.String()
}
