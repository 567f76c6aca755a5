package main_test

import (
	"context"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	fakeworker "github.com/fwpsuite/fwp/fakes/worker"
	"github.com/fwpsuite/fwp/internal/cli/bench"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/proof/scripttest"
	"github.com/fwpsuite/fwp/reports"
)

func TestMain(m *testing.M) {
	// The scripts mostly wait, for drains: more of them at a time than there are processors.
	if err := flag.Set("test.parallel", "8"); err != nil { // before m.Run, which reads the command line
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"fwpbench":  func() { os.Exit(fwpbench(os.Args[1:])) },
		"carries":   func() { os.Exit(tolerateInvalid(os.Args[1:])) },
		"fwpworker": func() { os.Exit(fwpworker()) },
		"fwpserver": func() { serverAt(os.Args[1]) },
	})
}

func fwpbench(args []string) (code int) {
	return bench.Main(shared.Process{Args: args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv})
}

// fwpworker is a worker in the environment that fwpbench worker gives.
func fwpworker() (code int) {
	if os.Getenv("FWPWORKER_FAILS") != "" {
		_, _ = os.Stdout.WriteString("no such gem\n")
		return 7
	}
	concurrency, err := strconv.Atoi(os.Getenv("FWP_CONCURRENCY"))
	if err != nil {
		return 2
	}
	return fakeworker.New(fakeworker.Config{
		Lookup: os.LookupEnv, Queues: strings.Split(os.Getenv("FWP_QUEUES"), ","), Concurrency: concurrency,
	}).Run(context.Background())
}

// tolerateInvalid takes an INVALID run for a good one. It may be the program that starts
// itself as the embedded server.
func tolerateInvalid(args []string) (code int) {
	if args[0] == "fwpbench" {
		args = args[1:]
	}
	if code = fwpbench(args); code == reports.ExitInconclusive {
		return reports.ExitWell
	}
	return code
}

// TestScripts runs fwpbench as its users do. Beside the commands of scripttest the scripts know
//
//	carries fwpbench ARG...  an INVALID run (exit code 3) will do: how busy this machine is decides about that
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup:              scripttest.Setup,
		Cmds:               scripttest.Commands(map[string]func(shared.Process) int{"fwpbench": bench.Main}),
	})
}
