package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The action prints what fwpcheck prints between a command that has the runner take no commands and its token, which
// is new each time, and the annotations behind that. The stub of go builds a fwpcheck that prints a command.
func TestTheActionStopsCommands(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the action's script is one of bash")
	}
	source, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	_, script, ok := strings.Cut(string(source), "run: |\n")
	require.True(t, ok)
	dir := t.TempDir()
	stub := "#!/bin/bash\ncat >\"$5\" <<'END'\n#!/bin/bash\n" +
		`for a in "$@"; do case $a in --output=github=*) echo "::error::ours" >"${a#*=github=}";; esac; done` +
		"\necho '::error::stranger'; echo '::error::stranger' >&2; printf unended; exit 7\nEND\nchmod +x \"$5\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(stub), 0o755)) //nolint:gosec // it is run
	tokens := map[string]bool{}
	for range 2 {
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
		cmd.Env = []string{
			"PATH=" + dir + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "FWP_SOURCE=.", "FWP_ARGS=--quick\n# a\n",
			"FWP_REPORTS=", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
		}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", out)
		assert.Equal(t, 7, exit.ExitCode(), "%s", out)
		parts := regexp.MustCompile(`\A::stop-commands::([0-9a-f]{32})\n(::error::stranger\n){2}unended\n` +
			`::([0-9a-f]{32})::\n::error::ours\n\z`).FindStringSubmatch(string(out))
		require.NotNil(t, parts, "%s", out)
		assert.Equal(t, parts[1], parts[3])
		assert.False(t, tokens[parts[1]])
		tokens[parts[1]] = true
	}
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	require.NoError(t, err)
	assert.Equal(t, "exit-code=7\nexit-code=7\n", string(output))
}

// What names the server in the environment of a workflow becomes a flag, unless the arguments or a file name one.
func TestTheActionNamesItsTarget(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the action's script is one of bash")
	}
	source, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	_, script, ok := strings.Cut(string(source), "run: |\n")
	require.True(t, ok)
	const url, provider = "FAKTORY_URL=tcp://a", "FAKTORY_PROVIDER=MINE"
	for name, test := range map[string]struct {
		args, file, want string
		env              []string
	}{
		"none":           {},
		"FAKTORY_URL":    {env: []string{url}, want: "--url=tcp://a\n"},
		"a provider":     {env: []string{url, provider, "MINE=tcp://b"}, want: "--url=tcp://b\n"},
		"an unset one":   {env: []string{url, provider}},
		"an argument":    {args: "--start=x", env: []string{url}, want: "--start=x\n"},
		"fwpcheck.yaml":  {file: "fwpcheck.yaml", env: []string{url}},
		"beside a level": {args: "--quick", env: []string{url}, want: "--quick\n--url=tcp://a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			stub := "#!/bin/bash\ncat >\"$5\" <<'END'\n#!/bin/bash\nprintf '%s\\n' \"$@\" >\"$RUNNER_TEMP/args\"\nEND\n" +
				"chmod +x \"$5\"\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(stub), 0o755)) //nolint:gosec // it is run
			if test.file != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, test.file), nil, 0o600))
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
			cmd.Dir = dir
			cmd.Env = append([]string{
				"PATH=" + dir + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "FWP_SOURCE=.", "FWP_ARGS=" + test.args,
				"FWP_REPORTS=", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
			}, test.env...)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			args, err := os.ReadFile(filepath.Join(dir, "args"))
			require.NoError(t, err)
			assert.Equal(t, "run\n"+test.want+"--output=github="+dir+"/fwpcheck.annotations\n", string(args))
		})
	}
}
