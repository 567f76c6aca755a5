package fakes_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// withMemoryServer runs a test in virtual time against a server in an in-memory network.
func withMemoryServer(t *testing.T, config fakes.Config, test func(t *testing.T, s *fakes.Server, dial func() *wire)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, dial := memory(t, config)
		test(t, s, dial)
		s.Close()
	})
}

func TestFetchBlocks(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		p, c := dial().greet(producer), dial().greet(producer)
		begin := time.Now()
		assert.Equal(t, "$-1", c.do("FETCH a b"))
		assert.Equal(t, 2*time.Second, elapsed(begin))

		begin = time.Now()
		c.send("FETCH a b\r\n")
		time.Sleep(700 * time.Millisecond)
		require.Equal(t, "+OK", p.do(job("second", `"queue":"b"`)))
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, "+OK", p.do(job("first", `"queue":"a"`)))
		assert.Contains(t, c.read(), `"first"`)
		assert.Equal(t, 800*time.Millisecond, elapsed(begin))
		assert.Contains(t, c.do("FETCH a b"), `"second"`)
		assert.Equal(t, 800*time.Millisecond, elapsed(begin))

		begin = time.Now()
		c.send("FETCH a\r\nINFO\r\n")
		assert.Equal(t, "$-1", c.read())
		assert.Equal(t, 2*time.Second, elapsed(begin), "although another job was pushed")
		assert.Contains(t, c.read(), `"queues":{"default":0}`, "the names are forgotten")
	})
}

func TestTheLongestWaitIsServedFirst(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		p, leaver, c, d := dial().greet(producer), dial().greet(producer), dial().greet(producer), dial().greet(producer)
		for _, w := range []*wire{leaver, c, d} {
			w.send("FETCH q\r\n")
			synctest.Wait()
		}
		leaver.conn.Close()
		synctest.Wait()
		require.Equal(t, "+OK", p.do(job("one", `"queue":"q"`)))
		require.Equal(t, "+OK", p.do(job("two", `"queue":"q"`)))
		assert.Contains(t, c.read(), `"one"`)
		assert.Contains(t, d.read(), `"two"`)
	})
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		p, c := dial().greet(producer), dial().greet(producer)
		begin := time.Now()
		at := func(d time.Duration) string {
			return `"at":"` + begin.Add(d).In(time.FixedZone("", 5400)).Format(time.RFC3339Nano) + `"`
		}
		for _, push := range []string{job("late", at(4100*time.Millisecond)), job("soon", at(1500*time.Millisecond)),
			job("past", at(-time.Hour)), job("blank", `"at":""`), job("null", `"at":null`)} {
			require.Equal(t, "+OK", p.do(push))
		}
		for _, jid := range []string{"past", "blank", "null"} {
			assert.Contains(t, c.do("FETCH"), jid)
		}
		assert.Contains(t, p.do("INFO"), `"scheduled":2`)
		assert.Zero(t, elapsed(begin))
		assert.Contains(t, c.do("FETCH"), `"soon"`)
		assert.Equal(t, 1500*time.Millisecond, elapsed(begin))
		assert.Equal(t, "$-1", c.do("FETCH"))
		assert.Contains(t, c.do("FETCH"), `"late"`)
		assert.Equal(t, 4100*time.Millisecond, elapsed(begin))
	})
}

func TestSlowScheduler(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{ScanEvery: 5 * time.Second, FetchBlock: time.Minute},
		func(t *testing.T, _ *fakes.Server, dial func() *wire) {
			c := dial().greet(producer)
			begin := time.Now()
			require.Equal(t, "+OK", c.do(job("j", `"at":"`+begin.Add(6*time.Second).Format(time.RFC3339)+`"`)))
			assert.Contains(t, c.do("FETCH"), `"j"`)
			assert.Equal(t, 10*time.Second, elapsed(begin))
		})
}

func TestReservationsRunOut(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{FetchBlock: time.Hour, RetryDelay: func(int) time.Duration { return 0 }},
		func(t *testing.T, _ *fakes.Server, dial func() *wire) {
			c := dial().greet(producer)
			require.Equal(t, "+OK", c.do(job("short", `"reserve_for":60`)))
			require.Equal(t, "+OK", c.do(job("usual", "")))
			first := c.do("FETCH")
			assert.NotContains(t, first, `"failure"`)
			require.Contains(t, c.do("FETCH"), `"usual"`)
			begin := time.Now()
			second := c.do("FETCH")
			assert.Contains(t, second, `"short"`)
			assert.Contains(t, second, `"errtype":"ReservationExpired"`)
			assert.Equal(t, 61*time.Second, elapsed(begin), "the reservation and the shortest back-off")
			assert.NotEqual(t, textBetween(first, `"enqueued_at":"`, `"`), textBetween(second, `"enqueued_at":"`, `"`))
			require.Equal(t, "+OK", c.do(`ACK {"jid":"short"}`))
			assert.Contains(t, c.do("FETCH"), `"usual"`)
			assert.Equal(t, 1801*time.Second, elapsed(begin))
		})
}

