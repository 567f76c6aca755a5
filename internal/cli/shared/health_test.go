package shared

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The listening socket is 71, and 72 is one of a connection.
const sockets = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1CFB 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65532        0 71 1 0 100 0 0 10 0
   1: 0100007F:1CFB 0100007F:8B2E 01 00000000:00000000 00:00000000 00000000 65532        0 72 1 0 100 0 0 10 0
`

func TestHealth(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		program, words, file string // the program, its arguments and a file that it has open
		want                 []string
	}{
		"it serves": {"fwpcheck", "fwpcheck\x00serve\x00--port\x007421\x00", "socket:[71]", nil},
		"it does not listen": {"fwpcheck", "fwpcheck\x00serve\x00", "socket:[72]",
			[]string{"process 7 (fwpcheck serve)"}},
		"with a flag in front": {"fwpcheck", "./fwpcheck\x00--config\x00x\x00serve\x00", "pipe:[71]",
			[]string{"process 7 (fwpcheck serve)"}},
		"another command":        {"fwpcheck", "fwpcheck\x00run\x00--check\x00serve\x00", "socket:[72]", nil},
		"a process has ended":    {"fwpcheck", "", "socket:[72]", nil},
		"another program serves": {"other", "fwpcheck\x00serve\x00", "socket:[72]", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proc := t.TempDir()
			write := func(file, text string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(proc, file)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(proc, file), []byte(text), 0o600))
			}
			link := func(file, to string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(proc, file)), 0o700))
				require.NoError(t, os.Symlink(to, filepath.Join(proc, file)))
			}
			write("fwpcheck", "")
			write("other", "")
			link("self/exe", filepath.Join(proc, "fwpcheck"))
			link("7/exe", filepath.Join(proc, test.program))
			write("7/cmdline", test.words)
			write("7/net/tcp", sockets)
			link("7/fd/3", test.file)
			root := &cobra.Command{Use: "fwpcheck"}
			root.PersistentFlags().String("config", "", "")
			root.AddCommand(&cobra.Command{Use: "serve"}, &cobra.Command{Use: "run"})
			got, err := silentServers(proc, root)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
	_, err := silentServers(t.TempDir(), &cobra.Command{})
	assert.Error(t, err, "there is no /proc")
}
