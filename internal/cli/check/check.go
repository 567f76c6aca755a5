package check

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/internal/cli/shared"
)

// helpText has the long help and the examples of the commands; {doubles} stands for what is said of other protocols,
// and {jobtypes} for those of workers.
//
//go:embed help.txt
var helpText string

// process is fwpcheck, as it runs.
type process struct{ shared.Process }

// Main runs the command of fwpcheck that the arguments name and returns the exit code,
// one of those in package reports. It blocks until the command is over; while `run` is
// at work, the first SIGINT or SIGTERM ends it early with a report of the findings so
// far, and the second one ends the process.
func Main(p shared.Process) int {
	p.Name = "fwpcheck"
	return p.Execute(func() *cobra.Command { return newCheck(process{p}) })
}

// newCheck builds the commands. Nothing of them is kept between two calls.
func newCheck(p process) *cobra.Command {
	root := &cobra.Command{
		Use:   "fwpcheck",
		Short: "A conformance suite for job servers and their clients: the Faktory Work Protocol, Workq and eMQP",
		Args:  shared.UnknownCommand,
	}
	root.AddCommand(newRun(p), shared.NewInit(p.Process), newLint(p), newFmt(p), newList(p), newExplain(p),
		newRecheck(p), newExplore(p), newCompare(p), newUpgrade(p),
		newSite(p),
		newWait(p), newServe(p), newWorker(p), newClient(p), newRecord(p), newShrink(p), newClean(p),
		shared.NewVersion(p.Process), shared.NewSupervise(p.Process), shared.NewHealth(p.Process))
	shared.DeclareConfig(root)
	lists := strings.NewReplacer("{doubles}", otherDoubles(), "{jobtypes}", jobtype.List(jobtype.FWP()))
	shared.Describe(root, lists.Replace(helpText))
	shared.CompleteFlags(root, map[string]func() []string{
		"check": suiteNames, "clause": clauseNames, "require": clauseNames, "level": levelNames,
		"party": func() []string { return partyWords("S,C,K,P") },
	})
	return root
}
