package fwpdialect

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
)

// Software returns the name and the version that a server tells in INFO: "faktory", "1.10.0". Both are empty if it does
// not tell them; the specification does not lay the contents of INFO down. nc is a fresh connection, which Software
// closes. It blocks until it has the reply, with timeout for each reply.
func Software(
	ctx context.Context, nc net.Conn, password string, timeout time.Duration,
) (name, version string, err error) {
	c := &cleaner{ctx: ctx, conn: session.New(nc, fwpsession.Protocol{}, session.Config{Timeout: timeout})}
	defer c.conn.Leave(ctx)
	if err := c.greet(password); err != nil {
		return "", "", err
	}
	m, err := c.ask(fwp.Command{Verb: fwp.INFO})
	if err != nil {
		return "", "", err
	}
	var info struct {
		Server struct {
			Description string `json:"description"`
			Version     string `json:"faktory_version"`
		} `json:"server"`
	}
	if json.Unmarshal(m.Text, &info) != nil {
		return "", "", nil // the server is free to tell something else
	}
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(info.Server.Description)), " ")
	return name, strings.TrimPrefix(info.Server.Version, "v"), nil
}
