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
	"github.com/fwpsuite/fwp/load/results"
)

// metricsFlag is the flags that have the figures of a run served while it goes on, and some time longer.
type metricsFlag struct {
	address string
	linger  time.Duration
}

func (o *metricsFlag) declare(f *pflag.FlagSet) {
	f.StringVar(&o.address, "serve-metrics", "",
		"serve Prometheus metrics of the run at `ADDRESS`, as in localhost:9464, at /metrics")
	f.DurationVar(&o.linger, "serve-metrics-linger", 0,
		"serve the final metrics for this long after the run; give one scrape interval of Prometheus")
}

// validate checks the values that no flag checks by itself.
func (o *metricsFlag) validate() error {
	switch {
	case o.linger < 0:
		return errors.New("--serve-metrics-linger must be 0 or more")
	case o.linger > 0 && o.address == "":
		return errors.New("--serve-metrics-linger: nothing is served; use it with --serve-metrics ADDRESS")
	}
	return nil
}

// serve serves the plan of a run, then its figures, and the final ones, until end is called and has returned, and
// returns what takes the figures each second, before next does. An error is one of usage: the address cannot be
// listened on.
func (o *metricsFlag) serve(
	ctx context.Context, p process, name string, plan results.LoadPlan, next func(load.Progress),
) (watch func(load.Progress), end func(), err error) {
	if o.address == "" {
		return next, func() {}, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", o.address)
	if err != nil {
		return nil, nil, fmt.Errorf("--serve-metrics %s: %w", o.address, err)
	}
	run := newExposition(name, plan)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", expositionType)
		_, _ = run.WriteTo(w) // it is the client's loss
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	p.Logf("serving metrics at http://%s/metrics", l.Addr())
	watch = func(m load.Progress) {
		run.Watch(m)
		next(m)
	}
	return watch, func() {
		if o.linger > 0 && ctx.Err() == nil {
			p.Logf("serving the final metrics for %v more", o.linger)
			run.End()
			select {
			case <-time.After(o.linger):
			case <-ctx.Done():
			}
		}
		if err := errors.Join(server.Close(), <-done); !errors.Is(err, http.ErrServerClosed) {
			p.Logf("serving metrics: %v", err)
		}
	}, nil
}
