package fakeworker

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

// helloFaults are wrong introductions. (HELLO)
func helloFaults() []Fault {
	hello := func(name, clauses, summary string, act func(*Event)) Fault {
		return fault(name, clauses, summary, on(Introducing, act))
	}
	perConn := func(name string, value func(*Event) any) func(*Event) {
		return func(e *Event) { e.Fields[name] = value(e) }
	}
	return []Fault{
		hello("hello-missing", "HELLO-01 STATE-02 HELLO-09 RESP-09 WRK-12 FETCH-11",
			"It sends its first command without a HELLO.", skip),
		fault("hello-before-hi", "HI-07 FRAME-07 AUTH-01 AUTH-03", "It sends HELLO before it has read HI.", on(Dialed, skip)),
		hello("hello-without-v", "HELLO-02", "Its HELLO has no v.", field("v", nil)),
		hello("hello-v-text", "HELLO-02", "The v of its HELLO is a string.", field("v", "2")),
		hello("hello-v-old", "HELLO-02", "The v of its HELLO is 1.", field("v", 1)),
		hello("hello-v-fraction", "HELLO-02", "The v of its HELLO is 2.1.", field("v", 2.1)),
		hello("hello-without-hostname", "HELLO-09", "Its HELLO has no hostname.", field("hostname", nil)),
		hello("hello-without-pid", "HELLO-09", "Its HELLO has no pid.", field("pid", nil)),
		hello("hello-pid-text", "HELLO-09", "The pid of its HELLO is a string.", field("pid", "4711")),
		hello("hello-without-labels", "HELLO-09", "Its HELLO has no labels.", field("labels", nil)),
		hello("hello-labels-text", "HELLO-09", "The labels of its HELLO are a string.", field("labels", "go")),
		hello("hello-wid-number", "HELLO-09 BEAT-10 BEAT-09", "The wid of its HELLO is a number.", field("wid", 17)),
		hello("hello-without-wid", "HELLO-09 BEAT-09 BEAT-10", "None of its HELLOs has a wid.", field("wid", nil)),
		setting("wid-fixed", "HELLO-10 BEAT-07 BEAT-08 HELLO-12", "Every process has the same wid.",
			func(c *Config) { c.WID = "worker-1" }),
		setting("wid-of-the-second", "HELLO-10 BEAT-07 BEAT-08 HELLO-12", "Its wid is the time of its start in seconds.",
			func(c *Config) { c.WID = fmt.Sprintf("worker-%d", time.Now().Unix()) }),
		hello("pid-by-connection", "HELLO-12", "Each of its connections has another pid.",
			perConn("pid", func(e *Event) any { return 1000 + e.Conn })),
		hello("hostname-by-connection", "HELLO-12", "Each of its connections has another hostname.",
			perConn("hostname", func(e *Event) any { return fmt.Sprintf("host-%d", e.Conn) })),
		hello("labels-by-connection", "HELLO-12", "Each of its connections has another label.",
			perConn("labels", func(e *Event) any { return []string{fmt.Sprintf("label-%d", e.Conn)} })),
		hello("labels-of-beats", "HELLO-12", "The labels of its connection for BEAT are others.", func(e *Event) {
			if e.Beats {
				e.Fields["labels"] = []string{"heartbeat"}
			}
		}),
		fault("hello-refusal-ignored", "STATE-02", "It goes on when its HELLO was declined.",
			replied(fwp.HELLO, func(e *Event) {
				if e.Reply.Kind == fwp.ErrorReply {
					e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}
				}
			})),
		hello("hi-strict", "HI-08", "It ends if HI has a field that it does not know.", func(e *Event) {
			if hiHasMore(e) {
				e.Worker.Exit(1)
			}
		}),
		hello("hi-exact", "HI-09", "It ends unless HI is written without spaces.", func(e *Event) {
			if bytes.Contains(e.Reply.Text[3:], []byte(" ")) {
				e.Worker.Exit(1)
			}
		}),
		hello("hi-newer-refused", "HI-06", "It ends if the server speaks a newer version.", func(e *Event) {
			if e.Hi.Version > fwp.Version {
				e.Worker.Exit(1)
			}
		}),
	}
}

