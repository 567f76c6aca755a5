package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
)

// newEmbedded builds `fwpbench embedded`, the embedded server as a process of its
// own. It is what run starts without a target, so that the server's work is not
// counted as the generator's.
func newEmbedded(p process) *cobra.Command {
	var fault string
	cmd := &cobra.Command{
		Use:    "embedded",
		Short:  "Serve on a free port of 127.0.0.1 until standard input ends",
		Hidden: true,
		Args:   program.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			f, err := program.FaultNamed(fault)
			if err != nil {
				return err
			}
			return p.serve(f)
		},
	}
	cmd.Flags().StringVar(&fault, "fault", "", "the fault `NAME` of the catalogue")
	return cmd
}

// serve prints the server's URL and serves until standard input ends.
func (p process) serve(fault fakes.Fault) error {
	config := fakes.Config{}
	if fault.Hook != nil {
		config.Hook = fault.Hook()
	}
	server := fakes.NewServer(config)
	defer server.Close()
	if err := p.Print(server.URL() + "\n"); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, p.In) // an end that is an error is one too
	return nil
}

// startEmbedded starts the embedded server as a process of its own, with a fault if
// its name is not empty. It serves until end is called, which waits until it has
// ended, or until this process ends for any reason.
func startEmbedded(ctx context.Context, fault string) (a target.Address, end func(), err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("start the embedded server: %w", err)
		}
	}()
	cmd, err := embeddedCommand(ctx, fault)
	if err != nil {
		return a, nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return a, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return a, nil, err
	}
	var printed strings.Builder
	cmd.Stderr = &printed
	if err := cmd.Start(); err != nil {
		return a, nil, err
	}
	end = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		a, err = target.ParseURL(strings.TrimSpace(url))
	}
	if err != nil {
		end()
		return a, nil, fmt.Errorf("%w; it printed: %s", err, printed.String())
	}
	return a, end, nil
}

// embeddedCommand returns this program as the embedded server. An interrupt does not end it: the run still empties
// its queues.
func embeddedCommand(ctx context.Context, fault string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"embedded"}
	if fault != "" {
		args = append(args, "--fault", fault)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	procs := max(1, runtime.NumCPU()-runtime.GOMAXPROCS(0)) // not all, since idle threads of Go poll for work
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = ofItsOwn()
	return cmd, nil
}
