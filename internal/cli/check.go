package cli

import "github.com/spf13/cobra"

// Check is fwpcheck: it runs the command that the arguments name and returns
// the exit code, one of those in package reports. It blocks until the command is
// over; while `run` is at work, the first SIGINT or SIGTERM has it finish early
// and report what was found, and the second one ends the process.
func Check(p Process) int {
	p.program = "fwpcheck"
	return p.execute(newCheck)
}

// newCheck builds the commands. Nothing of them is kept between two calls.
func newCheck(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "fwpcheck",
		Short: "A conformance suite for servers of the Faktory Work Protocol",
		Long: "fwpcheck checks a server of the Faktory Work Protocol against the specification, clause by clause,\n" +
			"and plays scripts of C: and S: lines on it.",
		Example: "  fwpcheck run                                     the embedded server, with every check\n" +
			"  fwpcheck run --url tcp://:PASSWORD@HOST:7419     a server of yours\n" +
			"  fwpcheck run my-bug.fwp --url tcp://HOST -v      a script of yours, and what was said",
		Args: unknownCommand,
	}
	root.AddCommand(newRun(p), newLint(p), newList(p), newExplain(p), newSpec(p), newJudge(p), newExplore(p),
		newSelftest(p), newVersion(p))
	return root
}
