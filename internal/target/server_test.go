package target

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lineServer is a server that says one line on every connection.
func lineServer(t *testing.T, network, at string, config *tls.Config) Address {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), network, at)
	if err != nil && network == "tcp6" {
		t.Skipf("there is no IPv6 here: %v", err)
	}
	require.NoError(t, err)
	if config != nil {
		ln = tls.NewListener(ln, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(nc, "hello\n")
			_ = nc.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	a := addressOf(t, ln)
	a.TLS = config != nil
	return a
}

// certificate is httptest's, for 127.0.0.1, ::1 and example.com, and the file
// that its authority is in.
func certificate(t *testing.T) (config *tls.Config, caFile string) {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	require.NoError(t, os.WriteFile(caFile, text, 0o600))
	return &tls.Config{Certificates: web.TLS.Certificates}, caFile
}

func TestDial(t *testing.T) {
	t.Parallel()
	config, caFile := certificate(t)
	tests := map[string]struct {
		address Address
		options TLSOptions
		advice  string // about the error, "" if there is none
	}{
		"plain":   {address: lineServer(t, "tcp", "127.0.0.1:0", nil)},
		"secured": {address: lineServer(t, "tcp", "127.0.0.1:0", config), options: TLSOptions{CAFile: caFile}},
		"other name": {address: lineServer(t, "tcp", "127.0.0.1:0", config),
			options: TLSOptions{CAFile: caFile, ServerName: "example.com"}},
		"insecure":   {address: lineServer(t, "tcp", "127.0.0.1:0", config), options: TLSOptions{Insecure: true}},
		"unknown CA": {address: lineServer(t, "tcp", "127.0.0.1:0", config), advice: "--tls-ca FILE"},
		"wrong name": {address: lineServer(t, "tcp", "127.0.0.1:0", config),
			options: TLSOptions{CAFile: caFile, ServerName: "fwp.invalid"}, advice: "--tls-server-name NAME"},
		"TLS for plain": {address: withTLS(lineServer(t, "tcp", "127.0.0.1:0", nil)), advice: "which is not TLS"},
		"refused":       {address: Address{Host: "127.0.0.1", Port: "1"}, advice: "is the server running, and is 1 the port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := test.options.Config(test.address)
			require.NoError(t, err)
			nc, err := (&Server{Address: test.address, TLS: config}).Dial(t.Context())
			if test.advice != "" {
				require.Error(t, err)
				assert.Contains(t, test.address.Advice(err), test.advice)
				return
			}
			require.NoError(t, err)
			defer nc.Close()
			text, err := io.ReadAll(nc)
			require.NoError(t, err)
			assert.Equal(t, "hello\n", string(text))
		})
	}
}

func withTLS(a Address) Address {
	a.TLS = true
	return a
}

func TestDialIPv6(t *testing.T) {
	t.Parallel()
	a := lineServer(t, "tcp6", "[::1]:0", nil)
	nc, err := (&Server{Address: a}).Dial(t.Context())
	require.NoError(t, err)
	assert.NoError(t, nc.Close())
}

func TestProbe(t *testing.T) {
	t.Parallel()
	config, _ := certificate(t)
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	tests := map[string]struct {
		address Address
		advice  string
	}{
		"TLS":  {lineServer(t, "tcp", "127.0.0.1:0", config), "this is a TLS server"},
		"HTTP": {addressOf(t, web.Listener), "this is an HTTP server"},
		"else": {lineServer(t, "tcp", "127.0.0.1:0", nil), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			advice := (&Server{Address: test.address}).Recognize(t.Context())
			assert.Contains(t, advice, test.advice)
			assert.Equal(t, test.advice == "", advice == "")
		})
	}
}

func addressOf(t *testing.T, ln net.Listener) Address {
	t.Helper()
	host, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	return Address{Host: host, Port: port}
}

