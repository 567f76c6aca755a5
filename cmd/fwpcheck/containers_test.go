//go:build linux && !race

package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// containerfile is the image of the test: the embedded server, and nothing else.
const containerfile = `FROM scratch
COPY fwpcheck /
ENTRYPOINT ["/fwpcheck", "serve", "--listen", "0.0.0.0", "--port", "7419", "--dir", "/data"]
`

// containerLines are the lines about containers in docs/checking-a-server.md by how they begin: what makes them shorter here,
// and what they must print.
var containerLines = []struct{ begin, long, short, flags, want string }{
	{"fwpcheck run ", "", "", " --check restart/killed --check hello/hi-version", "all well: "},
	{"fwpcheck upgrade ", "", "", " --quick --large 50 --no-rollback", "It is not the same server as before"},
	{"fwpbench run ", "5m --disrupt kill,kill-server,restart,pause --disrupt-every 30s",
		"45s --disrupt kill,kill-server,restart,pause --disrupt-every 9s", "", "kill-server for "},
}

// TestContainers plays the lines for a server in a container that docs/checking-a-server.md has, with a container
// engine: FWP_CONTAINERS is docker or podman. Those of compose are played with docker, if docker-compose is there.
func TestContainers(t *testing.T) {
	t.Parallel()
	engine := os.Getenv("FWP_CONTAINERS")
	if engine == "" {
		t.Skip("FWP_CONTAINERS is not docker or podman: no server in a container is tested")
	}
	_, noCompose := exec.LookPath("docker-compose")
	folder, image := t.TempDir(), "fwp-test-"+strings.ToLower(filepath.Base(t.TempDir()))
	run := func(words ...string) string {
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "DOCKER_BUILDKIT=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	run("go", "build", "-o", folder, ".", "../fwpbench")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Containerfile"), []byte(containerfile), 0o600))
	run(engine, "build", "-q", "-t", image, "-f", filepath.Join(folder, "Containerfile"), folder)
	t.Cleanup(func() { _ = exec.Command(engine, "rmi", "-f", image).Run() }) //nolint:noctx // the test is over
	page := "../../docs/checking-a-server.md"
	files := map[string][]byte{"up.sh": blockOf(t, page, "#!/bin/sh")}
	for _, name := range []string{"compose.yaml", "old.yaml", "new.yaml"} {
		files[name] = bytes.ReplaceAll(blockOf(t, page, "services:"), []byte("my-image"), []byte(image))
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o700)) //nolint:gosec // one is a script
	}
	replacer := strings.NewReplacer("my-image:1", image, "my-image:2", image, "my-image", image, "docker run",
		map[string]string{"docker": "docker run", "podman": "podman run --replace"}[engine], "docker ", engine+" ")
	lines := 0
	for _, d := range commandsOf(t, page) {
		compose := strings.Contains(d.command, "docker-compose")
		if !compose && !strings.Contains(d.command, "docker run") || compose && (engine != "docker" || noCompose != nil) {
			continue
		}
		lines++
		for _, l := range containerLines {
			if strings.HasPrefix(d.command, l.begin) {
				line := strings.Replace(replacer.Replace(d.command), l.long, l.short, 1) + l.flags + " --no-progress"
				out, _ := exec.CommandContext(t.Context(), "sh", "-c", "cd "+folder+"; exec ./"+line).CombinedOutput()
				assert.Contains(t, string(out), l.want, line)
				assert.NotContains(t, string(out), "had no visible effect", line)
			}
		}
	}
	assert.Positive(t, lines)
	all := "--all" // podman may leave a dead one in spite of --rm
	if engine == "podman" {
		all = "--all=false"
	}
	containers := run(engine, "ps", all, "-q", "--filter", "ancestor="+image)
	assert.Empty(t, strings.TrimSpace(containers), "containers are left")
}
