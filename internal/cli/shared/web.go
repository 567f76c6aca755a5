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

// mostWeb is how many connections are served at a time; others wait in the operating system.
const mostWeb = 32

// Few returns a listener that has at most 32 connections open at a time.
func Few(l net.Listener) net.Listener { return few{l, make(chan struct{}, mostWeb)} }

type few struct {
	net.Listener
	open chan struct{}
}

func (f few) Accept() (net.Conn, error) {
	f.open <- struct{}{}
	nc, err := f.Listener.Accept()
	if err != nil {
		<-f.open
		return nil, err
	}
	return &counted{Conn: nc, leave: sync.OnceFunc(func() { <-f.open })}, nil
}

// counted is a connection that makes room for another one when it is closed.
type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
