package fakes_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// FuzzServer sends anything: the server must answer every line with one reply, close
// at the end, and still serve others.
func FuzzServer(f *testing.F) {
	for _, line := range refusedLines {
		f.Add([]byte(line + "\r\n"))
	}
	for _, field := range refusedFields {
		f.Add([]byte(job("a", field) + "\r\nFETCH\r\n"))
	}
	f.Add([]byte(session))
	f.Add([]byte(`PUSH {"jid":"\ud800","jobtype":"\\","args":[{"a":[]}],"jid":"b" , "x" : {"y":"}"} }` + "\r\nFETCH\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, dial := memory(t, fakes.Config{FetchBlock: time.Microsecond, MaxLine: 8000})
		defer s.Close()
		w := dial().greet(producer)
		go func() {
			_, _ = w.conn.Write(data) // after END it is not read
			_ = w.conn.(interface{ CloseWrite() error }).CloseWrite()
		}()
		replies := 0
		for ; ; replies++ {
			if _, err := w.try(); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
		}
		if !bytes.Contains(data, []byte("END\r\n")) {
			require.Equal(t, bytes.Count(data, []byte("\n")), replies)
		}
		require.Equal(t, "+OK", dial().greet(producer).do("FLUSH"))
	})
}
