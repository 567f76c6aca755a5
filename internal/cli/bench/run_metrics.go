package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/exposition"
)

// metricsFlag is the flag that has the figures of a run served while it goes on.
type metricsFlag struct{ address string }

func (o *metricsFlag) declare(f *pflag.FlagSet) {
	f.StringVar(&o.address, "serve-metrics", "",
		"serve the figures of the run while it goes on at `ADDRESS`, as in localhost:9464, for Prometheus (/metrics)")
}

// serve serves the figures of a run until end is called, and returns what takes them each second, before next does. An
// error is one of usage: the address cannot be listened on.
func (o *metricsFlag) serve(p process, next func(load.Moment)) (watch func(load.Moment), end func(), err error) {
	if o.address == "" {
		return next, func() {}, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", o.address)
	if err != nil {
		return nil, nil, fmt.Errorf("--serve-metrics %s: %w", o.address, err)
	}
	run := new(exposition.Run)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", exposition.ContentType)
		_, _ = run.WriteTo(w) // it is the client's loss
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	p.Logf("serving metrics at http://%s/metrics", l.Addr())
	watch = func(m load.Moment) {
		run.Watch(m)
		next(m)
	}
	return watch, func() {
		if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
			p.Logf("serving metrics: %v", err)
		}
	}, nil
}
