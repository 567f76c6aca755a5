package emqpsubject

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/zmtp"
)

func TestFieldsOfMessages(t *testing.T) {
	t.Parallel()
	message := func(m emqp.Message) []byte { return zmtp.AppendMessage(nil, m.Frames()...) }
	for want, sent := range map[string][]byte{
		"KBAI": message(emqp.Kbai("id")),
		`REQUEST; REQUEST queue name="q"; REQUEST headers=""; REQUEST message="x"`: message(
			emqp.Request("id", "q", nil, "x")),
		`PUBLISH; PUBLISH topic name="t"; PUBLISH message="x"`: message(emqp.PublishBare("id", "t", "x")),
		"other bytes": message(emqp.Message{Command: "NONE", ID: "id"}),
	} {
		var all []string
		eachField(sent, func(name string, value []byte) {
			if value != nil {
				name += "=" + string(value)
			}
			all = append(all, name)
		})
		assert.Equal(t, want, strings.Join(all, "; "))
	}
	for field, buckets := range knownFields() {
		assert.NotEmpty(t, buckets, field)
	}
}
