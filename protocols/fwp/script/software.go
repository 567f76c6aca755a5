package script

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// ServerInfo is what the reply to INFO has about the server, as far as it has it: the specification does not lay its
// contents down. Uptime and Commands are numbers, or texts with numbers.
type ServerInfo struct {
	Server struct {
		Description string `json:"description"`
		Version     string `json:"faktory_version"`
		Uptime      any    `json:"uptime"`
		Commands    any    `json:"command_count"`
	} `json:"server"`
}

// Info asks a server with INFO. nc is a fresh connection, which Info closes. It blocks until it has the reply, with
// timeout for each reply.
func Info(ctx context.Context, nc net.Conn, password string, timeout time.Duration) (info ServerInfo, err error) {
	c, err := Greet(ctx, nc, fmt.Sprintf("fwpcheck-%d", os.Getpid()), password, timeout)
	defer c.Leave()
	if err != nil {
		return info, err
	}
	m, err := c.Ask(fwp.INFO)
	if err != nil {
		return info, err
	}
	numbers := json.NewDecoder(bytes.NewReader(m.Text))
	numbers.UseNumber()
	if numbers.Decode(&info) != nil {
		return ServerInfo{}, nil // the server is free to tell something else
	}
	return info, nil
}

// Software returns the name and the version that a server tells in INFO: "faktory", "1.10.0". Both are empty if it does
// not tell them. It is as Info else.
func Software(
	ctx context.Context, nc net.Conn, password string, timeout time.Duration,
) (name, version string, err error) {
	info, err := Info(ctx, nc, password, timeout)
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(info.Server.Description)), " ")
	return name, strings.TrimPrefix(info.Server.Version, "v"), err
}
