// Package script is eMQP as scripts are written in it and played: what is particular to it in the script language and
// in the engine of package scenarios (a [Dialect]), and the scripts of the suite.
package script

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	"github.com/fwpsuite/fwp/scenarios"
)

// Name is the name of the protocol in the header of scripts.
const Name = "emqp"

// Dialect is the side of a client, worker or scheduler. The zero value is ready, and safe for concurrent use.
//
// A line is a list of frames, or a command of ZMTP and its data as a string. A worker (connect w as consumer)
// connects to the back end of the broker, any other client to the front end.
type Dialect struct{ emqpsession.Codec }

// Grammar returns what scripts may write.
func (Dialect) Grammar() *scenarios.Grammar { return grammar() }

// grammar is made once; it never changes.
var grammar = sync.OnceValue(func() *scenarios.Grammar {
	return &scenarios.Grammar{
		Name: Name, Encoding: "eMQP", Greeting: zmtp.READY,
		Example: `C: ["", "eMQP/1.0", "REQUEST", $id, $queue, "", "text"]   and   ` +
			`S: ["", "eMQP/1.0", "REQUEST", $id, $queue, "", "text"]`,
		Forms: []scenarios.Form{
			{
				Sign: "[", Kind: emqpsession.Message, Value: scenarios.ListValue, Words: "a message",
				Example: `["", "eMQP/1.0", "ACK", string, $id]`,
			},
			{
				Sign: zmtp.ERROR, Kind: emqpsession.Refusal, Value: scenarios.LineValue, Words: "an ERROR of ZMTP",
				Refusal: true, Example: zmtp.ERROR,
			},
			command(zmtp.READY), command(zmtp.PONG),
		},
		Names:   scenarios.Names{Families: []string{"id", "queue", "topic", "text"}, Client: "id"},
		Lines:   scenarios.Lines{Encode: encode, Decode: decode, Verb: verb},
		Replies: scenarios.Replies{Pushes: true},
		Verbs:   scenarios.Verbs{Stop: emqp.DISCONNECT},
	}
})

// command returns the form of a command of ZMTP.
func command(name string) scenarios.Form {
	return scenarios.Form{
		Sign: name, Kind: emqpsession.KindOf(name), Value: scenarios.WordsValue,
		Words: "a " + name + " of ZMTP", Example: name, Sample: name,
	}
}

// fields are those of a connect line.
type fields struct {
	Identity   *string `json:"identity"`   // announced in READY: empty for none, a random one by default
	Heartbeats bool    `json:"heartbeats"` // the script expects and answers those of the broker
	Silent     bool    `json:"silent"`     // those of the broker are not answered, and not shown to the script
	Acks       bool    `json:"acks"`       // the script expects those of the broker
	Backend    bool    `json:"backend"`    // whatever the role, it is a connection to the back end
}

// Open implements [scenarios.Opener]. Greeting and READY are sent for all connections but raw ones.
func (Dialect) Open(nc net.Conn, role scenarios.Role, hello []byte) (net.Conn, session.Codec, error) {
	var f fields
	d := json.NewDecoder(bytes.NewReader(hello))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, nil, fmt.Errorf("the fields of the connection: %w", err)
	}
	if role == scenarios.Raw {
		return nc, emqpsession.Codec{Raw: true}, nil
	}
	s := emqpsession.Settings{Identity: "fwp-" + rand.Text(), Heartbeats: f.Heartbeats, Silent: f.Silent, Acks: f.Acks}
	if f.Identity != nil {
		s.Identity = *f.Identity
	}
	return emqpsession.Open(nc, s)
}

// Backend implements [scenarios.Opener].
func (Dialect) Backend(role scenarios.Role, hello []byte) bool {
	var f fields
	_ = json.Unmarshal(hello, &f) // Open returns the error
	return role == scenarios.Consumer || f.Backend
}

// Hello returns nothing to send: the introduction of a worker, INFORM, is for scripts. The first message of a broker is
// its READY.
func (Dialect) Hello(_ scenarios.Role, s session.State) (scenarios.Hello, bool) {
	return scenarios.Hello{Words: ""}, s.Status().Phase != session.Greeting && !s.(*emqpsession.State).IsRefused()
}

// Probe returns a PING: eMQP has no message that every broker answers. (37/ZMTP: Connection Heartbeating)
func (Dialect) Probe(scenarios.Role, session.State) string { return zmtp.PING + ` "\x00\x00fwp"` }

// IsImpossible returns false: in eMQP no message has to answer another.
func (Dialect) IsImpossible([]byte, session.Message) bool { return false }

// Sample returns the state of a new conversation.
func (Dialect) Sample(introduced bool) session.State {
	_, s := emqpsession.Codec{Raw: !introduced}.Begin(nil)
	return s
}

// Check returns what is wrong with a message. A HEARTBEAT has to follow an INFORM, and nothing follows a DISCONNECT or
// a KBAI. (the tables; Heartbeating; DISCONNECT and KBAI)
func (Dialect) Check(_ scenarios.Role, s session.State, sent []byte) (bug string, advice []scenarios.Advice) {
	item, err := ParseSent(sent)
	if err != nil || item.Kind != zmtp.IsMessage {
		return "", nil
	}
	state := s.(*emqpsession.State)
	m, wrong := emqp.Parse(item.Parts)
	switch {
	case wrong != nil:
		return wrong.Error(), nil
	case m.Command == emqp.HEARTBEAT && !state.HasInformed():
		return "HEARTBEAT is valid after an INFORM only", nil
	case state.Status().Phase == session.Ended:
		return m.Command + " after a DISCONNECT or KBAI", nil
	}
	return "", nil
}

// NewLedger implements [scenarios.Dialect]. The ledger is empty: the document has no message that removes another one
// from its queue, so scripts use queues of their own.
func (Dialect) NewLedger() scenarios.Ledger { return scenarios.NoLedger{} }

//go:embed scripts
var suiteFiles embed.FS

var suite = scenarios.Suite(Dialect{}, suiteFiles)

// Suite returns the scripts that come with the suite, in the order of their names. A script's name is its check id: the
// folder and the file without its ending. All callers share the scripts: none may change one. The error is
// that of the first one that does not parse, which a test of the suite would have found.
func Suite() ([]*scenarios.Script, error) { return suite() }
