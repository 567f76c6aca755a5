package target

import (
	"errors"
	"fmt"
	"strings"
)

// The variables of the environment in which Faktory's clients look for a
// server.
const (
	providerVariable = "FAKTORY_PROVIDER" // the name of the variable with the URL
	urlVariable      = "FAKTORY_URL"
)

// Choice is the server to use.
type Choice struct {
	Address    Address
	IsEmbedded bool   // none was named: Address is empty
	Source     string // "from --url", "from FAKTORY_URL", "the embedded server"
	Variable   string // the variable that the URL came from, empty if it came from none
}

// Choose returns the server to use: the one of --url if that was given, else
// the one in the variable that FAKTORY_PROVIDER names, else the one of
// FAKTORY_URL, else the embedded server. A variable that is set and empty is an
// error: if the user forgot to fill it, no other server may be tested instead. The others are
// schemes of [ParseURL].
func Choose(url string, isGiven bool, lookup func(string) (string, bool), others ...Scheme) (Choice, error) {
	if isGiven {
		return choice("from --url", "--url", "", url, others)
	}
	if name, ok := lookup(providerVariable); ok {
		return fromProvider(name, lookup, others)
	}
	if url, ok := lookup(urlVariable); ok {
		return choice("from "+urlVariable, urlVariable, urlVariable, url, others)
	}
	return Choice{IsEmbedded: true, Source: "the embedded server"}, nil
}

// Argument returns the server that an argument names.
func Argument(url string, others ...Scheme) (Choice, error) {
	return choice("from the arguments", "the argument", "", url, others)
}

// fromProvider returns the server that FAKTORY_PROVIDER leads to.
func fromProvider(name string, lookup func(string) (string, bool), others []Scheme) (Choice, error) {
	switch {
	case name == "":
		return Choice{}, errors.New(providerVariable +
			" is set but empty: unset it, or set it to the name of the variable with the URL")
	case strings.ContainsAny(name, ":/@"):
		return Choice{}, errors.New(providerVariable +
			" is a URL, but must be the name of the variable with the URL")
	}
	url, ok := lookup(name)
	if !ok {
		return Choice{}, fmt.Errorf("%s names the variable %s, which is not set", providerVariable, name)
	}
	return choice("from "+name+", which "+providerVariable+" names", name, name, url, others)
}

// NameKind is what an argument or a flag names.
type NameKind uint8

// The things that are named: there is one notation for them, whatever program or flag takes it.
const (
	NamesNothing  NameKind = iota // it may be the name of a file
	NamesURL                      // a server that runs: tcp://HOST:PORT
	NamesStart                    // servers that are started: start:COMMAND
	NamesEmbedded                 // the embedded server: embedded
	NamesWorker                   // a worker: worker:COMMAND
)

// NameOf returns what a text names, and the text without "start:" or "worker:". A command that is known, or takes
// a port, is one to start without that word, too.
func NameOf(arg string) (kind NameKind, value string) {
	if command, ok := strings.CutPrefix(arg, "start:"); ok {
		return NamesStart, command
	}
	if command, ok := strings.CutPrefix(arg, "worker:"); ok {
		return NamesWorker, command
	}
	switch {
	case arg == "embedded":
		return NamesEmbedded, arg
	case isFaktory(arg) || takesPort(arg):
		return NamesStart, arg
	case strings.Contains(arg, "://"):
		return NamesURL, arg
	}
	return NamesNothing, arg
}

// isFaktory reports whether a command is the Faktory server, whose flags are known: "faktory" or "faktory=PATH".
func isFaktory(command string) bool {
	return command == "faktory" || strings.HasPrefix(command, "faktory=")
}

func takesPort(command string) bool {
	return strings.Contains(command, "{port}") || strings.Contains(command, "FWP_PORT")
}

// noPortError is the error for a command that takes no port.
func noPortError(command string) error {
	words := "--start: the command must listen on a port that is chosen for it: write {port} where the command takes it"
	if strings.Contains(command, "faktory") {
		words += "; for Faktory write faktory=PATH"
	}
	return errors.New(words)
}

// checkKind returns why what was given to a flag about one kind of server names another; nil if it does not. It
// repeats nothing of the value, which may have a password.
func checkKind(flag string, got, want NameKind) error {
	const page = "; see docs/checking-a-server.md#how-a-server-is-named"
	switch got {
	case want, NamesNothing:
		return nil
	case NamesURL:
		return errors.New(flag + " starts a server with a command: for a running server give --url URL" + page)
	case NamesStart:
		return errors.New(flag + " names a running server: to start one, give --start COMMAND or --start faktory=PATH" +
			page)
	case NamesEmbedded:
		return errors.New(flag + ": for the embedded server give --embedded, or no flag" + page)
	}
	return errors.New(flag + " works only with servers: use fwpcheck worker -- COMMAND to test a worker, or fwpbench " +
		"compare --run to compare two" + page)
}

// choice parses the URL that was found at a place.
func choice(source, place, variable, url string, others []Scheme) (Choice, error) {
	if url == "" {
		return Choice{}, fmt.Errorf("%s is set but empty: set it to a URL, or unset it to use the embedded server", place)
	}
	kind, _ := NameOf(url)
	if err := checkKind(place, kind, NamesURL); err != nil {
		return Choice{}, err
	}
	a, err := ParseURL(url, others...)
	if err != nil {
		return Choice{}, fmt.Errorf("%s: %w", place, err)
	}
	return Choice{Address: a, Source: source, Variable: variable}, nil
}
