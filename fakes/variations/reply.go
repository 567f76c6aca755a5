package variations

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// replyVariations are about lines and their replies.
var replyVariations = []fakes.Variation{
	// About the texts of errors.
	variation("error-codes", replaceErrors(func(e *event) string {
		switch e.About() {
		case fakes.AboutJob, fakes.AboutWorker:
			return "NOTFOUND"
		case fakes.AboutState:
			return "notpermitted: not now"
		}
		return "MALFORMED " + string(e.About())
	})),
	variation("error-long", replaceErrors(func(*event) string { return "ERR " + strings.Repeat("why ", 1500) })),
	variation("error-quotes",
		replaceErrors(func(e *event) string { return fmt.Sprintf("+OK wäre falsch – 無効な\t{%.1000q}", e.Line) })),
	// About where a line ends, and what is in it.
	setting("line-64-kib", func(c *fakes.Config) { c.MaxLine = 64 << 10 }),
	variation("line-lf-taken", do(clearError, at(fakes.LineRead), isAbout(fakes.AboutLineEnd), func(e *event) bool {
		return bytes.IndexByte(e.Line, '\r') < 0
	})),
	variation("line-lf-unseen", catalogue.WithMemoryBy(conn, at(fakes.Received), replaceBareLF)),
	setting("line-short", func(c *fakes.Config) { c.MaxLine = 1000 }),
	variation("line-utf8-ignored", do(clearError, at(fakes.LineRead), isAbout(fakes.AboutUTF8))),
	variation("line-utf8-replaced",
		do(func(e *event) { e.Err, e.Line = nil, bytes.ToValidUTF8(e.Line, []byte("\uFFFD")) },
			at(fakes.LineRead), isAbout(fakes.AboutUTF8))),
	variation("line-verbs-in-any-case",
		do(func(e *event) { e.Command.Verb = strings.ToUpper(e.Command.Verb) }, at(fakes.Parsed))),
	// About INFO, and about commands that the protocol does not define.
	variation("command-more-verbs", do(answerMoreVerbs, at(fakes.Ran), isAbout(fakes.AboutVerb), catalogue.Not(isEarly))),
	variation("info-bytes", replaceInfo("\x00\xff\xfe\r\n+OK\r\n\x80")),
	variation("info-late", catalogue.WithMemory(isDone(fwp.INFO), func(last *figures, e *event) {
		if time.Since(last.time) >= 5*time.Second {
			*last = figures{time.Now(), e.Reply}
		}
		e.Reply = last.reply
	})),
	variation("info-other-types",
		replaceInfo(`{"server_utc_time":12,"faktory":{"queues":[{"name":"default","size":"0"}],`+
			`"sets":{"retries":"0","dead":"none","scheduled":null,"working":[]},"tasks":{"Dead":{"size":"many"},"Busy":5},`+
			`"total_enqueued":"0"},"server":"x"}`)),
	variation("info-text", replaceInfo("# Server\r\nversion: 1.0 (größer)\r\n\r\n$5\r\n+OK\r\n")),
}

// replaceErrors replaces the texts of errors.
func replaceErrors(text func(*event) string) func(*event) {
	return do(func(e *event) { e.Reply.Text = []byte(text(e)) }, at(fakes.Ran), hasError)
}

// figures are a reply to INFO, and when it was made.
type figures struct {
	time  time.Time
	reply fwp.Reply
}

// answerMoreVerbs answers commands that the protocol does not define.
func answerMoreVerbs(e *event) {
	r, ok := map[string]fwp.Reply{
		"BATCH":  fakes.Integer(1),
		"MUTATE": fakes.OK(),
		"PUSHB":  fakes.Bulk([]byte("{}")),
		"QUEUE":  {Kind: fwp.Array, Array: []fwp.Reply{fakes.Bulk([]byte("default")), fakes.Integer(3)}},
		"TRACK":  fakes.Null(),
	}[e.Command.Verb]
	if ok {
		e.Err, e.Reply = nil, r
	}
}

// replaceBareLF replaces each LF without a CR before it with a vertical tab, which no command has; cr says whether the
// last byte was a CR.
func replaceBareLF(cr *bool, e *event) {
	for i, b := range e.Bytes {
		if b == '\n' && !*cr {
			e.Bytes[i] = '\v'
		}
		*cr = b == '\r'
	}
}