// hashFaults are wrong passwords. (HELLO, Required Fields for Protected Server)
func hashFaults() []Fault {
	hash := func(name, clauses, summary string, compute func(pass string, hi fwp.Hi) any) Fault {
		return fault(name, clauses, summary, on(Introducing, func(e *Event) {
			if e.Hi.Protected {
				field("pwdhash", compute(e.Worker.pass, e.Hi))(e)
			}
		}))
	}
	rounds := func(pass, salt string, n int) string {
		text, err := fwp.PasswordHash(pass, salt, max(n, 1))
		if err != nil {
			panic(err) // the greeting was read with the same bounds
		}
		return text
	}
	return []Fault{
		hash("hash-missing", "AUTH-01", "Its HELLO to a protected server has no pwdhash.",
			func(string, fwp.Hi) any { return nil }),
		hash("hash-array", "AUTH-01 AUTH-03", "Its pwdhash is an array.",
			func(pass string, hi fwp.Hi) any { return []string{rounds(pass, hi.Salt, hi.Iterations)} }),
		hash("hash-one-round-more", "AUTH-03", "It applies SHA-256 once too often.",
			func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, hi.Iterations+1) }),
		hash("hash-one-round", "AUTH-03", "It applies SHA-256 once, whatever i is.",
			func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, 1) }),
		hash("hash-salt-first", "AUTH-03", "It hashes the salt before the password.",
			func(pass string, hi fwp.Hi) any { return rounds(hi.Salt, pass, hi.Iterations) }),
		hash("hash-salt-ignored", "AUTH-03", "It hashes the password without the salt.",
			func(pass string, hi fwp.Hi) any { return rounds(pass, "", hi.Iterations) }),
		hash("hash-of-hex", "AUTH-03", "It hashes the hexadecimal text of each round.",
			func(pass string, hi fwp.Hi) any {
				text, err := fwp.HexPasswordHash(pass, hi.Salt, hi.Iterations)
				if err != nil {
					panic(err)
				}
				return text
			}),
		hash("hash-password-escaped", "AUTH-03", "It hashes the password as it is written in the URL, escaped.",
			func(pass string, hi fwp.Hi) any { return rounds(url.QueryEscape(pass), hi.Salt, hi.Iterations) }),
		hash("hash-leading-zeros", "AUTH-03", "Its pwdhash lacks the zeros at its beginning.",
			func(pass string, hi fwp.Hi) any { return strings.TrimLeft(rounds(pass, hi.Salt, hi.Iterations), "0") }),
		fault("hash-missing-beside", "AUTH-01", "The HELLO of its connection for BEAT has no pwdhash.",
			on(Introducing, func(e *Event) {
				if e.Beats {
					field("pwdhash", nil)(e)
				}
			})),
		hash("hash-odd-salts", "AUTH-03", "Its pwdhash is 64 zeros for a salt that is not of ASCII.",
			func(pass string, hi fwp.Hi) any {
				if strings.ContainsFunc(hi.Salt, func(r rune) bool { return r >= utf8.RuneSelf }) {
					return hex.EncodeToString(make([]byte, 32))
				}
				return rounds(pass, hi.Salt, hi.Iterations)
			}),
	}
}

