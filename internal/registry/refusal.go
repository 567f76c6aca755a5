package registry

import (
	"fmt"
	"strings"
)

// refusalReason says why a command, "fwpcheck record" for example, does not work with the protocol; "" if it does.
func (p *Entry) refusalReason(command string) string {
	if reason := p.Refusals[command]; reason != "" {
		return reason
	}
	for _, need := range []struct {
		isMissing bool
		program   string // a command, or a program as a whole
		reason    string
	}{
		{p.Alphabet == nil, "fwpcheck explore", "commands of this protocol cannot be generated yet"},
		{p.Alphabet == nil, "fwpcheck compare", "commands of this protocol cannot be generated yet"},
		{p.Double == nil, "fwpcheck serve", "this protocol has no embedded server"},
		{p.UpgradeBugs == nil, "fwpcheck upgrade", "this protocol is not supported by it yet"},
		{p.Wire == nil, "fwpbench", "this protocol is not supported by it yet"},
		{!p.HasClientRules, "fwpcheck record", "there are no rules for its clients and servers"},
		{!p.HasClientRules && p.Workers == nil, "fwpcheck worker", "there are no rules for its clients"},
		{!p.HasClientRules, "fwpcheck client", "there are no rules for its clients"},
		{!p.HasClientRules, "fwpcheck clean", "its jobs cannot be listed"},
	} {
		if need.isMissing && (command == need.program || strings.HasPrefix(command, need.program+" ")) {
			return need.reason
		}
	}
	return ""
}

// Refusal returns an error that says why a command, "fwpcheck record" for example, does not work with the protocol; nil
// if it does.
func (p *Entry) Refusal(command string) error {
	reason := p.refusalReason(command)
	if reason == "" {
		return nil
	}
	var titles []string // of the protocols with which it works
	for _, other := range all() {
		if other.refusalReason(command) == "" {
			titles = append(titles, other.Title)
		}
	}
	return fmt.Errorf("%s works with %s only, not with %s: %s", command, strings.Join(titles, " and "), p.Title, reason)
}

// NoFlagReason says why a command has no flag --protocol.
func NoFlagReason(command string) string {
	var reasons []string
	for _, p := range all() {
		if err := p.Refusal(command); err != nil {
			reasons = append(reasons, err.Error())
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "\n")
	}
	return command + " takes the protocol from the scheme of a URL, as in workq://localhost, or from the header of " +
		"a script"
}
