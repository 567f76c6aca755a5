//go:build linux && !race

package main_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// readers are the commands that read a file, as arguments; FILE is its place, and good.json a report that is in order.
var readers = map[string]string{
	"run":       "fwpcheck run FILE",
	"expect":    "fwpcheck run --check hello/* --expect FILE",
	"recheck":   "fwpcheck recheck FILE",
	"known":     "fwpcheck recheck good.json --expect FILE",
	"compare":   "fwpcheck compare good.json FILE",
	"site":      "fwpcheck site good.json FILE -o out",
	"lint":      "fwpcheck lint FILE",
	"fmt":       "fwpcheck fmt FILE",
	"shrink":    "fwpcheck shrink FILE",
	"replay":    "fwpcheck explore --replay FILE",
	"authority": "fwpcheck wait --url tcp+tls://127.0.0.1:1 --timeout 1ms --tls-ca FILE",
	"password":  "fwpcheck wait --url tcp://127.0.0.1:1 --timeout 1ms --password-file FILE",
	"merge":     "fwpbench merge FILE",
	"workload":  "fwpbench run FILE --url tcp://127.0.0.1:1",
}

// file is what a hostile file consists of: a beginning, a text that is repeated, and an end.
type file struct {
	first, repeat string
	times         int
	last          string
}

const mebi = 1 << 20

// hostileFiles are files that are wrong on purpose. None is what any command expects.
var hostileFiles = map[string]file{
	"a line of 100 MB":               {first: "title: x\n\nC: PUSH ", repeat: "A", times: 100 * mebi, last: "\n"},
	"200 MB of lines":                {repeat: "C: FETCH a\n", times: 200 * mebi / 11},
	"values nested 200,000 deep":     {first: "C: PUSH ", repeat: "[", times: 200_000, last: "\nnosuch\n"},
	"invalid UTF-8":                  {repeat: "\xff\xfe\xc3\x28\n", times: 1000},
	"escapes":                        {repeat: "\x1b[2J\x1b]0;title\a\u202e\u0000\n", times: 100},
	"NUL":                            {repeat: "\x00", times: mebi},
	"gzip, cut":                      {first: "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", repeat: "\xec\xbd", times: 40_000},
	"a report nested 200,000 deep":   {first: report + `"a":`, repeat: "[", times: 200_000},
	"a report with a text of 100 MB": {first: report + `"a":"`, repeat: "A", times: 100 * mebi, last: `"}`},
	"a report of 10,000,000 checks":  {first: report + `"checks":[{}`, repeat: ",{}", times: 10_000_000, last: "]}"},
	"a report of 50,000 clauses":     {first: report + `"checks":[{"clauses":[{}`, repeat: `,{}`, times: 50_000, last: "]}]}"},
	"a history's line of 100 MB":     {first: history + `{"body":"`, repeat: "A", times: 100 * mebi, last: "\"}\n"},
	"a history nested 200,000 deep":  {first: history + `{"body":`, repeat: "[", times: 200_000, last: "\n"},
	"2,000,000 steps":                {first: steps + "{}", repeat: ",{}", times: 2_000_000, last: "]}"},
	"70,000 keys":                    {repeat: "some key: 1\n", times: 70_000},
	"70,000 known findings":          {repeat: "a/b FWP-X fails\n", times: 60_000},
	"90,000 mistakes":                {first: "title: x\n\n", repeat: "nosuch\n", times: 90_000},
	"/dev/zero":                      {},
	"a folder":                       {},
	"a pipe without a writer":        {},
}

// TestHostileFiles has each command that reads a file read each of these. It is a mistake of the user's (exit code 2),
// whose message is short and moves no cursor, within 300 MB of memory. With -v it prints what each took. Without
// FWP_SLOW=1 it plays a sample.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	good, err := command(t, folder, "fwpcheck run --check info/* --format json").Output()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "good.json"), good, 0o600))
	i := 0
	for _, shape := range slices.Sorted(maps.Keys(hostileFiles)) {
		name := ""
		for _, reader := range slices.Sorted(maps.Keys(readers)) {
			if i++; !golden.IsSlow() && i%29 != 20 { // each of these reads the file as what it is not, and one is large
				continue
			}
			if name == "" {
				name = hostileFiles[shape].create(t, folder, shape)
			}
			t.Run(shape+"/"+reader, func(t *testing.T) {
				t.Parallel()
				readHostile(t, folder, readers[reader], name)
			})
		}
	}
}

func readHostile(t *testing.T, folder, line, name string) {
	t.Helper()
	cmd := command(t, folder, line)
	for i, arg := range cmd.Args {
		if arg == "FILE" {
			cmd.Args[i] = name
		}
	}
	status := filepath.Join(t.TempDir(), "status")
	cmd.Env = append(os.Environ(), statusVariable+"="+status)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	_ = cmd.Run() // its state has what matters
	code := cmd.ProcessState.ExitCode()
	peak := peakMemory(t, status)
	t.Logf("exit code %d, %.1f s, %d MB", code, time.Since(start).Seconds(), peak)
	assert.Equal(t, 2, code, "%.1000s", out.String())
	assert.LessOrEqual(t, peak, 300, "megabytes")
	assert.LessOrEqual(t, out.Len(), 64<<10)
	for _, r := range out.String() {
		require.False(t, r != '\n' && r < ' ' || r == 0x7f || r == '\u202e', "%q", out.String())
	}
}

// peakMemory returns the most that a process had resident, in megabytes, from its /proc/self/status. What the kernel
// tells of a process that has ended includes the memory of the one that made it.
func peakMemory(t *testing.T, status string) (megabytes int) {
	t.Helper()
	text, err := os.ReadFile(status)
	require.NoError(t, err, "the command did not end by itself")
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	_, err = fmt.Sscanf(peak, "%d kB", &megabytes)
	require.NoError(t, err)
	return megabytes >> 10
}

// create makes the file and returns its name.
func (f file) create(t *testing.T, folder, shape string) (name string) {
	t.Helper()
	name = filepath.Join(folder, shape)
	switch shape {
	case "/dev/zero":
		return shape
	case "a folder":
		require.NoError(t, os.Mkdir(name, 0o700))
		return name
	case "a pipe without a writer":
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		return name
	}
	to, err := os.Create(name) //nolint:gosec // in a folder of the test's
	require.NoError(t, err)
	_, err = io.WriteString(to, f.first)
	require.NoError(t, err)
	block := strings.Repeat(f.repeat, max(1, min(f.times, mebi/len(f.repeat))))
	for rest := f.times * len(f.repeat); rest > 0; rest -= len(block) {
		_, err = io.WriteString(to, block[:min(rest, len(block))])
		require.NoError(t, err)
	}
	_, err = io.WriteString(to, f.last)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return name
}