func TestTLSOptions(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	secured := Address{TLS: true, Host: "fwp.example"}
	tests := map[string]struct {
		address Address
		options TLSOptions
		invalid string
	}{
		"for a plain URL": {options: TLSOptions{ServerName: "x"}, invalid: "tcp+tls://"},
		"at odds":         {address: secured, options: TLSOptions{Insecure: true, CAFile: "x"}, invalid: "checks nothing"},
		"no file": {address: secured, options: TLSOptions{CAFile: filepath.Join(t.TempDir(), "nosuch.pem")},
			invalid: "nosuch.pem"},
		"nothing in a file": {address: secured, options: TLSOptions{CAFile: empty}, invalid: "no certificate in PEM form"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.options.Config(test.address)
			assert.ErrorContains(t, err, test.invalid)
		})
	}
	config, err := TLSOptions{}.Config(Address{})
	require.NoError(t, err)
	assert.Nil(t, config)
	config, err = TLSOptions{}.Config(secured)
	require.NoError(t, err)
	assert.Equal(t, "fwp.example", config.ServerName)
}

func TestReadPassword(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want, invalid string }{
		"a line":         {text: "hunter2\n", want: "hunter2"},
		"no line end":    {text: "hunter2", want: "hunter2"},
		"of Windows":     {text: "hunter2\r\n", want: "hunter2"},
		"blanks are his": {text: " hunter 2 \n", want: " hunter 2 "},
		"empty":          {text: "", invalid: "it is empty"},
		"an empty line":  {text: "\n", invalid: "it is empty"},
		"two lines":      {text: "hunter2\nhunter3\n", invalid: "more than one line"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "password")
			require.NoError(t, os.WriteFile(file, []byte(test.text), 0o600))
			password, err := readPassword(file)
			if test.invalid != "" {
				require.ErrorContains(t, err, test.invalid)
				assert.NotContains(t, err.Error(), "hunter")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, password)
		})
	}
	_, err := readPassword(filepath.Join(t.TempDir(), "nosuch"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestDialBackend: workers connect to the port for them, and to the one of all where there is none.
func TestDialBackend(t *testing.T) {
	t.Parallel()
	back, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer back.Close()
	_, port, err := net.SplitHostPort(back.Addr().String())
	require.NoError(t, err)
	for _, a := range []Address{{Host: "127.0.0.1", Port: "1", Backend: port}, {Host: "127.0.0.1", Port: port}} {
		nc, err := (&Server{Address: a}).DialBackend(t.Context())
		require.NoError(t, err)
		assert.Equal(t, back.Addr().String(), nc.RemoteAddr().String())
		require.NoError(t, nc.Close())
	}
}

// The advice about a port names that of the protocol.
func TestAdviceNamesThePort(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[string]string{
		"":      "(7419 unless configured otherwise; its web page has another one)?",
		"workq": "(9922 unless configured otherwise)?",
		"emqp":  "(47291 unless configured otherwise)?",
	} {
		advice := Address{Protocol: protocol, Port: "1"}.Advice(syscall.ECONNREFUSED, others...)
		assert.Contains(t, advice, "is 1 the port on which it takes jobs "+want)
	}
}

func TestReached(t *testing.T) {
	t.Parallel()
	first, second := netip.MustParseAddrPort("192.0.2.1:7419"), netip.MustParseAddrPort("[2001:db8::1]:7419")
	r := new(ReachedAddresses)
	assert.Empty(t, r.Words(t.Context(), "localhost"), "no connection was opened")
	r.Note(first)
	r.Note(second)
	r.Note(first)
	assert.Contains(t, r.Words(t.Context(), "localhost"), "connected to 192.0.2.1, 2001:db8::1; localhost is ",
		"the name has others by now")
	assert.Equal(t, "connected to 192.0.2.1, 2001:db8::1", r.Words(t.Context(), "name.invalid"))
	assert.Empty(t, r.Words(t.Context(), "192.0.2.1"), "the URL has the address")
	var none *ReachedAddresses
	none.Note(first)
	assert.Empty(t, none.Words(t.Context(), "localhost"))
}
