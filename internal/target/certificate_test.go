package target

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clientPair writes the certificate of a configuration, its key, another key and an encrypted one, and returns the
// files.
func clientPair(t *testing.T, config *tls.Config) (cert, key, other, encrypted string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return file
	}
	der, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	require.NoError(t, err)
	otherKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	return write("cert.pem", "CERTIFICATE", config.Certificates[0].Certificate[0]), write("key.pem", "PRIVATE KEY", der),
		write("other.pem", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(otherKey)),
		write("encrypted.pem", "ENCRYPTED PRIVATE KEY", der)
}

// TLS 1.3 refuses a client without a certificate after the handshake, at the first read, and TLS 1.2 within it.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	config, caFile := certificate(t)
	cert, key, _, _ := clientPair(t, config)
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		for pair, options := range map[string]TLSOptions{
			"none": {CAFile: caFile}, "the right one": {CAFile: caFile, CertFile: cert, KeyFile: key},
		} {
			t.Run(name+", "+pair, func(t *testing.T) {
				t.Parallel()
				asks := config.Clone()
				asks.ClientAuth, asks.MinVersion, asks.MaxVersion = tls.RequireAnyClientCert, version, version
				at := lineServer(t, "tcp", "127.0.0.1:0", asks)
				config, err := options.Config(at)
				require.NoError(t, err)
				nc, err := (&Server{Address: at, TLS: config}).Dial(t.Context())
				var text []byte
				if err == nil {
					text, err = io.ReadAll(nc)
					assert.NoError(t, nc.Close())
				}
				if pair == "none" {
					assert.NotEmpty(t, Alert(err), "%v", err)
					assert.Contains(t, at.Advice(err), "--tls-cert FILE and --tls-key FILE")
					return
				}
				require.NoError(t, err)
				assert.Equal(t, "hello\n", string(text))
			})
		}
	}
}

func TestClientCertificatesThatAreNone(t *testing.T) {
	t.Parallel()
	config, _ := certificate(t)
	cert, key, other, encrypted := clientPair(t, config)
	for want, o := range map[string]TLSOptions{
		"--tls-cert and --tls-key": {CertFile: cert}, "needs its key": {KeyFile: key},
		"does not match":    {CertFile: cert, KeyFile: other},
		"has a passphrase":  {CertFile: cert, KeyFile: encrypted},
		"find any PEM":      {CertFile: os.DevNull, KeyFile: key},
		"--tls-key: ":       {CertFile: cert, KeyFile: filepath.Join(t.TempDir(), "nosuch")},
		"tcp+tls://":        {CertFile: cert, KeyFile: key},
		"found a cert":      {CertFile: cert, KeyFile: cert},
		"--tls-cert nosuch": {CertFile: "nosuch", KeyFile: key},
	} {
		_, err := o.Config(Address{TLS: want != "tcp+tls://", Host: "fwp.example"})
		if want == "--tls-cert nosuch" {
			want = "--tls-cert: "
		}
		assert.ErrorContains(t, err, want)
	}
}

func TestAdviceOnAlerts(t *testing.T) {
	t.Parallel()
	for alert, advice := range map[string]string{
		"certificate required": "wants a client certificate", "handshake failure": "wants a client certificate",
		"protocol version not supported": "TLS 1.2 or 1.3", "unrecognized name": "--tls-server-name NAME",
		"bad certificate": "is the certificate valid", "unknown certificate authority": "trust its authority",
	} {
		assert.Contains(t, adviceOnAlert(alert), advice)
	}
}
