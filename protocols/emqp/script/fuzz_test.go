package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// FuzzLine: a line is an error, or bytes that are read as what it says: a list of frames is the same list when it is
// written anew, with the third frame as its verb.
func FuzzLine(f *testing.F) {
	f.Add(`["", "eMQP/1.0", "REQUEST", id, queue, "", "\x00\xff"]`)
	f.Add(`PING "\x00\x00abc"`)
	f.Add(`["a" , b,"c"]`)
	f.Add(`["", 'x']`)
	f.Add(`[""`)
	coding := emqpscript.Dialect{}.Grammar().Lines
	f.Fuzz(func(t *testing.T, line string) {
		sent, err := coding.Encode(line)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		item, err := emqpscript.ParseSent(sent)
		if err != nil { // of ZMTP: commands have a form of their own, and there is a limit of frames
			return
		}
		assert.NotEmpty(t, coding.Decode(sent))
		if item.Kind != zmtp.IsMessage {
			assert.Equal(t, item.Command.Name, coding.Verb(line))
			return
		}
		texts := make([]string, len(item.Parts))
		for i, part := range item.Parts {
			texts[i] = fmt.Sprintf("%q", part)
		}
		other, err := coding.Encode("[" + strings.Join(texts, ", ") + "]")
		require.NoError(t, err)
		assert.Equal(t, sent, other)
		if len(item.Parts) > 2 {
			assert.Equal(t, string(item.Parts[2]), coding.Verb(line))
		}
	})
}
