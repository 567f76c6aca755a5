package target

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	type variables map[string]string
	tests := map[string]struct {
		url     string
		given   bool
		env     variables
		host    string // of the chosen server, "" for the embedded one
		how     string
		invalid string
	}{
		"nothing": {how: "the embedded server"},
		"flag":    {url: "tcp://a", given: true, host: "a", how: "from --url"},
		"flag before all": {url: "tcp://a", given: true, env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": ""},
			host: "a", how: "from --url"},
		"variable": {env: variables{"FAKTORY_URL": "tcp://b"}, host: "b", how: "from FAKTORY_URL"},
		"provider": {env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": "MINE", "MINE": "tcp://c"},
			host: "c", how: "from MINE, which FAKTORY_PROVIDER names"},
		"provider of usual": {env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": "FAKTORY_URL"}, host: "b",
			how: "from FAKTORY_URL, which FAKTORY_PROVIDER names"},

		"empty flag":     {given: true, invalid: "--url is set but empty"},
		"bad flag":       {url: "a", given: true, invalid: "--url: \"a\" is not a server URL"},
		"empty variable": {env: variables{"FAKTORY_URL": ""}, invalid: "FAKTORY_URL is set but empty"},
		"bad variable":   {env: variables{"FAKTORY_URL": "b"}, invalid: "FAKTORY_URL: \"b\" is not a server URL"},
		"empty provider": {env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": ""},
			invalid: "FAKTORY_PROVIDER is set but empty"},
		"dangling provider": {env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": "MINE"},
			invalid: "the variable MINE, which is not set"},
		"URL for provider": {env: variables{"FAKTORY_PROVIDER": "tcp://:hunter2@b"},
			invalid: "the name of the variable"},
		"provider of nothing": {env: variables{"FAKTORY_PROVIDER": "MINE", "MINE": ""}, invalid: "MINE is set but empty"},
		"provider of something": {env: variables{"FAKTORY_PROVIDER": "MINE", "MINE": "x://:hunter2@b"},
			invalid: "MINE: unknown scheme"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Choose(test.url, test.given, func(name string) (string, bool) {
				value, ok := test.env[name]
				return value, ok
			})
			if test.invalid != "" {
				require.ErrorContains(t, err, test.invalid)
				assert.NotContains(t, err.Error(), "hunter2")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.how, c.How)
			assert.Equal(t, test.host, c.Address.Host)
			assert.Equal(t, test.host == "", c.Embedded)
		})
	}
}
