package situations

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes/fakeworker"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/reports"
)

// inMemory returns a harness for the worker or the producer of fakes/fakeworker on a network of its own.
func inMemory(configure func(*fakeworker.Config), producer bool) *Harness {
	network := memnet.New()
	var last atomic.Int64
	listen := func(ipv6 bool) (net.Listener, error) {
		host := fmt.Sprintf("fwp%d", last.Add(1))
		if ipv6 {
			host = fmt.Sprintf("[fd00::%d]", last.Load())
		}
		return network.Listen(host + ":7419")
	}
	certificate, roots := selfSigned()
	return &Harness{
		Launcher: &InProcess{Dial: network.DialContext, Configure: configure, Producer: producer, Roots: roots},
		Producer: producer, Certificate: certificate, Listen: listen, ListenAgain: network.Listen,
	}
}

// selfSigned returns a certificate for the names of inMemory, and what trusts it.
var selfSigned = sync.OnceValues(func() (*tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
		IsCA: true, BasicConstraintsValid: true,
	}
	for n := range 500 {
		template.DNSNames = append(template.DNSNames, fmt.Sprintf("fwp%d", n))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
})

// run plays situations on a worker in virtual time; no ids: all.
func runChecks(t *testing.T, configure func(*fakeworker.Config), ids ...string) *reports.Report {
	t.Helper()
	return played(t, inMemory(configure, false), []string{"C", "K"}, ids)
}

// runProducer plays situations on a producer.
func runProducer(t *testing.T, configure func(*fakeworker.Config), ids ...string) *reports.Report {
	t.Helper()
	return played(t, inMemory(configure, true), []string{"C", "P"}, ids)
}

func played(t *testing.T, h *Harness, parties, ids []string) *reports.Report {
	t.Helper()
	var report *reports.Report
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		_, err := h.Identify(t.Context())
		require.NoError(t, err)
		selection := conformance.Selection{Protocol: fwpsuite.Protocol(), Checks: ids}
		checks, _, err := selection.Apply(h.Checks())
		require.NoError(t, err)
		r := &run.Runner{
			Protocol: fwpsuite.Protocol(),
			Servers:  []run.Server{{Target: Target{}}}, Checks: checks, Parties: parties, Virtual: true,
		}
		report = r.Run(t.Context())
	})
	require.Empty(t, report.Internal)
	return report
}

// wrong returns what is not green in a report.
func wrong(report *reports.Report) (all []string) {
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			if cv.Verdict.Breach() || cv.Verdict == reports.Inconclusive || cv.Verdict == reports.NotRun {
				all = append(all, fmt.Sprintf("%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why))
			}
		}
	}
	return all
}

// TestConformingWorker judges a worker that is right: nothing is found, and every clause is decided in some situation.
// In which one is a matter of chance for a few: a worker may have done all its jobs before its second connection
// greets.
func TestConformingWorker(t *testing.T) {
	t.Parallel()
	conforms(t, runChecks(t, nil))
}

// TestConformingProducer is the same for a producer.
func TestConformingProducer(t *testing.T) {
	t.Parallel()
	conforms(t, runProducer(t, nil))
}

func conforms(t *testing.T, report *reports.Report) {
	t.Helper()
	passed := map[string]bool{}
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			passed[cv.ID] = passed[cv.ID] || cv.Verdict == reports.Pass
		}
	}
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			assert.False(t, cv.Verdict.Breach(), "%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why)
			open := cv.Verdict == reports.Inconclusive || cv.Verdict == reports.NotRun
			assert.False(t, open && !passed[cv.ID], "%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why)
		}
	}
}

// several is a launcher of programs that have two workers each, with a worker id of its own.
type several struct{ *InProcess }

func (l several) Launch(e Environment) (Process, error) {
	e.Concurrency = max(1, e.Concurrency/2)
	first, err := l.InProcess.Launch(e)
	if err != nil {
		return nil, err
	}
	second, err := l.InProcess.Launch(e)
	if err != nil {
		first.Kill()
		return nil, err
	}
	p := &both{first, second, make(chan struct{})}
	go func() {
		<-first.Over()
		<-second.Over()
		close(p.over)
	}()
	return p, nil
}

// both is such a program.
type both struct {
	Process
	second Process
	over   chan struct{}
}

func (p *both) Over() <-chan struct{} { return p.over }
func (p *both) Kill()                 { p.Process.Kill(); p.second.Kill(); <-p.over }
func (p *both) Signal(name string)    { p.Process.Signal(name); p.second.Signal(name) }

// TestSeveralWorkersInAProcess: what one worker of a process was told binds this one, and no other.
func TestSeveralWorkersInAProcess(t *testing.T) {
	t.Parallel()
	h := inMemory(nil, false)
	h.Launcher = several{h.Launcher.(*InProcess)}
	report := played(t, h, []string{"C", "K"}, []string{"quiet/*", "terminate/*", "beat/eventful", "fetch/*", "signal/*"})
	decided := 0
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			assert.False(t, cv.Verdict.Breach(), "%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why)
			if cv.Verdict == reports.Pass {
				decided++
			}
		}
	}
	assert.Greater(t, decided, 20)
}
