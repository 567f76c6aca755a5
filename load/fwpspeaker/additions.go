package fwpspeaker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/load/protocol"
)

// Commands that Faktory adds to the protocol.
const (
	pushAll = "PUSHB"
	queue   = "QUEUE"
	mutate  = "MUTATE"
)

// probes has for each of these a command that changes nothing.
var probes = map[string]string{
	pushAll: "[]", queue: "RESUME fwpbench-probe",
	mutate: `{"cmd":"requeue","target":"retries","filter":{"jids":["fwpbench-probe"]}}`,
}

// additions returns an error if the server does not have one of the commands that the run needs.
func (c *Config) additions(ctx context.Context, conn *session.Conn) error {
	for _, verb := range c.Additions {
		if err := carriedOut(ctx, conn, fwp.Command{Verb: verb, Args: []byte(probes[verb])}, time.Now()); err != nil {
			return fmt.Errorf("the run needs %s, which the server does not seem to have: %w", verb, err)
		}
	}
	return nil
}

// Operate implements [protocol.Operator].
func (c *Config) Operate(ctx context.Context, dial protocol.Dial, do protocol.Operation) error {
	ctx, cancel := context.WithTimeout(ctx, introduceTimeout)
	defer cancel()
	command := fwp.Command{Verb: queue}
	switch {
	case do.Pause != nil:
		command.Args = []byte("PAUSE " + strings.Join(do.Pause, " "))
	case do.Resume != nil:
		command.Args = []byte("RESUME " + strings.Join(do.Resume, " "))
	default:
		filter, _ := json.Marshal(map[string]string{"regexp": "*" + do.Requeue + "*"}) // strings can always be written
		command.Verb = mutate
		command.Args = fmt.Appendf(nil, `{"cmd":"requeue","target":"retries","filter":%s}`, filter)
	}
	return c.introduced(ctx, dial, func(conn *session.Conn) error {
		return carriedOut(ctx, conn, command, time.Now())
	}, new(json.RawMessage))
}
