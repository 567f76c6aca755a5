package engine_test

import (
	"bufio"
	"encoding/csv"
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
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // does not wait
	require.NoError(b, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(b, err)
	listener.Close()
	server := exec.CommandContext(b.Context(), "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", b.TempDir(),
		"--save", "", "--appendonly", "no", "--maxclients", "20000")
	stdout, err := server.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, server.Start())
	b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // tells that it was killed
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, stdout) }() // until it ends
			return port
		}
	}
	b.Fatal("redis-server ended before it was ready")
	return ""
}

// processor runs a program and returns the processor time, user and system, that it has
// taken from its start to its end, and what it has printed.
func processor(b *testing.B, command *exec.Cmd) (cpu time.Duration, output string) {
	b.Helper()
	printed, err := command.CombinedOutput()
	require.NoError(b, err, "%s", printed)
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime(), string(printed)
}

// p99 returns the 99th percentile of the latency that redis-benchmark prints with --csv.
func p99(b *testing.B, output string) time.Duration {
	b.Helper()
	rows, err := csv.NewReader(strings.NewReader(output)).ReadAll()
	require.NoError(b, err)
	require.Len(b, rows, 2)
	milliseconds, err := strconv.ParseFloat(rows[1][slices.Index(rows[0], "p99_latency_ms")], 64)
	require.NoError(b, err)
	return time.Duration(milliseconds * 1e6)
}

// generator runs the engine in a process of its own.
func generator(b *testing.B, o order) (time.Duration, measurement) {
	b.Helper()
	o.Answer = filepath.Join(b.TempDir(), "measured")
	job, err := json.Marshal(o)
	require.NoError(b, err)
	self, err := os.Executable()
	require.NoError(b, err)
	command := exec.CommandContext(b.Context(), self)
	command.Env = append(os.Environ(), generatorJob+"="+string(job))
	cpu, _ := processor(b, command)
	answer, err := os.ReadFile(o.Answer)
	require.NoError(b, err)
	var m measurement
	require.NoError(b, json.Unmarshal(answer, &m))
	return cpu, m
}

// BenchmarkPing compares the processor time that each engine and redis-benchmark take for
// one PING and its reply, with one PING under way on each connection, and the 99th percentile
// of its latency; and the former for the PINGs that load/client sends with all that it does for a job. All times are recorded. All drive the same server, in turns; an iteration is
// one turn of each.
func BenchmarkPing(b *testing.B) {
	port := redis(b)
	const pings = 400_000
	for _, connections := range []int{50, 1000, 5000} {
		b.Run(fmt.Sprintf("connections=%d", connections), func(b *testing.B) {
			figures := figures{}
			for b.Loop() {
				redisCPU, output := processor(b, exec.CommandContext(b.Context(), "redis-benchmark", "-p", port, "--csv",
					"-P", "1", "-t", "ping_inline", "-c", strconv.Itoa(connections), "-n", strconv.Itoa(pings)))
				figures.add("us-cpu/ping(redis-benchmark)", redisCPU.Seconds()*1e6/pings)
				for name := range builders(b) {
					engineCPU, m := generator(b, order{Address: "127.0.0.1:" + port, Connections: connections, Pings: pings,
						Epoll: name == "epoll"})
					figures.add("ratio("+name+")", engineCPU.Seconds()/redisCPU.Seconds())
					figures.add("us-cpu/ping("+name+")", engineCPU.Seconds()*1e6/pings)
					figures.add("pings/s("+name+")", pings/m.Elapsed.Seconds())
					figures.add("p99-ratio("+name+")", m.Service.P99.Seconds()/p99(b, output).Seconds())
				}
				clientCPU, _ := generator(b, order{Address: "127.0.0.1:" + port, Connections: connections, Pings: pings,
					Epoll: true, Client: true})
				figures.add("ratio(client)", clientCPU.Seconds()/redisCPU.Seconds())
				figures.add("us-cpu/ping(client)", clientCPU.Seconds()*1e6/pings)
			}
			figures.report(b)
		})
	}
}

// BenchmarkFixedRate compares what each engine and goroutines that sleep report of 5,000 PINGs a
// second on 50 connections with the service time of one connection that is idle otherwise, in turns.
func BenchmarkFixedRate(b *testing.B) {
	port := redis(b)
	const rate, seconds = 5000, 10
	fixed := order{Address: "127.0.0.1:" + port, Connections: 50, Rate: rate, Pings: seconds * rate}
	for name := range builders(b) {
		b.Run(name, func(b *testing.B) {
			figures := figures{}
			for b.Loop() {
				loaded, idle, sleeping := fixed, fixed, fixed
				loaded.Epoll, idle.Epoll = name == "epoll", name == "epoll"
				idle.Connections, idle.Rate, idle.Pings = 1, rate/50, seconds*rate/50
				sleeping.UseSleepers = true
				_, idleResult := generator(b, idle)
				_, sleepResult := generator(b, sleeping)
				_, loadResult := generator(b, loaded)
				figures.add("us-response-p50", float64(loadResult.Response.P50)/1e3)
				figures.add("ratio(idle)", loadResult.Response.P50.Seconds()/idleResult.Service.P50.Seconds())
				figures.add("ratio(sleeping)", loadResult.Response.P50.Seconds()/sleepResult.Response.P50.Seconds())
				figures.add("us-late-p99", float64(loadResult.Lateness.P99)/1e3)
				figures.add("%-of-rate", 100*float64(fixed.Pings-1)/rate/loadResult.Span.Seconds())
			}
			figures.report(b)
		})
	}
}

// BenchmarkIdleMemory tells what a connection on which nothing happens takes in the
// generator: heap and stack in use, with the server in a process of its own. Each
// connection has sent something before, so that its stack is as large as it gets. Both processes
// need as many descriptors.
func BenchmarkIdleMemory(b *testing.B) {
	port := redis(b)
	const connections = 19_000
	for name := range builders(b) {
		b.Run(name, func(b *testing.B) {
			figures := figures{}
			for b.Loop() {
				_, m := generator(b, order{Address: "127.0.0.1:" + port, Connections: connections,
					Pings: 10 * connections, Memory: true, Epoll: name == "epoll"})
				figures.add("KiB/connection", float64(m.HeapAndStack)/connections/1024)
				figures.add("KiB-resident/connection", float64(m.Resident)/connections/1024)
			}
			figures.report(b)
		})
	}
}

// figures are those of each turn, by unit.
type figures map[string][]float64

func (f figures) add(unit string, value float64) { f[unit] = append(f[unit], value) }

// report reports the median of each figure, and logs all.
func (f figures) report(b *testing.B) {
	b.ReportMetric(0, "ns/op") // a turn takes as long as the server needs
	for unit, values := range f {
		b.ReportMetric(median(values), unit)
		b.Logf("%s: %.3g", unit, values)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
