package zmtp

import "slices"

// The socket types of the two sockets of the package. (The Socket-Type Property)
const (
	DEALER = "DEALER"
	ROUTER = "ROUTER"
)

// socketType reports whether the text is a socket type.
func socketType(text string) bool {
	return slices.Contains([]string{
		"REQ", "REP", DEALER, ROUTER, "PUB", "XPUB", "SUB", "XSUB", "PUSH", "PULL", "PAIR",
		"CLIENT", "SERVER", "RADIO", "DISH", "SCATTER", "GATHER", "PEER", "CHANNEL",
	}, text)
}

// Compatible reports whether a DEALER or ROUTER may talk to a peer of a type. (The Socket-Type Property)
func Compatible(ours, theirs string) bool {
	other := map[string]string{DEALER: "REP", ROUTER: "REQ"}[ours]
	return other != "" && (theirs == DEALER || theirs == ROUTER || theirs == other)
}