func textBetween(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

func TestRetries(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{FetchBlock: time.Minute}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		c := dial().greet(producer)
		fail := func(jid string) string {
			return c.do(`FAIL {"jid":"` + jid + `","errtype":"Broken","message":"` + strings.Repeat("é", 600) +
				`","backtrace":["one","two","three","four"]}`)
		}
		for _, push := range []string{job("zero", `"retry":0`), job("minus", `"retry":-1`),
			job("once", `"retry":1,"backtrace":2`)} {
			require.Equal(t, "+OK", c.do(push))
			require.Contains(t, c.do("FETCH"), `"jid"`)
		}
		for _, jid := range []string{"zero", "minus", "once"} {
			require.Equal(t, "+OK", fail(jid))
		}
		assert.Contains(t, c.do("INFO"), `"sets":{"dead":1,"retries":1,"scheduled":0,"working":0}`)
		begin := time.Now()
		got := c.do("FETCH")
		assert.Contains(t, got, `"failure":{"errtype":"Broken","message":"`+strings.Repeat("é",
			500)+`","backtrace":["one","two"],`)
		assert.GreaterOrEqual(t, elapsed(begin), 16*time.Second)
		assert.LessOrEqual(t, elapsed(begin), 26*time.Second)
		require.Equal(t, "+OK", fail("once"))
		assert.Contains(t, c.do("INFO"), `"sets":{"dead":2,"retries":0,"scheduled":0,"working":0}`)
		assert.Equal(t, "$-1", c.do("FETCH"))
	})
}

func TestFlushClearsEverything(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		c, waiting := dial().greet(producer), dial().greet(producer)
		soon := `"at":"` + time.Now().Add(time.Second).Format(time.RFC3339) + `"`
		for _, push := range []string{job("retried", ""), job("held", ""), job("queued", `"queue":"q"`), job("later", soon)} {
			require.Equal(t, "+OK", c.do(push))
		}
		require.Contains(t, c.do("FETCH"), "retried")
		require.Contains(t, c.do("FETCH"), "held")
		require.Equal(t, "+OK", c.do(`FAIL {"jid":"retried"}`))
		waiting.send("FETCH other\r\n")
		synctest.Wait()
		require.Equal(t, "+OK", c.do("FLUSH"))
		assert.Contains(t, c.do("INFO"), `"sets":{"dead":0,"retries":0,"scheduled":0,"working":0}`)
		assert.Regexp(t, "^-ERR", c.do(`FAIL {"jid":"held"}`))
		require.Equal(t, "+OK", c.do(job("new", `"queue":"other"`)))
		assert.Contains(t, waiting.read(), "new")
		time.Sleep(time.Minute)
		assert.Equal(t, "$-1", c.do("FETCH default q"))
	})
}

func TestQuietWorkersGetNothing(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, s *fakes.Server, dial func() *wire) {
		c := dial().greet(strings.Replace(consumer, "%s", "w", 1))
		require.NoError(t, s.Signal("w", "quiet"))
		require.Equal(t, "+OK", c.do(job("before", "")))
		assert.Contains(t, c.do("FETCH"), "before", "the worker does not know yet")
		for range 2 {
			assert.Equal(t, `${"state":"quiet"}`, c.do(`BEAT {"wid":"w"}`))
		}
		require.Equal(t, "+OK", c.do(job("after", "")))
		begin := time.Now()
		assert.Equal(t, "$-1", c.do("FETCH"))
		assert.Equal(t, 2*time.Second, elapsed(begin))
		time.Sleep(75 * time.Second)
		assert.Equal(t, "+OK", c.do(`ACK {"jid":"before"}`), "the connection stays open")
	})
}

func TestHelloTimeout(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{HelloTimeout: 2 * time.Second}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		slow, quick := dial(), dial().greet(producer)
		begin := time.Now()
		slow.read()
		slow.expectEnd()
		assert.Equal(t, 2*time.Second, elapsed(begin))
		time.Sleep(time.Hour)
		assert.Equal(t, "$-1", quick.do("FETCH"))
	})
}
