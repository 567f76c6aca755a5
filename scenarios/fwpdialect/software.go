package fwpdialect

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// Software returns the name and the version that a server tells in INFO: "faktory", "1.10.0". Both are empty if it does
// not tell them; the specification does not lay the contents of INFO down. nc is a fresh connection, which Software
// closes. It blocks until it has the reply, with timeout for each reply.
func Software(
	ctx context.Context, nc net.Conn, password string, timeout time.Duration,
) (name, version string, err error) {
	c, err := Greet(ctx, nc, fmt.Sprintf("fwpcheck-%d", os.Getpid()), password, timeout)
	defer c.Leave()
	if err != nil {
		return "", "", err
	}
	m, err := c.Ask(fwp.INFO)
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
