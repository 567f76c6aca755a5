package fakes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

func greetingFaults() []Fault {
	return []Fault{
		statefulFault("hi-after-client", "HI-01", "HI is sent only together with the first reply", hiAfterClient),
		fault("hi-bulk", "HI-02",
			"HI is a bulk string",
			on(Greeting, func(e *Event) { e.Reply.Kind = fwp.BulkString })),
		fault("hi-more-text", "HI-02",
			"a word follows the JSON of HI",
			on(Greeting, func(e *Event) { e.Reply.Text = append(e.Reply.Text, " welcome"...) })),
		fault("hi-version-3", "HI-03", "v of HI is 3", hiReplace(`"v":2`, `"v":3`)),
		fault("hi-version-text", "HI-03", "v of HI is a string", hiReplace(`"v":2`, `"v":"2"`)),
		fault("hi-salt-on-open", "HI-04",
			"an open server sends a salt",
			on(Greeting, func(e *Event) {
				if e.Conn.Iterations == 0 {
					e.Reply.Text = []byte(`HI {"v":2,"s":"7f1c29aa01d3"}`)
				}
			})),
		fault("hi-salt-missing", "HI-04",
			"a protected server sends iterations and no salt",
			on(Greeting, func(e *Event) {
				if e.Conn.Iterations > 0 {
					e.Reply.Text = []byte(`HI {"v":2,"i":` + itoa(int64(e.Conn.Iterations)) + `}`)
				}
			})),
		fault("hi-iterations-text", "HI-05",
			"i of HI is a string",
			on(Greeting, func(e *Event) {
				i := itoa(int64(e.Conn.Iterations))
				e.Reply.Text = bytes.ReplaceAll(e.Reply.Text, []byte(`"i":`+i), []byte(`"i":"`+i+`"`))
			})),
	}
}

func hiAfterClient() func(*Event) {
	var held notes[int64, []byte]
	return func(e *Event) {
		switch e.Point {
		case Greeting:
			held.put(e.Conn.ID, appendReply(nil, e.Reply))
			e.Skip = true
		case Writing:
			if hi, ok := held.take(e.Conn.ID); ok {
				e.Bytes = append(hi, e.Bytes...)
			}
		}
	}
}

func hiReplace(from, to string) func(*Event) {
	return on(Greeting, func(e *Event) { e.Reply.Text = bytes.ReplaceAll(e.Reply.Text, []byte(from), []byte(to)) })
}

func passwordFaults() []Fault {
	return []Fault{
		fault("auth-optional", "AUTH-02 HELLO-04",
			"a protected server accepts a HELLO without pwdhash",
			password(func(_ *Event, hash string) bool { return hash == "" })),
		fault("auth-round-less", "AUTH-03",
			"a hash with one round too few is accepted too",
			password(func(e *Event, hash string) bool {
				return hash == hashed(e.Conn.server.cfg.Password+e.Conn.Salt, e.Conn.Iterations-1)
			})),
		fault("auth-hex-rounds", "AUTH-03",
			"a hash over the hexadecimal form of each round is accepted too",
			password(func(e *Event, hash string) bool {
				return hash == hexHashed(e.Conn.server.cfg.Password+e.Conn.Salt, e.Conn.Iterations)
			})),
		fault("auth-any-hash", "AUTH-04 AUTH-03 AUTH-05 HELLO-04",
			"only the length of the hash is checked",
			password(func(_ *Event, hash string) bool { return len(hash) == 2*sha256.Size })),
		fault("auth-salt-reused", "AUTH-05",
			"every connection has the same salt and iterations",
			on(Greeting, func(e *Event) {
				if e.Conn.Iterations > 0 {
					e.Conn.Salt, e.Conn.Iterations = "0f3c5d7a9b1e2468", 4242
					e.Reply = e.Conn.hi()
				}
			})),
		fault("auth-hash-type", "AUTH-07",
			"a pwdhash that is a number is accepted",
			when(Checked, fwp.HELLO, func(e *Event) {
				if _, number := e.Object.Int("pwdhash"); number && e.about() == "pwdhash" && e.Conn.Iterations > 0 {
					e.accept()
				}
			})),
	}
}

// protectedFaults are about what a protected server does before HELLO.
func protectedFaults() []Fault {
	return []Fault{
		fault("auth-info-before-hello", "AUTH-06",
			"INFO is served before HELLO on a protected server",
			when(Checked, fwp.INFO, func(e *Event) {
				if e.about() == AboutState && e.Conn.Iterations > 0 {
					e.accept()
				}
			})),
		fault("auth-push-before-hello", "AUTH-06 PUSH-03",
			"a PUSH before HELLO is refused and enqueued on a protected server",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.about() == AboutState && e.Conn.Iterations > 0 {
					e.Skip = false
				}
			})),
	}
}

// password accepts a HELLO that is refused for a missing or wrong hash that right accepts.
func password(right func(e *Event, hash string) bool) func(*Event) {
	return when(Checked, fwp.HELLO, func(e *Event) {
		hash := e.Object.Text("pwdhash")
		if e.about() == "pwdhash" && (hash != "" || e.Object.Get("pwdhash") == nil) && right(e, hash) {
			e.accept()
		}
	})
}

func hexHashed(text string, rounds int) string {
	for range rounds {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return text
}

func helloFaults() []Fault {
	return []Fault{
		fault("hello-other-answer", "HELLO-03",
			"an accepted HELLO is answered with another word than OK",
			answer(fwp.HELLO, simple("WELCOME"))),
		fault("hello-broken-ok", "HELLO-04 HELLO-06 RESP-02",
			"a HELLO with broken JSON is answered with OK and has no effect",
			pretend(fwp.HELLO, AboutJSON)),
		fault("hello-declined-closes", "HELLO-04",
			"a HELLO without a hash, or with a wrong one, ends the connection without an error",
			when(Ran, fwp.HELLO, func(e *Event) {
				if e.about() == "pwdhash" {
					e.Err, e.Reply, e.Close = nil, fwp.Reply{}, true
				}
			})),
		fault("hello-not-object", "HELLO-06 RESP-02",
			"a HELLO whose argument is not an object is accepted",
			allow(fwp.HELLO, AboutObject)),
		fault("hello-pid-text", "HELLO-14", "a HELLO whose pid is not an integer is accepted", allow(fwp.HELLO, "pid")),
		fault("hello-labels-text", "HELLO-14",
			"a HELLO whose labels are not an array is accepted",
			allow(fwp.HELLO, "labels")),
		statefulFault("hello-wid-once", "HELLO-11", "a second connection with the same wid is declined", helloOnce),
		fault("hello-consumer-refused", "HELLO-16",
			"a HELLO with all the fields of a consumer is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if len(e.Object.Fields()) > 4 {
					e.decline("wid", "no more workers are needed")
				}
			})),
		fault("hello-hostname-required", "HELLO-15",
			"a HELLO with only v is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if len(e.Object.Fields()) == 1 {
					e.decline("hostname", "hostname must be a string")
				}
			})),
	}
}

func helloOnce() func(*Event) {
	var mu sync.Mutex
	used := make(map[string]bool)
	return when(Checked, fwp.HELLO, func(e *Event) {
		wid := e.Object.Text("wid")
		if e.Err != nil || wid == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if used[wid] {
			e.decline("wid", "the wid is in use")
		}
		used[wid] = true
	})
}
