package target

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// faktory returns the starter of the Faktory server, whose program is at a path, or is
// "faktory" on the PATH.
func faktory(path string) Starter {
	return Starter{
		Command: `exec env FAKTORY_PASSWORD={password} HOME="$FWP_DIR" ` + text.ShellQuote(cmp.Or(path, "faktory")) +
			` -b 127.0.0.1:{port} -w 127.0.0.1:{webport} -d "$FWP_DIR/db" -c "$FWP_DIR" -e development -l warn`,
		socket:      "/db/redis.sock",
		NewOperator: func(p Place) Operator { return faktoryWeb{p} },
	}
}

// faktoryWeb quiets and terminates workers as the page "Busy" of Faktory's web interface does.
type faktoryWeb struct{ place Place }

// Can implements [Operator].
func (w faktoryWeb) Can(action Action) bool { return action == Quiet || action == Terminate }

// Do implements [Operator].
func (w faktoryWeb) Do(ctx context.Context, action Action, wid string) error {
	form := url.Values{"wid": {wid}, "signal": {string(action)}}.Encode()
	page := fmt.Sprintf("http://127.0.0.1:%d/busy", w.place.WebPort)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, page, strings.NewReader(form))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w.place.Password != "" {
		request.SetBasicAuth("", w.place.Password)
	}
	// It answers with a redirection to the page; following that would be in vain.
	reply, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s a worker: %w", action, err)
	}
	_ = reply.Body.Close() // the status says everything
	if reply.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s a worker: the web interface answers %s", action, reply.Status)
	}
	return nil
}
