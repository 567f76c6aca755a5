package shared

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// WebServer returns an HTTP server that no client can keep busy: a request has a minute, its header 10 s and 64 KiB,
// and a connection without a request two minutes.
func WebServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}

// maxConnections is how many connections are served at a time; others wait in the operating system.
const maxConnections = 32

// LimitListener returns a listener that has at most 32 connections open at a time.
func LimitListener(l net.Listener) net.Listener {
	return limitListener{l, make(chan struct{}, maxConnections)}
}

type limitListener struct {
	net.Listener
	slots chan struct{}
}

func (f limitListener) Accept() (net.Conn, error) {
	f.slots <- struct{}{}
	nc, err := f.Listener.Accept()
	if err != nil {
		<-f.slots
		return nil, err
	}
	return &limitListenerConn{Conn: nc, release: sync.OnceFunc(func() { <-f.slots })}, nil
}

// limitListenerConn is a connection that makes room for another one when it is closed.
type limitListenerConn struct {
	net.Conn
	release func()
}

func (c *limitListenerConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
