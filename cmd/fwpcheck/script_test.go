package main_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fwpsuite/fwp/internal/cli/bench"
	"github.com/fwpsuite/fwp/internal/cli/check"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/proof/scripttest"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

func TestMain(m *testing.M) {
	// The scripts mostly wait, for programs that wait: more of them at a time than there are processors.
	if err := flag.Set("test.parallel", "8"); err != nil { // before m.Run, which reads the command line
		panic(err)
	}
	if name := filepath.Base(os.Args[0]); strings.HasSuffix(name, ".test") && len(os.Args) > 1 &&
		!strings.HasPrefix(os.Args[1], "-") { // a command in the process of the test starts itself: not the tests
		if os.Args[1] == "supervise" {
			exit(check.Main)
		}
		exit(bench.Main)
	}
	testscript.Main(m, map[string]func(){
		"fwpcheck":     func() { exit(check.Main) },
		"fwpbench":     func() { exit(bench.Main) }, // for hostile files
		"fakeworker":   func() { os.Exit(fakeWorker(os.Args[1:])) },
		"fakeemqp":     func() { os.Exit(fakeEMQPWorker(os.Args[1:])) },
		"fakeworkq":    func() { os.Exit(fakeWorkqWorker(os.Args[1:])) },
		"badserver":    func() { os.Exit(crashServer(os.Args[1], os.Args[2])) },
		"notaworker":   func() { os.Exit(impostor(os.Args[1:])) },
		"fakeproducer": func() { os.Exit(fakeProducer(os.Args[1:])) },
	})
}

// exit runs a command as its main does, and ends the process with its exit code. With statusVariable it leaves what the
// kernel knows of the process.
func exit(run func(shared.Process) int) {
	process().LimitMemory()
	code := run(process())
	if name := os.Getenv(statusVariable); name != "" {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(name, status, 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// statusVariable names the file for /proc/self/status.
const statusVariable = "FWP_TEST_STATUS"

// process is this one.
func process() shared.Process {
	return shared.Process{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv}
}

// TestScripts runs fwpcheck as its users do. Beside the commands of scripttest the scripts know
//
//	ready VAR COMMAND ARG...  starts a command that prints "ready URL", and puts the URL into the variable
//	ended VAR CODE FILE       ends it; it must have this exit code, and what it printed goes to the file
//
// and find the id of a quick check of the suite in $CHECK, the id of a clause that it decides in $CLAUSE, and the
// folder of the samples in $CLIENTS.
func TestScripts(t *testing.T) {
	t.Parallel()
	commands := scripttest.Commands(map[string]func(shared.Process) int{"fwpcheck": check.Main})
	commands["ready"], commands["ended"] = startCommand, endCommand
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup:              setup,
		Condition:          condition,
		Cmds:               commands,
	})
}

func setup(env *testscript.Env) error {
	quick, err := quickCheck()
	if err != nil {
		return err
	}
	env.Setenv("GOGC", "400") // nearly half the time of a start is that of collecting what is not garbage yet
	clients, err := filepath.Abs("../../clients")
	if err != nil {
		return err
	}
	env.Setenv("CLIENTS", clients)
	env.Setenv("CHECK", quick.check)
	env.Setenv("CLAUSE", quick.clause)
	env.Values[backgroundKey{}] = map[string]*background{}
	return scripttest.Setup(env)
}

// checkClause is a check and a clause that it decides.
type checkClause struct{ check, clause string }

// quickCheck returns the shortest check of the suite that needs an open server and
// nothing else. All scripts use the same.
var quickCheck = sync.OnceValues(func() (q checkClause, err error) {
	suite, err := fwpscript.Suite()
	if err != nil {
		return q, err
	}
	suite = slices.DeleteFunc(suite, func(s *scenarios.Script) bool {
		return !slices.Equal(s.Needs, []scenarios.Need{scenarios.NeedOpen}) || !strings.HasPrefix(s.Name, "hello/")
	})
	if len(suite) == 0 {
		return q, errors.New("the suite has no check about HELLO on an open server")
	}
	shortest := slices.MinFunc(suite, func(a, b *scenarios.Script) int { return cmp.Compare(len(a.Steps), len(b.Steps)) })
	q.check = shortest.Name
	for mark := range shortest.Marks() {
		q.clause = mark.Clause
		break
	}
	return q, nil
})

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "ipv6":
		ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "[::1]:0")
		if ln != nil {
			defer ln.Close()
		}
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
