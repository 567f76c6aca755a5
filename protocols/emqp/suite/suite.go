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
func Protocol() *conformance.Protocol {
	return &conformance.Protocol{
		Name: emqpscript.Name, Title: "eMQP", Prefix: prefix, Dialect: emqpscript.Dialect{},
		Documents: documents,
		Clauses:   clauses, ClauseOf: ClauseOf, Law: Law(), Retired: text.Pairs(retired),
		Recognize: recognize, Premise: otherForm, Scripts: emqpscript.Suite,
	}
}

// recognize asks for the greeting and the READY of a broker.
func recognize(ctx context.Context, nc net.Conn, timeout time.Duration) (conformance.Identity, error) {
	shaking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dealer, err := zmtp.NewDealer(shaking, nc, zmtp.Config{})
	if err == nil {
		dealer.Close()
		return conformance.Identity{}, nil
	}
	mismatch, other := errors.AsType[*zmtp.MismatchError](err)
	refused, declined := errors.AsType[*zmtp.PeerError](err)
	syntax, malformed := errors.AsType[*zmtp.SyntaxError](err)
	const what = "this is not an eMQP broker: "
	switch {
	case other:
		return conformance.Identity{}, fmt.Errorf(what+"%w", mismatch)
	case declined:
		return conformance.Identity{}, fmt.Errorf(what+"%w", refused)
	case malformed:
		return conformance.Identity{}, fmt.Errorf(what+"%w", syntax)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return conformance.Identity{}, fmt.Errorf(what+"no greeting and READY within %v", timeout)
	}
	return conformance.Identity{}, fmt.Errorf(what+"it closed the connection (%w)", err)
}
