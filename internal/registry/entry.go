package registry

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Entry is all that the programs need of one protocol. Suite and Scheme must be set: all else may stay empty, and
// the commands that need it say then that they do not work with the protocol. It is not changed once it is in use, and
// safe for concurrent use.
type Entry struct {
	*conformance.Suite

	// Scheme is that of the URLs of its servers.
	Scheme target.Scheme
	// Ambiguities is the document that says how ambiguous passages of the specification are read: a section for each,
	// or a row of a table.
	Ambiguities string
	// CheckList returns the checks: the scripts, and the properties. Nil: the scripts and Properties.
	CheckList func() ([]conformance.Check, error)
	// Properties returns the checks that are no scripts. Nil: there are none.
	Properties func() []conformance.Check
	// Refusals says of each command that does not work with the protocol why not, and what to do instead.
	Refusals map[string]string

	// Bugs and Variations are the catalogues of the embedded server, sorted by name. Nil: there are none.
	Bugs       func() []Bug
	Variations func() []Variation
	// Rules are those by which a user has the embedded server misbehave. Nil: it takes none.
	Rules *Rules
	// Embed starts the embedded server; see Start. Nil: there is none.
	Embed func(Config) (*Server, error)
	// Double serves as a test double. Nil: fwpcheck serve does not work with it. ServeHelp says what it serves and
	// prints, for the help of that command.
	Double    func(DoubleConfig) (*Double, error)
	ServeHelp string
	// Extensions are what some servers add to the protocol, by their names: the protocol with more rows in its
	// tables. Extension is the name of the extension in an Entry that WithExtension has returned.
	Extensions map[string]func() *Entry
	Extension  string
	// ExtensionVerbs are the verbs of an extension, of which MissingVerbs returns those that a server does not have. The
	// checks of a verb are in the folder of its name.
	ExtensionVerbs []string
	MissingVerbs   func(ctx context.Context, nc net.Conn, password string, timeout time.Duration) []string
	// Batches is the extension whose servers take several jobs in one command, PUSHB; empty: there is none.
	Batches string

	// Alphabet returns it as a subject of exploring. Nil: fwpcheck explore and compare do not work with it.
	// It leaves out what needs verbs of the extension that are missing.
	Alphabet func(missing ...string) *explore.Alphabet
	// UpgradeBugs are the ways in which the embedded server spoils what it keeps, sorted by name. Nil: fwpcheck upgrade
	// does not work with it, since no job has to survive a restart.
	UpgradeBugs func() []Bug
	// Wire returns it as a protocol of a load. Nil: fwpbench does not work with it.
	Wire func(WireConfig) wire.Protocol
	// Requests says by which commands producers wait until their jobs are done; empty if there are none.
	Requests string
	// CheckWorkload returns an error for a workload with something that no message says. Nil: there is a message for all.
	CheckWorkload func(*plan.Workload) error

	// HasPasswords says whether its servers may ask for a password, and serve TLS.
	HasPasswords bool
	// CanDisrupt says whether the history of many clients is judged, and disruptions of a server under load.
	CanDisrupt bool
	// HasClientRules says whether protocols/fwp/clientrules has rules for what its clients and its servers do.
	HasClientRules bool
	// Workers returns the side of its workers. Nil: fwpcheck worker works with it only if HasClientRules is set.
	Workers func() *fwpsituations.OtherProtocol
	// Clients are the worker and the producer of the suite. Nil: there are none.
	Clients []*Client
	// ClientBreaches returns the rules for clients that a clause stands behind. Nil: there are none.
	ClientBreaches func(clause string) []string
	// Authenticate tries a password on a server that Identify has found to be protected.
	Authenticate func(ctx context.Context, t play.Target, password string, timeout time.Duration) error
	// Software returns the name and the version that a server reports about itself. Nil: servers report none.
	Software func(
		ctx context.Context, nc net.Conn, password string, timeout time.Duration,
	) (name, version string, err error)
	// ProcessInfo returns what a server reports about the process that serves. Nil: servers report nothing.
	ProcessInfo func(ctx context.Context, nc net.Conn, password string, timeout time.Duration) (target.ProcessInfo, error)
	// ProbeLine is a command that every server answers right behind its greeting, whatever the answer is; empty: there is
	// none.
	ProbeLine string
	// Advice returns what to do about something that Identify does not take for a server, given its error. Nil: there is
	// nothing special to say.
	Advice func(ctx context.Context, s *target.Server, err error) string
}

// WireConfig is what a load says about how it speaks.
type WireConfig struct {
	Password string // of the server; empty: none
	Requests bool   // producers wait until their jobs are done
	Batches  bool   // the server must have the command for several jobs
}

// answerTimeout is how long a server may take to answer when it is asked whether it still does.
const answerTimeout = 2 * time.Second

// Probe returns how it is seen whether something that was done to a server with a password took effect.
func (p *Entry) Probe(password string) target.Probe {
	talk := target.Probe{Command: p.ProbeLine, Ready: func(ctx context.Context, s *target.Server) error {
		_, err := p.Identify(ctx, s, answerTimeout)
		return err
	}}
	if p.ProcessInfo != nil {
		talk.ProcessInfo = func(ctx context.Context, s *target.Server) (target.ProcessInfo, error) {
			nc, err := s.Dial(ctx)
			if err != nil {
				return target.ProcessInfo{}, err
			}
			return p.ProcessInfo(ctx, nc, password, answerTimeout)
		}
	}
	return talk
}

// Scripts returns the checks of the suite that are scripts. An error is one of the suite.
func (p *Entry) Scripts() ([]conformance.Check, error) {
	scripts, err := p.Suite.Scripts()
	if err != nil {
		return nil, fmt.Errorf("the scripts of %s: %w", p.Title, err)
	}
	return conformance.Scripts(scripts...), nil
}

// Checks returns the checks of the suite: its scripts, and then its properties. An error is one of the suite.
func (p *Entry) Checks() ([]conformance.Check, error) {
	if p.CheckList != nil {
		return p.CheckList()
	}
	checks, err := p.Scripts()
	if p.Properties != nil {
		checks = append(checks, p.Properties()...)
	}
	return checks, err
}
