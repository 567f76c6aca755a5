package suite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/text"
	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// documents has the document that the catalogue is written from.
var documents = []conformance.Document{
	{Name: "emqp.rst", SHA256: "35ee14f7788246fb5b0c8eb119167cb4b5c3da505418ebf0243b1ba9e92f6c30"},
}

//go:embed clauses.txt
var clausesText embed.FS

var clauses = sync.OnceValue(func() []conformance.Clause { return conformance.Catalogue(clausesText, documents) })

//go:embed retired.txt
var retired string

// Protocol returns eMQP as a protocol of the suite.
func Protocol() *conformance.Suite {
	return &conformance.Suite{
		Name: emqpscript.Name, Title: "eMQP", Prefix: prefix, Dialect: emqpscript.Dialect{},
		Documents: documents,
		Clauses:   clauses, ClauseOf: ClauseOf, Law: Law(), Retired: text.Pairs(retired),
		Recognize: recognize, Premise: probeForms, Scripts: emqpscript.Suite,
	}
}

// recognize asks for the greeting and the READY of a broker.
func recognize(ctx context.Context, nc net.Conn, timeout time.Duration) (conformance.Identity, error) {
	handshakeCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dealer, err := zmtp.NewDealer(handshakeCtx, nc, zmtp.Config{})
	if err == nil {
		dealer.Close()
		return conformance.Identity{}, nil
	}
	mismatch, isMismatch := errors.AsType[*zmtp.MismatchError](err)
	peerError, isRefused := errors.AsType[*zmtp.PeerError](err)
	syntax, isMalformed := errors.AsType[*zmtp.SyntaxError](err)
	const notBroker = "this is not an eMQP broker: "
	switch {
	case isMismatch:
		return conformance.Identity{}, fmt.Errorf(notBroker+"%w", mismatch)
	case isRefused:
		return conformance.Identity{}, fmt.Errorf(notBroker+"%w", peerError)
	case isMalformed:
		return conformance.Identity{}, fmt.Errorf(notBroker+"%w", syntax)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return conformance.Identity{}, fmt.Errorf(notBroker+"no greeting and READY within %v", timeout)
	}
	return conformance.Identity{}, fmt.Errorf(notBroker+"it closed the connection (%w)", err)
}
