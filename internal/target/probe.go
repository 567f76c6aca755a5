package target

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"strings"
	"sync"
	"time"
)

// probeTimeout bounds the questions to a server. One that understands them
// answers at once.
const probeTimeout = 3 * time.Second

// Probe asks a server that does not greet as FWP servers do what it is instead.
// It returns what to do about it in one sentence, "" if that is not known, and
// waits until ctx is done, but not longer than 3 s.
func (s *Server) Probe(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var web, secured bool
	var asking sync.WaitGroup
	asking.Go(func() { web = s.speaksHTTP(ctx) })
	asking.Go(func() { secured = s.TLS == nil && s.speaksTLS(ctx) })
	asking.Wait()
	switch {
	case web:
		return "this is an HTTP server, perhaps the web page of an FWP server: " +
			"its port for jobs is another one (7419 unless configured otherwise)"
	case secured:
		return "this is a TLS server: use a tcp+tls:// URL"
	}
	return ""
}

// speaksTLS reports whether a server accepts a TLS handshake.
func (s *Server) speaksTLS(ctx context.Context) bool {
	unchecked := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // nothing is sent on it
	secure := &Server{Address: s.Address, TLS: unchecked}
	nc, err := secure.Dial(ctx)
	if err != nil {
		return false
	}
	_ = nc.Close()
	return true
}

func (s *Server) speaksHTTP(ctx context.Context) bool {
	nc, err := s.Dial(ctx)
	if err != nil {
		return false
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(nc, "HEAD / HTTP/1.0\r\n\r\n"); err != nil {
		return false
	}
	answer, _ := bufio.NewReader(io.LimitReader(nc, 100)).ReadString('\n')
	return strings.HasPrefix(answer, "HTTP/")
}
