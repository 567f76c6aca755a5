package situations

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMend(t *testing.T) {
	t.Parallel()
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c4"
	for line, want := range map[string]string{
		"lease a b 2000":                  "lease a b 2000",
		"LEASE  a b 2000 ":                "lease a b 2000",
		"lease a 2000ms":                  "lease a 2000",
		"lease a -1":                      "lease a 1",
		"lease a 2000.5":                  "lease a 2000",
		"lease fwp.ok fwp.echo":           "lease fwp.ok fwp.echo 1000",
		"Complete " + id + " 00000004":    "complete " + id + " 4",
		"fail " + id + " 0":               "fail " + id + " 0",
		"fail  " + id + " 12 -priority=1": "fail " + id + " 12",
		"lease":                           "lease",
		"":                                "",
	} {
		assert.Equal(t, want, mend(line), line)
	}
}
