package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed slow.txt
var slowTable string

// shareCount is in how many submissions each part is played: a prime, as submissions may be of several commits each.
const shareCount = 23

// slowPart is a row of slow.txt.
type slowPart struct {
	seconds  int      // on two processors
	args     []string // of go test, with FWP_SLOW=1, or make and its arguments
	omission string   // why it is not played
	share    int
}

// distance returns after how many more submissions a part is played: 0 with this one.
func (s slowPart) distance(submission int) int {
	if s.omission != "" {
		return shareCount // it comes last
	}
	return (s.share - submission%shareCount + shareCount) % shareCount
}

// slowParts returns the parts of a table, in its order. The longest part comes into the shortest share.
func slowParts(table string) (parts []slowPart, err error) {
	for row := range strings.Lines(table) {
		price, text, _ := strings.Cut(strings.TrimSpace(row), " ")
		text, omission, isOmitted := strings.Cut(text, ": ")
		seconds, err := strconv.Atoi(price)
		if price == "" || price == "#" {
			continue
		}
		if text == "" || isOmitted != (price == "-") || !isOmitted && err != nil {
			return nil, fmt.Errorf("slow.txt: expected SECONDS PART, or - PART: REASON: %q", row)
		}
		parts = append(parts, slowPart{seconds: seconds, args: strings.Fields(text), omission: omission})
	}
	var longestFirst []*slowPart
	for i := range parts {
		longestFirst = append(longestFirst, &parts[i])
	}
	slices.SortStableFunc(longestFirst, func(a, b *slowPart) int { return b.seconds - a.seconds })
	var sums [shareCount]int // what is not played adds nothing
	for _, s := range longestFirst {
		s.share = slices.Index(sums[:], slices.Min(sums[:]))
		sums[s.share] += s.seconds
	}
	return parts, nil
}

// slow plays all slow parts, or the share of a submission, or lists when each is played.
func (p program) slow(ctx context.Context, args []string) (code int, err error) {
	f := flag.NewFlagSet("slow", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	share, list := f.String("share", "", ""), f.String("list", "", "")
	if err := f.Parse(args); err != nil || f.NArg() > 0 || *share != "" && *list != "" {
		return exitFailed, errors.Join(err, errUsage)
	}
	parts, err := slowParts(slowTable)
	if err != nil {
		return exitFailed, err
	}
	if name := *share + *list; name != "" {
		submission, err := p.submission(ctx, currentRepository(), name)
		if err != nil {
			return exitFailed, err
		}
		if _, err := io.WriteString(p.out, schedule(parts, submission)); err != nil || *list != "" {
			return exitSame, err
		}
		parts = slices.DeleteFunc(parts, func(s slowPart) bool { return s.distance(submission) > 0 })
	}
	parts = slices.DeleteFunc(parts, func(s slowPart) bool { return s.omission != "" })
	if failed := p.playSlow(ctx, parts); len(failed) > 0 {
		return exitChanged, fmt.Errorf("failed:\n%s", strings.Join(failed, "\n"))
	}
	return exitSame, nil
}

// submission returns the number of a submission: itself, or how many there are up to a commit.
func (p program) submission(ctx context.Context, in repository, name string) (int, error) {
	if n, err := strconv.ParseUint(name, 10, 31); err == nil {
		return int(n), nil
	}
	id, err := in.commit(ctx, name)
	if err != nil {
		return 0, err
	}
	if shallow, _ := in.git(ctx, "rev-parse", "--is-shallow-repository"); shallow == "true" {
		p.log.Print("this clone has only the newest history: the commit's id draws the share, and some may not be played")
		n, err := strconv.ParseUint(id[:7], 16, 31)
		return int(n), err
	}
	count, err := in.git(ctx, "rev-list", "--count", "--first-parent", id)
	n, parseErr := strconv.Atoi(count)
	return n, cmp.Or(err, parseErr)
}

// schedule says for a submission after how many more each part is played, the next ones first.
func schedule(parts []slowPart, submission int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "submission %d plays share %d of %d of what is slow; each part is played after so many more:\n",
		submission, submission%shareCount, shareCount)
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(x, y slowPart) int { return x.distance(submission) - y.distance(submission) })
	for _, s := range sorted {
		prefix := fmt.Sprintf("%4d %5d s  ", s.distance(submission), s.seconds)
		if s.omission != "" {
			prefix = "left out: " + s.omission + ": "
		}
		b.WriteString(prefix + strings.Join(s.args, " ") + "\n")
	}
	return b.String()
}

// playSlow plays parts, also behind those that fail, and returns what has failed.
func (p program) playSlow(ctx context.Context, parts []slowPart) (failed []string) {
	for _, s := range parts {
		args, began := s.args, time.Now()
		if args[0] != "make" { // the race detector and the fuzzer watch samples of the other tests
			args = append([]string{"env", "FWP_SLOW=1", "go", "test", "-timeout", "60m"}, args...)
		}
		text := strings.Join(args, " ")
		p.log.Printf("%s: %d s on two processors", text, s.seconds)
		cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // the table is a part of this program
		cmd.Stdout, cmd.Stderr = p.out, p.out
		if err := cmd.Run(); err != nil {
			failed = append(failed, text+": "+err.Error())
		}
		p.log.Printf("%s: took %.0f s", text, time.Since(began).Seconds())
	}
	return failed
}
