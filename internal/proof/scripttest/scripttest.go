// Package scripttest has what the test scripts of both programs know beside the commands of testscript.
package scripttest

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fwpsuite/fwp/internal/cli/shared"
)

// Setup prepares a script for the commands.
func Setup(env *testscript.Env) error {
	env.Values[serversKey{}] = map[string]*server{}
	return nil
}

// Commands returns the commands, for scripts that run these main functions:
//
//	exits CODE PROGRAM ARG...   the program ends with this exit code, or with one of those with bars between
//	inside CODE PROGRAM ARG...  the same in the process of the test, with files as $WORK/FILE
//	serve VAR KIND [ARG]        starts a server and puts its HOST:PORT into the variable; see kinds
//	heard VAR WORD              waits until a line with this word has come to the server
//	left VAR                    fails if no job is in an embedded server
func Commands(mains map[string]func(shared.Process) int) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits": expectExit, "inside": runCommand(mains), "serve": serve, "heard": expectHeard, "left": expectJobs,
	}
}

// expectExit is `exits CODE COMMAND [ARG...]`: the command ends with this exit code, or with one of those with bars
// between.
func expectExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	expect(ts, args[0], code)
}

// runCommand returns `inside CODE COMMAND [ARG...]`: the same in the process of the test, which costs much less than a
// process of its own. It is for a command that ends by itself, reads no standard input, and whose variables are not
// empty. A file of the script has to be named as $WORK/file, since the process of the test has another folder, and what
// the command starts has the variables of the test. The commands are the main functions of the programs. A script still
// runs each kind of command as a process once, with the names of files as users write them.
func runCommand(commands map[string]func(shared.Process) int) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 || commands[args[1]] == nil {
			ts.Fatalf("usage: inside CODE COMMAND [ARG...]")
		}
		expect(ts, args[0], commands[args[1]](shared.Process{
			Args: args[2:], In: strings.NewReader(""), Out: ts.Stdout(), Err: ts.Stderr(),
			LookupEnv: func(name string) (string, bool) {
				value := ts.Getenv(name)
				return value, value != ""
			},
		}))
	}
}

// expect fails the script unless an exit code is one of those with bars between.
func expect(ts *testscript.TestScript, codes string, code int) {
	if !slices.Contains(strings.Split(codes, "|"), strconv.Itoa(code)) {
		ts.Fatalf("exit code %d, want %s", code, codes)
	}
}
