package suite

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
)

// documents has the document that the catalogue is written from.
var documents = []conformance.Document{
	{Name: "workq.md", SHA256: "4edc4435da46eb37b46c92fa8723b16e0467a2cd0ea3a9f8594d32d035b84835"},
}

//go:embed clauses.txt
var clausesText embed.FS

var clauses = sync.OnceValue(func() []conformance.Clause { return conformance.Catalogue(clausesText, documents) })

//go:embed retired.txt
var retired string

// Protocol returns Workq as a protocol of the suite.
func Protocol() *conformance.Suite {
	return &conformance.Suite{
		Name: workqscript.Name, Title: "Workq", Prefix: prefix, Dialect: workqscript.Dialect{},
		Documents: documents,
		Clauses:   clauses, ClauseOf: ClauseOf, Recognize: recognize, Scripts: workqscript.Suite,
		LimitedVerbs: []string{workq.Add, workq.Run, workq.Schedule}, Law: Law(),
		Retired: text.Pairs(retired),
	}
}

// isReplyStart reports whether the first reply of a Workq server may begin with these bytes, which may be a piece of
// it.
func isReplyStart(first []byte) bool {
	for _, reply := range []string{"+OK", "OK", "-CLIENT-ERROR", "-SERVER-ERROR", "-NOT-FOUND"} {
		if n := min(len(first), len(reply)); string(first[:n]) == reply[:n] {
			return true
		}
	}
	return false
}

// recognize asks a server what it is, with the command that changes nothing. (inspect server)
func recognize(_ context.Context, nc net.Conn, timeout time.Duration) (conformance.Identity, error) {
	_ = nc.SetDeadline(time.Now().Add(timeout))
	_, _ = io.WriteString(nc, workq.InspectServer+"\r\n")
	var err error
	first := make([]byte, 0, 512)
	for err == nil && isReplyStart(first) && len(first) < cap(first) {
		var n int
		n, err = nc.Read(first[len(first):cap(first)])
		first = first[:len(first)+n]
		if bytes.IndexByte(first, '\n') >= 0 && isReplyStart(first) {
			return conformance.Identity{}, nil
		}
	}
	n := len(first)
	const excerpt = 80
	switch {
	case n > 0:
		return conformance.Identity{}, fmt.Errorf("this is not a Workq server: it answers %q with %q", workq.InspectServer,
			first[:min(n, excerpt)])
	case errors.Is(err, os.ErrDeadlineExceeded):
		return conformance.Identity{}, fmt.Errorf("this is not a Workq server: no answer to %q within %v",
			workq.InspectServer, timeout)
	}
	return conformance.Identity{}, fmt.Errorf("this is not a Workq server: it closed the connection (%w)", err)
}