// lineFaults are wrong lines. (Client Protocol Sender)
func lineFaults() []Fault {
	edit := func(name, clauses, summary, verb string, change func(line []byte) []byte) Fault {
		return fault(name, clauses, summary, sent(verb, func(e *Event) { e.Line = change(e.Line) }))
	}
	replace := func(old, by string) func([]byte) []byte {
		return func(line []byte) []byte { return bytes.Replace(line, []byte(old), []byte(by), 1) }
	}
	return []Fault{
		edit("line-lf", "FRAME-01 FRAME-04", "It ends its lines with LF alone.", "", replace("\r\n", "\n")),
		edit("line-two-spaces", "FRAME-02 FRAME-04 BEAT-10 WRK-03", "Two spaces stand between BEAT and its JSON.",
			fwp.BEAT, replace(" ", "  ")),
		edit("line-ends-in-space", "FRAME-04 FRAME-02", "A space stands at the end of its ACKs.", fwp.ACK,
			replace("\r\n", " \r\n")),
		edit("fetch-ends-in-space", "FRAME-04 FRAME-02 WRK-11", "A space stands at the end of its FETCHes.", fwp.FETCH,
			replace("\r\n", " \r\n")),
		edit("ack-ends-twice", "FRAME-04 FRAME-07 RESP-08 RESP-09 FETCH-09 FETCH-10 FETCH-11 STATE-15 WRK-03",
			"An empty line stands behind its ACKs.", fwp.ACK, replace("\r\n", "\r\n\r\n")),
		edit("hello-without-space", "FRAME-02 FRAME-04 HELLO-01", "No space stands between HELLO and its JSON.", fwp.HELLO,
			replace(" ", "")),
		edit("hello-tab", "FRAME-02 FRAME-04 HELLO-01", "A tab stands between HELLO and its JSON.", fwp.HELLO,
			replace(" ", "\t")),
		edit("end-with-space", "FRAME-02 FRAME-04", "A space stands behind its END.", fwp.END, replace("\r\n", " \r\n")),
		edit("verb-lower-case", "FRAME-04 FETCH-09 END-04 STATE-21", "Its ACKs are written in lower case.", fwp.ACK,
			replace("ACK", "ack")),
		edit("beat-json-single-quotes", "FRAME-04 BEAT-06", "Its BEATs have single quotes in their JSON.", fwp.BEAT,
			func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(`"`), []byte(`'`)) }),
		edit("ack-bare-jid", "FRAME-02 FETCH-09 END-04 STATE-21 FRAME-04", "Its ACK has the jid without JSON around it.",
			fwp.ACK, func(line []byte) []byte {
				jid := bytes.TrimSuffix(bytes.TrimPrefix(line, []byte(`ACK {"jid":`)), []byte("}\r\n"))
				return fmt.Appendf(nil, "ACK %s\r\n", bytes.Trim(jid, `"`))
			}),
		edit("fail-latin-1", "FRAME-09 FRAME-04", "Its FAILs are written in Latin-1.", fwp.FAIL, latin1),
		fault("fail-jid-unescaped", "FRAME-04 FETCH-09 FRAME-02", "It writes the jid of a report without escapes.",
			sent("", func(e *Event) {
				if isReport(e.Verb) {
					e.Line = bytes.ReplaceAll(e.Line, []byte(`\"`), []byte(`"`))
				}
			})),
		fault("pipelined", "FRAME-07", "It sends the next FETCH before the reply to its ACK has come.",
			sent(fwp.ACK, func(e *Event) {
				e.Ahead = []byte("INFO\r\n")
			})),
	}
}

// latin1 writes the characters from U+0080 to U+00FF as one byte each.
func latin1(line []byte) []byte {
	var out []byte
	for _, r := range string(line) {
		if r >= 0x80 && r < 0x100 {
			out = append(out, byte(r))
		} else {
			out = append(out, string(r)...)
		}
	}
	return out
}

// hiHasMore reports whether a greeting has a field that the specification does not have.
func hiHasMore(e *Event) bool {
	var fields map[string]any
	_ = json.Unmarshal(bytes.TrimPrefix(e.Reply.Text, []byte("HI ")), &fields) // it was read before
	for name := range fields {
		if name != "v" && name != "i" && name != "s" {
			return true
		}
	}
	return false
}
