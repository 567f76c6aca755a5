package target_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
)

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123abcd", 8)
	for said, want := range map[string]string{
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
		assert.Equal(t, want, target.NewSecrets("hunter2").Hide(said), said)
		assert.Equal(t, said, (*target.Secrets)(nil).Hide(said))
	}
	unusual := target.NewSecrets("p\"ä\\\x1b!")
	assert.Equal(t, "(password) (password) (password)", unusual.Hide("p\"ä\\\x1b! p\\\"ä\\\\\\u001b! p\"ä\\\\\\x1b!"))
	assert.Equal(t, "(password) (password)", target.NewSecrets("a b/c@d").Hide("a%20b%2Fc%40d a+b%2Fc%40d"))
	assert.Equal(t, "jid "+hash, target.NewSecrets("").Hide("jid "+hash), "nothing was hashed")
	assert.Equal(t, "jid (hash)", target.NewSecrets("abc").Hide("jid "+hash))
	assert.Equal(t, "-ERR abc", target.NewSecrets("abc").Hide("-ERR abc"), "too short to be looked for")
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
			for _, said := range []string{hi, text.Escape(hi), strconv.Quote(hi), "-ERR " + hi + hi} {
				hidden := target.NewSecrets("").Hide(said)
				assert.NotContains(t, hidden, mark, said)
				assert.Contains(t, hidden, `"(salt)"`, said)
			}
		}
	})
}
