package target_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
)

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123abcd", 8)
	for content, want := range map[string]string{
		`+HI {"v":2}`:                       `+HI {"v":2}`,
		`+HI {"v":2,"i":1735,"s":"a1b2"}`:   `+HI {"v":2,"i":"(rounds)","s":"(salt)"}`,
		`HI {"i": 1e3, "s" : "a\"b"}`:       `HI {"i": "(rounds)", "s" : "(salt)"}`,
		`"HI {\"i\":7,\"s\":\"x\"}\r\n"`:    `"HI {\"i\":"(rounds)",\"s\":"(salt)"}\r\n"`,
		`HELLO {"pwdhash":"` + hash + `"}`:  `HELLO {"pwdhash":"(hash)"}`,
		`HELLO {\"pwdhash\":\"ab\",\"v\"}`:  `HELLO {\"pwdhash\":"(hash)",\"v\"}`,
		`C: HELLO {"pwdhash":"$pwdhash"}`:   `C: HELLO {"pwdhash":"$pwdhash"}`,
		`-ERR wrong hash ` + hash[:40]:      `-ERR wrong hash (hash)`,
		`-ERR not ` + strings.ToUpper(hash): `-ERR not (hash)`,
		`-ERR hunter2 is wrong`:             `-ERR (password) is wrong`,
		`HI {"s":"a}b","i":5} {"i":5}`:      `HI {"s":"(salt)","i":"(rounds)"} {"i":5}`,
		`"HI {\"s\":\"a}b\",\"i\":5}"`:      `"HI {\"s\":"(salt)",\"i\":"(rounds)"}"`,
		`HI {"s":"a`:                        `HI {"s":"a`,
		`PUSH {"s":"a","i":5}`:              `PUSH {"s":"a","i":5}`,
		`PUSH {"args":[9007199254740993]}`:  `PUSH {"args":[9007199254740993]}`,
		`jid fwp11202057387c00-10-jid-52`:   `jid fwp11202057387c00-10-jid-52`,
	} {
		assert.Equal(t, want, target.NewSecrets("hunter2").Hide(content), content)
		assert.Equal(t, content, (*target.Secrets)(nil).Hide(content))
	}
	unusual := target.NewSecrets("p\"ä\\\x1b!")
	assert.Equal(t, "(password) (password) (password)", unusual.Hide("p\"ä\\\x1b! p\\\"ä\\\\\\u001b! p\"ä\\\\\\x1b!"))
	assert.Equal(t, "(password) (password)", target.NewSecrets("a b/c@d").Hide("a%20b%2Fc%40d a+b%2Fc%40d"))
	assert.Equal(t, "jid "+hash, target.NewSecrets("").Hide("jid "+hash), "nothing was hashed")
	assert.Equal(t, "jid (hash)", target.NewSecrets("abc").Hide("jid "+hash))
	assert.Equal(t, "tcp://:(password)@h", target.NewSecrets("a/b 1").Hide("tcp://:a%2Fb%201@h"))
	merged := target.NewSecrets("hunter2").Merge(target.NewSecrets("FETCH"))
	assert.Equal(t, "(password), password: (password)", merged.Hide("hunter2, password: FETCH"))
}

// A password that is a word of a report changes no other one: what is hidden is hidden where it stands.
func TestOrdinaryPasswordsHideNoOtherWord(t *testing.T) {
	t.Parallel()
	const report = `-ERR unknown queue default; FETCH default; {"queue":"default","args":["a\u0000\n\"",1234]} jid ` +
		`0123456789abcdef01234567 wid deadbeefdeadbeef tcp://127.0.0.1:7419 push/accepted FWP-ACK-02 took 7419 ms; a password`
	for _, password := range []string{"default", "FETCH", "queue", "e", "a", "password", "1234", "7419", "deadbeef",
		"0123456789abcdef01234567", "127.0.0.1", `\u0000`, `\n`, `\"`, `"`, "FWP-ACK", "accepted", "took", "é"} {
		s := target.NewSecrets(password)
		assert.Equal(t, report, s.Hide(report), password)
		for content, want := range map[string]string{
			"-ERR wrong password " + password:      "-ERR wrong password (password)",
			"password: '" + password + "' queue":   "password: '(password)' queue",
			"the password is " + password + ", no": "the password is (password), no",
			"PASSWORD=" + password:                 "PASSWORD=(password)",
			"see tcp://:s%20x@h:1 or u:x":          "see tcp://:(password)@h:1 or u:x",
		} {
			assert.Equal(t, want, s.Hide(content))
		}
		assert.Equal(t, "tcp://:PASSWORD@h", s.Hide("tcp://:PASSWORD@h"))
	}
}

// FuzzSecrets: no part of a salt is left, whatever it consists of, and however the HI is quoted.
func FuzzSecrets(f *testing.F) {
	for _, salt := range []string{"a1b2", "", "a}b", `a"b`, `a\\b`, "a\nb", "\\", `","i":5`, "\x1b\u202e", `"}"`} {
		f.Add(salt, 1735)
	}
	f.Fuzz(func(t *testing.T, salt string, rounds int) {
		const mark = "Zq9"
		salt = mark + strings.ToValidUTF8(strings.ReplaceAll(salt, mark, ""), "") + mark
		quoted, err := json.Marshal(salt)
		require.NoError(t, err)
		for _, hi := range []string{
			fmt.Sprintf(`+HI {"v":2,"i":%d,"s":%s}`, rounds, quoted), fmt.Sprintf(`+HI {"s": %s, "i": %d}`, quoted, rounds),
		} {
			for _, content := range []string{hi, text.Escape(hi), strconv.Quote(hi), "-ERR " + hi + hi} {
				hidden := target.NewSecrets("").Hide(content)
				assert.NotContains(t, hidden, mark, content)
				assert.Contains(t, hidden, `"(salt)"`, content)
			}
		}
	})
}
