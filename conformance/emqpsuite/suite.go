// Package emqpsuite is eMQP as a protocol of the suite: its catalogue of clauses, what a pass of each takes, which
// clause a breach breaks, and how its brokers are recognized.
package emqpsuite

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
	"github.com/fwpsuite/fwp/conformance/emqpsubject"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
	"github.com/fwpsuite/fwp/zmtp"
)

// prefix is that of the ids of clauses.
const prefix = "EMQP-"

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
		Name: emqpdialect.Name, Title: "eMQP", Prefix: prefix, Dialect: emqpdialect.Dialect{},
		Documents: documents,
		Clauses:   clauses, ClauseOf: emqpsubject.ClauseOf, Law: emqpsubject.Law(), Retired: text.Pairs(retired),
		Recognize: recognize, Premise: otherForm, Scripts: emqpdialect.Suite,
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
