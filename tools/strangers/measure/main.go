// Measure has fwpcheck judge the strangers of one program, and says which it found, and under which clause.
//
//	go build -o bin/ ./fwpserver ./measure
//	bin/measure --fwpcheck PATH --stranger bin/fwpserver --mode quick
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// row is what a program lists of a stranger.
type row struct {
	Kind    string   `json:"kind"` // mutant or variant
	Number  int      `json:"number"`
	Clauses []string `json:"clauses"` // of a mutant: those that are right
}

// outcome is what fwpcheck said of one.
type outcome struct {
	row
	exit   int
	broken []string // clauses
	errors string
}

type options struct {
	fwpcheck, stranger, mode string
	jobs                     int
	limit                    time.Duration
	only, keep               string
}

func main() {
	var o options
	flag.StringVar(&o.fwpcheck, "fwpcheck", "fwpcheck", "the `PATH` of fwpcheck")
	flag.StringVar(&o.stranger, "stranger", "", "the `PATH` of the program")
	flag.StringVar(&o.mode, "mode", "quick", "quick, full or explore")
	flag.IntVar(&o.jobs, "jobs", 4, "how many at a time")
	flag.DurationVar(&o.limit, "limit", 10*time.Minute, "the longest time of one")
	flag.StringVar(&o.only, "only", "", "`NAMES` with commas between them: mutant, mutant/3")
	flag.StringVar(&o.keep, "keep", "", "a `FOLDER` for the reports (JSON)")
	flag.Parse()
	if err := o.measure(); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func (o *options) measure() error {
	rows, err := o.list()
	if err != nil {
		return err
	}
	all := make([]outcome, len(rows))
	var wg sync.WaitGroup
	slots := make(chan struct{}, o.jobs)
	for i, r := range rows {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			all[i] = o.judge(r)
			fmt.Fprintf(os.Stderr, "%s %d: exit %d %s\n",
				r.Kind, r.Number, all[i].exit, strings.Join(all[i].broken, " "))
		})
	}
	wg.Wait()
	report(all)
	return nil
}

// list asks the program for its strangers.
func (o *options) list() (rows []row, err error) {
	out, err := exec.Command(o.stranger, "--list").Output()
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		named := func(name string) bool { return name == r.Kind || name == fmt.Sprintf("%s/%d", r.Kind, r.Number) }
		if o.only == "" || slices.ContainsFunc(strings.Split(o.only, ","), named) {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// judge runs fwpcheck on one stranger.
func (o *options) judge(r row) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), o.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.fwpcheck, o.arguments(r)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code says how it went
	if o.keep != "" {
		name := filepath.Join(o.keep, fmt.Sprintf("%s-%d.json", r.Kind, r.Number))
		if err := os.WriteFile(name, stdout.Bytes(), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "measure:", err)
		}
	}
	result := outcome{row: r, exit: cmd.ProcessState.ExitCode()}
	var report struct {
		Findings []struct{ Clause, Verdict string }
		Clauses  []struct{ ID, Verdict string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		result.errors = err.Error() + ": " + stderr.String()
	}
	add := func(id, verdict string) {
		counts := slices.Contains([]string{"", "fail", "crash", "warn"}, verdict)
		if counts && id != "" && !slices.Contains(result.broken, id) {
			result.broken = append(result.broken, id)
		}
	}
	for _, c := range report.Clauses {
		if c.Verdict != "" {
			add(c.ID, c.Verdict)
		}
	}
	for _, f := range report.Findings {
		add(f.Clause, f.Verdict)
	}
	slices.Sort(result.broken)
	return result
}

// arguments are those of fwpcheck.
func (o *options) arguments(r row) []string {
	path, _ := filepath.Abs(o.stranger)
	command := fmt.Sprintf("%s --%s %d", path, r.Kind, r.Number)
	name := filepath.Base(path)
	if name == "fwpworker" {
		args := []string{"worker", "--format", "json", "--seed", "7"}
		if o.mode == "quick" {
			args = append(args, "--quick")
		}
		script := "WORKER_QUEUES=$FWP_QUEUES WORKER_CONCURRENCY=$FWP_CONCURRENCY exec " + command
		return append(args, "--", "sh", "-c", script)
	}
	args := []string{"run", "--format", "json", "--seed", "7"}
	switch o.mode {
	case "quick":
		args = append(args, "--quick")
	case "explore":
		args = []string{"explore", "--format", "json", "--seed", "7", "--time", "2m"}
	}
	switch name {
	case "workqserver":
		args = append(args, "--protocol", "workq", "--start", command+" --listen 127.0.0.1:{port}")
	case "emqpbroker":
		args = append(args, "--protocol", "emqp", "--start",
			command+" --listen 127.0.0.1:{port} --backend 127.0.0.1:{port2}")
	default:
		args = append(args, "--start", command+" --listen 127.0.0.1:{port} --dir {dir} --password '{password}'")
	}
	return args
}

// report prints what was found of each, and the sums.
func report(all []outcome) {
	mutants, found, right, flagged, variants := 0, 0, 0, 0, 0
	for _, x := range all {
		hit := slices.ContainsFunc(x.broken, func(id string) bool { return slices.Contains(x.Clauses, id) })
		fmt.Printf("%s %d exit %d right %v: %s (should be %s) %s\n", x.Kind, x.Number, x.exit, hit,
			strings.Join(x.broken, " "), strings.Join(x.Clauses, " "), x.errors)
		if x.Kind == "variant" {
			variants++
			flagged += b2i(len(x.broken) > 0)
			continue
		}
		mutants++
		found += b2i(len(x.broken) > 0)
		right += b2i(hit)
	}
	fmt.Printf("found %d of %d mutants, %d with a right clause; flagged %d of %d variants\n",
		found, mutants, right, flagged, variants)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
