package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// commandRooms are the rooms with the commands of a program, each with the files that several of its commands share, by
// the first word of their names, and the commands that are in the file of another one.
var commandRooms = map[string]struct {
	shared     string
	exceptions map[string]string
}{
	"internal/cli/check": {
		"check doc expect hostile options progress scripts testbed", map[string]string{"client": "worker"},
	},
	"internal/cli/bench": {
		"bench doc embedded engine hostile live options process protocol",
		map[string]string{"presets": "bench", "metrics": "bench"},
	},
}

// fileLimit is how many files a room has at most, with its tests.
const fileLimit = 40

// use finds where a command is built, and its name.
var use = regexp.MustCompile(`Use: +"([a-z]+)`)

// TestACommandAFile: a command begins in the file of its name, and every other file begins with the name of a command,
// or is one that several of them share.
func TestACommandAFile(t *testing.T) {
	t.Parallel()
	for room, law := range commandRooms {
		names, err := filepath.Glob("../../../" + room + "/*.go")
		require.NoError(t, err)
		assert.LessOrEqual(t, len(names), fileLimit, room)
		words := map[string]bool{}
		for word := range strings.FieldsSeq(law.shared) {
			words[word] = true
		}
		commands := map[string]string{} // the files that they are in
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			file := strings.TrimSuffix(filepath.Base(name), ".go")
			for _, match := range use.FindAllStringSubmatch(string(text), -1) {
				commands[match[1]] = file
			}
		}
		for command, file := range commands {
			words[command] = true
			want := command
			if other := law.exceptions[command]; other != "" {
				want = other
			}
			if command != "fwpcheck" && command != "fwpbench" {
				assert.Equal(t, want, file, "%s: the file of the command %s", room, command)
			}
		}
		for _, name := range names {
			first, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".go"), "_")
			assert.True(t, words[first], "%s: %s is no command of %v", room, filepath.Base(name),
				slices.Sorted(maps.Keys(words)))
		}
	}
}
