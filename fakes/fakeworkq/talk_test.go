package fakeworkq_test

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/memnet"
)

// talk is a conversation of two clients with a server: "a add $1 ping 1000 60000 4\npong" is sent by client a, in which
// $1 is an id and a line ends with CRLF; "2s" lets time pass.
type talk []string

// play returns what the clients received, in virtual time: "12.5s a +OK\r\n", as Go writes it, a line for each step,
// client and instant.
func (k talk) play(t *testing.T, config fakeworkq.Config) string {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	began := time.Time{}
	step, last := 0, ""
	log := func(who, text string) {
		mu.Lock()
		defer mu.Unlock()
		text = strings.ReplaceAll(strings.Trim(strconv.Quote(text), `"`), `\"`, `"`)
		for _, id := range []string{id1, id2, id3} {
			text = strings.ReplaceAll(text, id[:35], "$")
		}
		head := fmt.Sprintf("%.1fs %s ", time.Since(began).Seconds(), who)
		if here := fmt.Sprint(step, head); here != last {
			last, lines = here, append(lines, head)
		}
		lines[len(lines)-1] += text // how replies fall into reads is chance
	}
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		place := memnet.NewPlace()
		s := fakeworkq.NewServer(config)
		go s.Serve(place.MustListen())
		clients := map[string]net.Conn{}
		for _, who := range []string{"a", "b"} {
			nc := place.MustDial()
			clients[who] = nc
			go func() {
				buffer := make([]byte, 4096)
				for {
					n, err := nc.Read(buffer)
					if n > 0 {
						log(who, string(buffer[:n]))
					}
					if err != nil {
						log(who, "closed")
						return
					}
				}
			}()
		}
		for i, action := range k {
			mu.Lock()
			step = i
			mu.Unlock()
			if d, err := time.ParseDuration(action); err == nil {
				time.Sleep(d)
				synctest.Wait()
				continue
			}
			who, text, _ := strings.Cut(action, " ")
			text = strings.NewReplacer("$1", id1, "$2", id2, "$3", id3, "\n", "\r\n").Replace(text)
			_, _ = clients[who].Write([]byte(text + "\r\n")) // a server that has closed the connection does not read
			synctest.Wait()
		}
		time.Sleep(30 * time.Second)
		s.Close()
		synctest.Wait()
	})
	return long.ReplaceAllStringFunc("\n"+strings.Join(lines, "\n"), func(run string) string {
		return fmt.Sprintf("x{%d}", len(run))
	})
}

// long is what is told by its length: "x{40000}".
var long = regexp.MustCompile(`x{100,}`)

// talks are the conversations in which variations show.
var talks = map[string]talk{
	"add": {
		"a add $1 ping 1000 60000 4 -max-attempts=2 -max-fails=2 -priority=5\npong", "a add $1 ping 1000 60000 4\npong",
		"a inspect job $1", "a add $2 ping 1000 60000 5 -priority=-1\n a\x00b ", "a inspect job $2",
		"a add $3 ping 1000 60000 0\n", "a inspect jobs ping 1 2", "a inspect jobs ping 0 1", "a inspect queues 0 10",
		"a inspect queues 0 0", "a inspect queue ping", "a inspect server", "a lease ping 0", "a lease ping 0",
		"a lease ping 0",
		"a lease ping 500", "1s", "a delete $2", "a delete $2", "a delete $1",
	},
	"large": {
		"a add $1 ping 1000 60000 40000\n" + strings.Repeat("x", 40_000), "a lease ping 0",
		"a add $2 ping 1000 5000000000 0\n", "a add $3 ping 1000 18446744073709 0\n", "a inspect job $2",
		"a inspect job $3",
		"a lease ping 0", "a lease ping 0", "a delete $3",
	},
	"fail": {
		"a add $1 ping 60000 600000 0 -max-attempts=2 -max-fails=3\n", "a lease ping 0", "a fail $1 3\nbad",
		"a inspect job $1",
		"a lease ping 0", "a fail $1 3\nbad", "a inspect job $1", "a result $1 0", "a lease ping 0",
		"a add $2 ping 60000 600000 0\n", "a lease ping 0", "a fail $2 3\nbad", "a result $2 0", "a inspect job $2",
		"a fail $3 1\nx",
	},
	"live": {
		"a add $1 ping 5000 2000 0\n", "a add $2 ping 1000 2000 0\n", "a lease ping 0", "2500ms", "a inspect job $1",
		"a inspect job $2", "a inspect server",
	},
	"waits": {
		"a lease ping 2000", "5s", "a result $1 500", "a add $1 ping 1000 60000 0\n", "a result $1 1000", "3s",
		"b lease a b c d e f g h i pong 20000", "a add $2 pong 70000 100000 2\nhi", "25s", "1h",
	},
	"schedule": {
		"a schedule $1 ping 1000 5000 2000-01-01T00:00:05Z 0 -priority=7 -max-attempts=9 -max-fails=8\n",
		"a inspect scheduled-jobs ping 0 10", "a inspect scheduled-jobs ping 0 0", "a inspect queue ping",
		"a schedule $2 ping 1000 5000 2000-01-01T00:00:09Z 0\n", "a delete $2", "a inspect job $2", "a lease ping 0",
		"a lease ping 20000", "8s", "a inspect job $1", "20s",
	},
	"elsewhere": {"a add $1 ping 1000 60000 0\n", "a lease ping 0", "b complete $1 1\nx"},
	"expiry": {
		"a add $1 ping 6000 60000 0\n", "5s", "a lease ping 0", "3s", "b lease ping 0",
		"a add $2 pong 1000 60000 0\n", "a lease pong 0", "b lease pong 5000",
	},
	"refused": {
		"a add 1 ping 1000 60000 4\npong", "a add $1 p!ng 1000 60000 4\npong", "a add $1 ping x 60000 4\npong",
		"a add $1 ping 1000 60000 4 -priority=x\npong", "a add $1 ping 1000 60000 4 -max-attempts=x\npong", "a lease",
		"a schedule $1 ping 1000 60000 yesterday 0\n", "a add $1 p.ng 1000 60000 4\npong",
		"b add $1 ping 1000 60000 4\npong!",
	},
	"too large": {"a add $1 ping 1000 60000 1048577\n" + strings.Repeat("x", 1<<20+1), "a inspect server"},
	"again": {
		"a add $1 ping 1000 60000 0\n", "a lease ping 0", "a complete $1 1\nx", "a complete $1 1\nx",
		"a add $1 ping 1000 60000 0\n",
		"a inspect jobs ping 0 9", "a add $2 ping 1000 60000 0\n", "a add $3 ping 1000 60000 0\n",
		"a inspect jobs ping 0 9",
		"a lease ping 0", "a delete $2", "a delete $3", "a inspect queues 0 9", "a inspect server",
	},
}
