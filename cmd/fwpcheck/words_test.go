//go:build linux && !race

package main_test

import (
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/bench"
	"github.com/fwpsuite/fwp/internal/cli/check"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// internalWords is what only programmers know: functions, types and errors of the Go library and of others, which name no place
// in what the user wrote, and nothing to do.
var internalWords = regexp.MustCompile(`strconv\.|EOF|end of JSON|json: (cannot|unknown|invalid|unsupported)|` +
	`cannot unmarshal|Go struct|invalid character|invalid syntax|(listen|dial|read|write) tcp |(bind|connect|accept4?): |fakes: |lookup .* on|` +
	`goroutine|parse "|parsing |pflag|cobra|%!|internal error|yaml: (line|unmarshal)|illegal base64|` +
	`i/o timeout|context (canceled|dead)`)

// commandLines has the commands of both programs that take flags or files, each with arguments with which it ends soon if all
// others are right. Nothing listens at 127.0.0.1:1.
var commandLines = map[string]string{
	"fwpcheck run":      "--url tcp://127.0.0.1:1 --timeout 1s",
	"fwpcheck explore":  "--url tcp://127.0.0.1:1 --time 1s",
	"fwpcheck compare":  "tcp://127.0.0.1:1 tcp://127.0.0.1:1 --time 1s",
	"fwpcheck recheck":  "nosuch.json",
	"fwpcheck site":     "nosuch.json",
	"fwpcheck lint":     "nosuch.fwp",
	"fwpcheck fmt":      "nosuch.fwp",
	"fwpcheck list":     "",
	"fwpcheck explain":  "FWP-HELLO-01",
	"fwpcheck wait":     "--url tcp://127.0.0.1:1 --timeout 1ms",
	"fwpcheck serve":    "--bug nosuch",
	"fwpcheck worker":   "--check nosuch -- false",
	"fwpcheck client":   "--check nosuch -- false",
	"fwpcheck record":   "--upstream tcp://127.0.0.1:1",
	"fwpcheck shrink":   "nosuch.fwp",
	"fwpcheck clean":    "--url tcp://127.0.0.1:1 --timeout 1s",
	"fwpbench run":      "--url tcp://127.0.0.1:1 --duration 1s --warmup 0s",
	"fwpbench compare":  "--run tcp://127.0.0.1:1 tcp://127.0.0.1:1",
	"fwpbench capacity": "--url tcp://127.0.0.1:1",
	"fwpbench merge":    "nosuch.hlog",
	"fwpcheck upgrade":  "--bug nosuch",
	"fwpcheck init":     "--ci nosuch",
	"fwpbench worker":   "-- false",
}

// runLine runs a command in this process, and returns its exit code and all that it prints.
func runLine(line string, args ...string) (code int, out string) {
	var b lockedBuilder
	return runLineTo(&b, &b, line, args...), b.String()
}

// runLineTo is played with another standard output and error.
func runLineTo(out, errs io.Writer, line string, args ...string) (code int) {
	name, first, _ := strings.Cut(line, " ")
	return map[string]func(shared.Process) int{"fwpcheck": check.Main, "fwpbench": bench.Main}[name](shared.Process{
		Args: append(strings.Fields(first), args...), In: strings.NewReader(""), Out: out, Err: errs,
		LookupEnv: func(string) (string, bool) { return "", false },
	})
}

// lockedBuilder is a strings.Builder for several goroutines.
type lockedBuilder struct {
	mu sync.Mutex
	strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

var flagPattern = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)

// TestFlagsWithWrongValues gives each flag of each command what it is not for. Some of it are names of files that are
// written. Without FWP_SLOW=1 it plays a sample.
func TestFlagsWithWrongValues(t *testing.T) {
	t.Chdir(t.TempDir())
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	values := []string{"", "x", "-1", "99999999999999999999", "1e999", "\x00", "/nosuch/x", "[", "tcp://[", "a=b", "5/x",
		"/dev/null", "127.0.0.1:99999", empty}
	i := 0
	for _, line := range slices.Sorted(maps.Keys(commandLines)) {
		_, help := runLine(line, "--help", "all")
		for _, flag := range flagPattern.FindAllStringSubmatch(help, -1) {
			for _, value := range values {
				if i++; !golden.IsSlow() && i%19 != 0 {
					continue
				}
				args := append([]string{"--" + flag[1] + "=" + value}, strings.Fields(commandLines[line])...)
				_, out := runLine(line, args...)
				assert.NotRegexp(t, internalWords, out, "%s %q", line, args)
			}
		}
	}
}

// How the files of three formats begin.
const (
	report  = "{\n  \"schema\": \"fwpcheck/3\",\n"
	history = `{"fwp_history":1,"events":1,"drained":true,"limits":{"early":1}}` + "\n"
	steps   = `{"version":2,"steps":[`
)

// wrongFiles are files of each format that end too early, or have a value of another kind, a word that is none, or more
// than there may be.
var wrongFiles = map[string]string{
	"empty":        "",
	"cut.json":     report + `"checks": [{"id": "a`,
	"number.json":  report + `"checks": 5}`,
	"date.json":    report + `"started": "yesterday"}`,
	"verdict.json": report + `"checks": [{"verdict": "maybe"}]}`,
	"history":      history + "{\"op\":\n",
	"time.history": history + `{"at":"x"}` + "\n",
	"cut.html":     "<!DOCTYPE html><script type=\"application/json\">{",
	"script.fwp":   "C: PUSH {\nS: ${\"a\":}\nsilence 99999999999999999999s\nS: /[/\n",
	"number.fwp":   "repeat 99999999999999999999\n",
	"load.yaml":    "rate: 1e999/s\nstages: 5\nduration: 5x\n",
	"list.yaml":    "rate: [\n",
	"steps.json":   steps + `{"do":{}}]}`,
	"known.expect": "a/b FWP-X fails maybe\n",
	"ca.pem":       "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	"a.hlog":       "#[Histogram log format version 1.3]\nTag=push.response,0.000,1.000,1.0,HISTFAAA//8=\nTag=x,0,1,1,!\n",
}

// TestFilesWithWrongContents has each command that reads a file read each of these.
func TestFilesWithWrongContents(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, good := runLine("fwpcheck run --check info/* --format json --no-progress")
	_, good, _ = strings.Cut(good, "\n") // which server
	require.NoError(t, os.WriteFile(filepath.Join(folder, "good.json"), []byte(good), 0o600))
	for name, text := range wrongFiles {
		name = filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		for _, line := range readers {
			line = strings.NewReplacer("FILE", name, "good.json", filepath.Join(folder, "good.json")).Replace(line)
			code, out := runLine(line)
			assert.Contains(t, []int{0, 2, 3, 4}, code, "%s: %s", line, out)
			assert.NotRegexp(t, internalWords, out, line)
		}
	}
}

// TestWordsAboutThisMachine: a port that is taken, and a disk that is full.
func TestWordsAboutThisMachine(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	for line, codes := range map[string][]int{
		"fwpcheck serve --port " + port:                                                 {2},
		"fwpcheck serve --web-port " + port:                                             {2},
		"fwpcheck serve --protocol workq --port " + port:                                {2},
		"fwpcheck serve --protocol emqp --port " + port:                                 {2},
		"fwpcheck wait --timeout 1ms --url tcp://nosuch.invalid":                        {4},
		"fwpcheck wait --timeout 100ms --url tcp+tls://127.0.0.1:" + port:               {4},
		"fwpcheck run --check ack/accepted -o json=/dev/full":                           {5},
		"fwpbench run --duration 50ms --warmup 0s --hlog /dev/full --history /dev/full": {5},
	} {
		code, out := runLine(line)
		assert.Contains(t, codes, code, "%s: %s", line, out)
		assert.NotRegexp(t, internalWords, out, line)
	}
}

// TestHelpIsAboutItsCommand: the first word is its name, and no flag speaks of a URL that the command does not take.
func TestHelpIsAboutItsCommand(t *testing.T) {
	t.Parallel()
	for line := range commandLines {
		for _, name := range []string{line, strings.Fields(line)[0]} {
			words := strings.Fields(name)
			_, help := runLine(name, "--help")
			assert.Equal(t, words[len(words)-1], strings.Fields(help)[0], name)
			assert.NotRegexp(t, internalWords, help, name)
			if strings.Contains(help, "that of the URL") {
				assert.Regexp(t, "--url |compare tcp://", help, name)
			}
		}
	}
}

// TestFileHasTheCertificates: each command that takes the server from the top of fwpcheck.yaml takes its certificates
// from there, too.
func TestFileHasTheCertificates(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "server.yaml")
	for _, line := range []string{"fwpcheck run", "fwpcheck explore", "fwpcheck clean", "fwpcheck wait"} {
		_, help := runLine(line, "--help", "all")
		for _, flag := range regexp.MustCompile(`--tls-[a-z-]+`).FindAllString(help, -1) {
			require.NoError(t, os.WriteFile(file, []byte("url: tcp://127.0.0.1:1\n"+flag[2:]+": true\n"), 0o600))
			_, out := runLine(line, "--timeout", "1ms", "--config", file)
			assert.Contains(t, out, "sets --url, "+flag+" (", line)
		}
	}
}

