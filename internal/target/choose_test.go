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
		isGiven bool
		env     variables
		host    string // of the chosen server, "" for the embedded one
		source  string
		invalid string
	}{
		"nothing": {source: "the embedded server"},
		"flag":    {url: "tcp://a", isGiven: true, host: "a", source: "from --url"},
		"flag before all": {url: "tcp://a", isGiven: true, env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": ""},
			host: "a", source: "from --url"},
		"variable": {env: variables{"FAKTORY_URL": "tcp://b"}, host: "b", source: "from FAKTORY_URL"},
		"provider": {env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": "MINE", "MINE": "tcp://c"},
			host: "c", source: "from MINE, which FAKTORY_PROVIDER names"},
		"provider of usual": {env: variables{"FAKTORY_URL": "tcp://b", "FAKTORY_PROVIDER": "FAKTORY_URL"}, host: "b",
			source: "from FAKTORY_URL, which FAKTORY_PROVIDER names"},

		"empty flag":     {isGiven: true, invalid: "--url is set but empty"},
		"bad flag":       {url: "a", isGiven: true, invalid: "--url: \"a\" is not a server URL"},
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
			c, err := Choose(test.url, test.isGiven, func(name string) (string, bool) {
				value, ok := test.env[name]
				return value, ok
			})
			if test.invalid != "" {
				require.ErrorContains(t, err, test.invalid)
				assert.NotContains(t, err.Error(), "hunter2")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.source, c.Source)
			assert.Equal(t, test.host, c.Address.Host)
			assert.Equal(t, test.host == "", c.IsEmbedded)
		})
	}
}

// One notation names servers and workers. Where a flag is about another kind, the error says which flag, or argument,
// is meant, and repeats nothing.
func TestNameOf(t *testing.T) {
	t.Parallel()
	type named struct {
		kind  NameKind
		value string
	}
	for arg, want := range map[string]named{
		"start:faktory=/a/b":      {NamesStart, "faktory=/a/b"},
		"faktory=/a/b":            {NamesStart, "faktory=/a/b"},
		"faktory":                 {NamesStart, "faktory"},
		"start:./s -p {port}":     {NamesStart, "./s -p {port}"},
		"./s -r redis://h {port}": {NamesStart, "./s -r redis://h {port}"},
		"start:./s -r redis://h":  {NamesStart, "./s -r redis://h"},
		"worker:node w.mjs":       {NamesWorker, "node w.mjs"},
		"embedded":                {NamesEmbedded, "embedded"},
		"tcp://h:1":               {NamesURL, "tcp://h:1"},
		"workq://h":               {NamesURL, "workq://h"},
		"faktory.json":            {NamesNothing, "faktory.json"},
		"load.yaml":               {NamesNothing, "load.yaml"},
	} {
		kind, value := NameOf(arg)
		assert.Equal(t, want, named{kind, value}, arg)
	}
	none := func(string) (string, bool) { return "", false }
	for url, want := range map[string]string{
		"start:faktory=/secret": "give --start COMMAND", "faktory=/secret": "give --start COMMAND",
		"embedded": "for the embedded server give --embedded", "worker:secret": "fwpcheck worker -- COMMAND",
	} {
		_, err := Choose(url, true, none)
		require.ErrorContains(t, err, want, url)
		require.ErrorContains(t, err, "docs/checking-a-server.md#how-a-server-is-named", url)
		assert.NotContains(t, err.Error(), "secret")
	}
	for command, want := range map[string]string{
		"tcp://:secret@h:1": "give --url URL", "embedded": "for the embedded server give --embedded",
		"start:worker:secret": "must listen on a port",
		"worker:secret":       "fwpcheck worker -- COMMAND", "start:secret": "must listen on a port",
		"./secret/faktory": "write faktory=PATH", "faktory:/secret": "write faktory=PATH",
	} {
		_, err := ParseStart(command)
		require.ErrorContains(t, err, want, command)
		assert.NotContains(t, err.Error(), "secret")
	}
	a, err := ParseStart("start:faktory=/a/b")
	require.NoError(t, err)
	b, err := ParseStart("faktory=/a/b")
	require.NoError(t, err)
	assert.Equal(t, b.Command, a.Command)
}
