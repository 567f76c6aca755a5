package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/cli/program"
)

// spawnedLimit is how long agents that were started here have to end when the run is over.
const spawnedLimit = 5 * time.Second

// spawn starts agents as processes of this machine, which share its processors. The function that it returns ends
// them: they end by themselves when the run is over, also if this process is killed.
func (p process) spawn(ctx context.Context, number int, h *hub) (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, &program.InternalError{Cause: err}
	}
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	end = func() {
		timer := time.AfterFunc(spawnedLimit, kill)
		all.Wait()
		timer.Stop()
		kill()
	}
	each := max(1, runtime.NumCPU()/number)
	for i := range number {
		name := fmt.Sprintf("local-%d", i+1)
		cmd := exec.CommandContext(ctx, self, "agent", h.url, "--name", name, "--processors", strconv.Itoa(each))
		cmd.Env = append(os.Environ(), tokenVariable+"="+h.token, passwordVariable+"="+h.password)
		cmd.SysProcAttr = ofItsOwn()
		cmd.WaitDelay = time.Second
		var printed bytes.Buffer
		cmd.Stderr = &printed
		if err := cmd.Start(); err != nil {
			kill()
			all.Wait()
			return nil, &program.InternalError{Cause: fmt.Errorf("start an agent: %w", err)}
		}
		all.Go(func() {
			if err := cmd.Wait(); err != nil {
				p.Logf("agent %s ended: %v\n%s", name, err, strings.TrimSpace(printed.String()))
			}
		})
	}
	return end, nil
}
