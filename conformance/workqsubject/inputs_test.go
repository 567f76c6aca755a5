package workqsubject

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFieldsOfCommands(t *testing.T) {
	t.Parallel()
	const id = "6ba7b810-9dad-11d1-80b4-00c04fd430c4"
	for command, want := range map[string]string{
		"add " + id + " ping 60000 3600000 4 -priority=-7 -max-fails=3\r\npong\r\n": "add; add ttr=60000; " +
			`add ttl=3600000; add max-fails=3; add priority=-7; add block="pong"`,
		"schedule " + id + " ping 1 2 2040-01-02T15:04:05Z 1\r\nx\r\n": "schedule; schedule ttr=1; schedule ttl=2; " +
			`schedule time="2040-01-02T15:04:05Z"; schedule block="x"`,
		"inspect server\r\n":                         "inspect server",
		"fail " + id + " 0\r\n\r\n":                  `fail; fail block=""`,
		"inspect server\r\ninspect server\r\n":       "other bytes",
		"nothing\r\n":                                "other bytes",
		"add " + id + " ping 60000 3600000 4\r\npon": "other bytes",
	} {
		var all []string
		eachField([]byte(command), func(name string, value []byte) {
			if value != nil {
				name += "=" + string(value)
			}
			all = append(all, name)
		})
		assert.Equal(t, want, strings.Join(all, "; "), "%q", command)
	}
	for field, buckets := range knownFields() {
		assert.NotEmpty(t, buckets, field)
	}
}
