package script

import (
	"embed"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Dialect is the client's side of FWP. The zero value is ready, and safe for
// concurrent use.
type Dialect struct {
	fwpsession.Codec

	Extension Extension // what clients may send besides
}

// Grammar returns what scripts may write.
func (Dialect) Grammar() *scenarios.Grammar { return grammar() }

// emptyFetch is how long a FETCH waits for a job before it is answered with null.
// (FETCH Command)
const emptyFetch = 2 * time.Second

// grammar is made once; it never changes.
var grammar = sync.OnceValue(func() *scenarios.Grammar {
	return &scenarios.Grammar{
		Name:     "fwp",
		Encoding: "RESP",
		Greeting: "HI",
		Example:  `C: HELLO {"v":2}   and   S: +OK`,
		Forms: []scenarios.Form{
			{
				Sign: "+", Kind: byte(fwp.SimpleString), Value: scenarios.LineValue, Words: "a simple string",
				Example: "+OK", Sample: "OK",
			},
			{
				Sign: "-", Kind: byte(fwp.ErrorReply), Value: scenarios.LineValue, Words: "an error",
				Example: "- (any error)", Refusal: true,
			},
			{Sign: "$-1", Kind: byte(fwp.NullBulk), Words: "a null bulk string", Short: "null"},
			{
				Sign: "$", Kind: byte(fwp.BulkString), Value: scenarios.BlockValue, Words: "a bulk string",
				Example: "${...} (bulk string), $-1 (null)",
				Help:    `a bulk string is written ${...}, $"text", $/re/ or $ alone; null is $-1`,
			},
			{Sign: ":", Kind: byte(fwp.Integer), Value: scenarios.NumberValue, Words: "an integer"},
			{Sign: "*", Kind: byte(fwp.Array), Words: "an array"},
		},
		Names: scenarios.Names{
			Families: []string{"jid", "queue", "wid"},
			Client:   "wid",
			Computed: []scenarios.Computed{
				{Name: "job", Fields: job},
				{Name: "pwdhash", Variants: wrongHashes(), Needs: scenarios.NeedPassword, Value: pwdhash},
			},
		},
		Replies: scenarios.Replies{
			MayBeLate: map[string]scenarios.Wait{fwp.FETCH: {Kind: byte(fwp.NullBulk), Minimum: emptyFetch}},
		},
		Verbs: scenarios.Verbs{Count: fwp.INFO, Add: fwp.PUSH, End: fwp.END},
		Timing: scenarios.Timing{
			Delays:    []string{"at", "reserve_for", fwp.FAIL},
			KeepAlive: 15 * time.Second, // the server may close the connection of a consumer without BEAT (BEAT Command)
		},
	}
})

// timeForm is how the suite writes times: RFC 3339 with microseconds.
const timeForm = "2006-01-02T15:04:05.000000Z07:00"

// job is a work unit with every field set, so that a script has no hidden defaults. Every
// repetition pushes a job of its own. (Work units)
func job(isRepeated bool) []scenarios.Field {
	jid := "$jid"
	if isRepeated {
		jid = "$jid#"
	}
	return []scenarios.Field{
		{Name: "jid", Value: jid},
		{Name: "jobtype", Value: "fwpcheck"},
		{Name: "args", Value: []string{}},
		{Name: "queue", Value: "$queue"},
		{Name: "reserve_for", Value: 1800},
		{Name: "retry", Value: 0},
		{Name: "backtrace", Value: 0},
		{Name: "created_at", Value: time.Now().UTC().Format(timeForm)},
		{Name: "custom", Value: map[string]any{}},
	}
}

// Hello returns the HELLO of a connection whose server has sent its HI. Connections of
// one script share its worker id unless the script sets another one, and with it host
// name, process id and labels. (HELLO Command)
func (Dialect) Hello(role scenarios.Role, s session.State) (scenarios.Hello, bool) {
	state := s.(*fwpsession.State)
	hello := scenarios.Hello{Words: fwp.HELLO, Locked: state.Hi().Protected}
	if role == scenarios.Consumer {
		hello.Fields = []scenarios.Field{
			{Name: "hostname", Value: "fwpcheck"},
			{Name: "wid", Value: "$wid"},
			{Name: "pid", Value: os.Getpid()},
			{Name: "labels", Value: []string{"fwpcheck"}},
		}
	}
	if hello.Locked {
		hello.Fields = append(hello.Fields, scenarios.Field{Name: "pwdhash", Value: "$pwdhash"})
	}
	hello.Fields = append(hello.Fields, scenarios.Field{Name: "v", Value: fwp.Version})
	return hello, state.IsGreeted()
}

// Probe returns a BEAT for a consumer, since INFO makes a server go through all its
// jobs, and an INFO for any other client.
func (Dialect) Probe(role scenarios.Role, s session.State) string {
	if wid := s.(*fwpsession.State).Worker(); role == scenarios.Consumer && wid != "" {
		return fmt.Sprintf(`%s {"wid":%q}`, fwp.BEAT, wid)
	}
	return fwp.INFO
}

// Sample returns the state of a conversation with a protected server.
func (Dialect) Sample(introduced bool) session.State {
	_, s := fwpsession.Codec{}.Begin(nil)
	s.Received(session.Message{Kind: byte(fwp.SimpleString), Text: []byte(`HI {"v":2,"s":"salt","i":2}`)})
	if introduced {
		s.Sent([]byte(fwp.HELLO + " {}\r\n"))
		s.Received(session.Message{Kind: byte(fwp.SimpleString), Text: []byte("OK")})
	}
	return s
}

//go:embed scripts
var suiteFiles embed.FS

var suite = scenarios.Suite(Dialect{}, suiteFiles)

// Suite returns the scripts that come with the suite, in the order of their names. A script's name is its check id: the
// folder and the file without its ending, "fetch/empty-queue-blocks". All callers share the scripts: none may change
// one. The error is that of the first one that does not parse, which a test of the suite would have found.
func Suite() ([]*scenarios.Script, error) { return suite() }
