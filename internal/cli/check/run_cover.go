package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/reports"
)

// coverFlags are the flags about the coverage of a server's own code.
type coverFlags struct{ dir string }

func (c *coverFlags) declare(f *pflag.FlagSet) {
	f.StringVar(&c.dir, "cover-dir", "", "collect in `FOLDER` what code of a Go server of --start, built with -cover, "+
		"was reached (GOCOVERDIR), and list the functions that nothing did")
}

// apply has servers that are started write their coverage into the folder, which is made if it is not there.
func (c *coverFlags) apply(e program.Endpoint) error {
	if c.dir == "" {
		return nil
	}
	if e.Starter == nil {
		return errors.New("--cover-dir works only with --start: another server's environment cannot be set")
	}
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		return fmt.Errorf("--cover-dir: %w", err)
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return fmt.Errorf("--cover-dir: %w", err)
	}
	e.Starter.Environment = append(e.Starter.Environment, "GOCOVERDIR="+dir)
	return nil
}

// coverPatience is how long the tool may take that reads the coverage.
const coverPatience = time.Minute

// functions returns which functions of the server were reached, nil without the flag. All servers must have ended.
func (c *coverFlags) functions(ctx context.Context) *reports.Functions {
	if c.dir == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), coverPatience)
	defer cancel()
	data, _ := filepath.Glob(filepath.Join(c.dir, "covcounters.*")) // the pattern is a right one
	if len(data) == 0 {
		return &reports.Functions{Open: "the server has written nothing: it must be built with -cover, and end in order at " +
			"SIGTERM"}
	}
	if _, err := exec.LookPath("go"); err != nil {
		return &reports.Functions{Open: "the command go is not on PATH: go tool covdata func -i=" + c.dir + " lists them"}
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "covdata", "func", "-i="+c.dir).Output() //nolint:gosec // a folder
	if err != nil {
		return &reports.Functions{Open: "go tool covdata: " + err.Error()}
	}
	return reached(out)
}

// reached reads what go tool covdata func prints: in each line a file with its line, a function and its percentage.
func reached(out []byte) *reports.Functions {
	f := &reports.Functions{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || !strings.HasSuffix(words[0], ":") {
			continue
		}
		if f.Of++; words[2] == "0.0%" {
			f.Never = append(f.Never, words[0]+" "+words[1])
		}
	}
	return f
}
