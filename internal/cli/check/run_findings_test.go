package check

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/scenarios"
)

// options are the flags of a command line.
func options(t *testing.T, args ...string) *runOptions {
	t.Helper()
	cmd := &cobra.Command{}
	o := &runOptions{}
	o.declare(cmd)
	require.NoError(t, cmd.ParseFlags(args))
	return o
}

func TestReproduce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		env  map[string]string
		own  string // a script of the user's instead of a check
		want string
	}{
		"embedded":   {want: "fwpcheck run --check push/lost --seed 7"},
		"own script": {own: "my bug's.fwp", want: `fwpcheck run 'my bug'\''s.fwp' --seed 7`},
		"URL": {
			args: []string{"--url", "tcp://localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://localhost:7419",
		},
		"of the command": {
			args: []string{
				"--check", "push/*", "--level", "MUST", "-v", "--output", "x", "--parallel", "3", "--strict",
			},
			want: "fwpcheck run --check push/lost --seed 7",
		},
		"of the target": {
			args: []string{
				"--url", "tcp+tls://[::1]:1", "--tls-server-name", "my server", "--timeout", "1m0s", "--allow-flush",
				"--restart-cmd", "a | b",
			},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp+tls://[::1]:1 --tls-server-name 'my server' " +
				"--allow-flush --restart-cmd 'a | b' --timeout 1m0s",
		},
		"password": {
			args: []string{"--url", "tcp://:hunter2@localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://:PASSWORD@localhost:7419 " +
				"# fill in the password, or set FAKTORY_URL and leave out --url",
		},
		"password of a variable": {
			env: map[string]string{"FAKTORY_PROVIDER": "MINE", "MINE": "tcp://:hunter2@localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://:PASSWORD@localhost:7419 " +
				"# fill in the password, or leave out --url while MINE is set",
		},
		"password in a command": {
			args: []string{"--url", "tcp://localhost", "--kill-cmd", "ctl tcp://:hunter2@localhost kill"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://localhost:7419 --kill-cmd 'ctl tcp://***@localhost kill'",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, append(test.args, "--seed", "7")...)
			s, err := o.subject(func(name string) (string, bool) { value, ok := test.env[name]; return value, ok })
			require.NoError(t, err)
			check := "push/lost"
			if test.own != "" {
				check = test.own
			}
			assert.Equal(t, test.want, o.commands(s, test.own != "").run(check))
		})
	}
}

func TestOffers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want []scenarios.Need
	}{
		{},
		{args: []string{"--restart-cmd", "x"}, want: []scenarios.Need{scenarios.NeedRestart}},
		{
			args: []string{"--kill-cmd", "x", "--signal-cmd", "y"},
			want: []scenarios.Need{scenarios.NeedSignals, scenarios.NeedKill},
		},
		{
			args: []string{"--control", "x {action}"},
			want: []scenarios.Need{scenarios.NeedSignals, scenarios.NeedRestart, scenarios.NeedKill},
		},
		{args: []string{"--allow-shared"}, want: []scenarios.Need{scenarios.NeedAlone}},
		{args: []string{"--allow-flush"}, want: []scenarios.Need{scenarios.NeedAlone, scenarios.NeedFlush}},
	}
	for _, test := range tests {
		o := options(t, append(test.args, "--url", "tcp://localhost")...)
		s, err := o.subject(func(string) (string, bool) { return "", false })
		require.NoError(t, err)
		want := append([]scenarios.Need{scenarios.NeedOpen}, test.want...)
		assert.ElementsMatch(t, want, s.offers(s.Server, false), test.args)
	}
}

func TestEveryNeedCanBeProvided(t *testing.T) {
	t.Parallel()
	o := options(t, "--url", "tcp://localhost")
	s, err := o.subject(func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	for _, need := range []scenarios.Need{
		scenarios.NeedOpen, scenarios.NeedPassword, scenarios.NeedSignals, scenarios.NeedRestart,
		scenarios.NeedKill, scenarios.NeedAlone, scenarios.NeedFlush, scenarios.NeedEmbedded,
	} {
		assert.NotEmpty(t, provide(s)[need], need)
	}
}