// TestFullOutput: a command whose standard output cannot be written never ends well.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	lines := []string{"fwpbench presets", "fwpbench metrics", "fwpcheck list", "fwpcheck explain FWP-HELLO-01"}
	for line := range commandLines {
		lines = append(lines, line+" --help", "fwp"+strings.Fields(line)[0][3:]+" help "+strings.Fields(line)[1])
	}
	for _, name := range []string{"fwpcheck", "fwpbench"} {
		for _, args := range []string{"--help", "--version", "version", "help", "completion bash", "completion --help"} {
			lines = append(lines, name+" "+args)
		}
	}
	for _, line := range lines {
		device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		var messages lockedBuilder
		assert.Equal(t, 5, runLineTo(device, &messages, line), line)
		assert.Contains(t, messages.String(), "no space left on device", line)
		require.NoError(t, device.Close())
	}
}

// TestUnwritableFiles: a folder where a file is wanted, a file where a folder is, a place that cannot exist and no name
// at all are refused before any work.
func TestUnwritableFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	script := filepath.Join(folder, "a.fwp")
	require.NoError(t, os.WriteFile(script, []byte("connect as consumer\n"), 0o600))
	for _, line := range []string{
		"fwpcheck record --upstream tcp://127.0.0.1:1 --output=FILE", "fwpcheck shrink SCRIPT --output=FILE",
		"fwpcheck serve --tls-ca-out=FILE", "fwpcheck run --output=json=FILE", "fwpcheck run --update-expect --expect=FILE",
		"fwpcheck explore --save=FOLDER", "fwpbench run --hlog=FILE", "fwpbench run --hgrm=FOLDER", "fwpbench run --csv=FILE",
		"fwpbench run --history=FILE", "fwpbench compare SCRIPT SCRIPT --benchfmt=FILE",
	} {
		for _, name := range [][2]string{{folder, script}, {filepath.Join(script, "x"), filepath.Join(script, "x")}, {}} {
			line := strings.NewReplacer("FILE", name[0], "FOLDER", name[1], "SCRIPT", script).Replace(line)
			code, out := runLine(line)
			assert.Equal(t, 2, code, "%s: %s", line, out)
			assert.NotRegexp(t, internalWords, out, line)
		}
	}
}
