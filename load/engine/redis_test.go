package engine_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// redis starts a redis-server of the benchmark's own and returns its port.
func redis(b *testing.B) string {
	b.Helper()
	for _, program := range []string{"redis-server", "redis-benchmark"} {
		if _, err := exec.LookPath(program); err != nil {
			b.Skipf("%s is not on PATH; this benchmark compares with it", program)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // does not wait
	require.NoError(b, err)
	_, port, err := net.SplitHostPort(free.Addr().String())
	require.NoError(b, err)
	free.Close()
	server := exec.CommandContext(b.Context(), "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", b.TempDir(),
		"--save", "", "--appendonly", "no", "--maxclients", "20000")
	said, err := server.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, server.Start())
	b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // tells that it was killed
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, said) }() // until it ends
			return port
		}
	}
	b.Fatal("redis-server ended before it was ready")
	return ""
}

// processor runs a program and returns the processor time, user and system, that it has
// taken from its start to its end.
func processor(b *testing.B, command *exec.Cmd) time.Duration {
	b.Helper()
	output, err := command.CombinedOutput()
	require.NoError(b, err, "%s", output)
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}

// generator runs the engine in a process of its own.
func generator(b *testing.B, o order) (time.Duration, measured) {
	b.Helper()
	o.Answer = filepath.Join(b.TempDir(), "measured")
	job, err := json.Marshal(o)
	require.NoError(b, err)
	self, err := os.Executable()
	require.NoError(b, err)
	command := exec.CommandContext(b.Context(), self)
	command.Env = append(os.Environ(), generatorJob+"="+string(job))
	used := processor(b, command)
	answer, err := os.ReadFile(o.Answer)
	require.NoError(b, err)
	var m measured
	require.NoError(b, json.Unmarshal(answer, &m))
	return used, m
}

// BenchmarkPing compares the processor time that each engine and redis-benchmark take for
// one PING and its reply, with one PING under way on each connection. All drive the same
// server, in turns; an iteration is one turn of each.
func BenchmarkPing(b *testing.B) {
	port := redis(b)
	const pings = 400_000
	for _, connections := range []int{50, 1000, 5000} {
		b.Run(fmt.Sprintf("connections=%d", connections), func(b *testing.B) {
			var theirs []float64
			ratios, ours, rates := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
			for b.Loop() {
				other := processor(b, exec.CommandContext(b.Context(), "redis-benchmark", "-p", port, "-q", "-P", "1",
					"-t", "ping_inline", "-c", strconv.Itoa(connections), "-n", strconv.Itoa(pings)))
				theirs = append(theirs, other.Seconds()*1e6/pings)
				for name := range builders(b) {
					own, m := generator(b, order{Address: "127.0.0.1:" + port, Connections: connections, Pings: pings,
						Epoll: name == "epoll"})
					ratios[name] = append(ratios[name], own.Seconds()/other.Seconds())
					ours[name] = append(ours[name], own.Seconds()*1e6/pings)
					rates[name] = append(rates[name], pings/m.Took.Seconds())
				}
			}
			b.ReportMetric(0, "ns/op") // a turn takes as long as the server needs
			b.ReportMetric(median(theirs), "us-cpu/ping(redis-benchmark)")
			for name := range ratios {
				b.Logf("%s: ratios %.2f", name, ratios[name])
				b.ReportMetric(median(ratios[name]), "ratio("+name+")")
				b.ReportMetric(median(ours[name]), "us-cpu/ping("+name+")")
				b.ReportMetric(median(rates[name]), "pings/s("+name+")")
			}
		})
	}
}

// BenchmarkIdleMemory tells what a connection on which nothing happens takes in the
// generator: heap and stack in use, with the server in a process of its own. Each
// connection has sent something before, so that its stack is as large as it gets.
func BenchmarkIdleMemory(b *testing.B) {
	port := redis(b)
	const connections = 10_000
	for name := range builders(b) {
		b.Run(name, func(b *testing.B) {
			var inUse, resident []float64
			for b.Loop() {
				_, m := generator(b, order{Address: "127.0.0.1:" + port, Connections: connections,
					Pings: 10 * connections, Memory: true, Epoll: name == "epoll"})
				inUse = append(inUse, float64(m.HeapAndStack)/connections/1024)
				resident = append(resident, float64(m.Resident)/connections/1024)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(inUse), "KiB/connection")
			b.ReportMetric(median(resident), "KiB-resident/connection")
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
