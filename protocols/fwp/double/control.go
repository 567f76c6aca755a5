package double

import (
	"cmp"
	_ "embed" // of the schema
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/text"
)

// schema is the JSON schema of the bodies.
//
//go:embed control.schema.json
var schema json.RawMessage

const maxBody = 8 << 20 // bytes of a request

// request is one that the control has. What it does not declare is refused: a test whose query or body is ignored gets
// an answer to another question.
type request struct {
	query   []string // the names that it reads
	hasBody bool     // it reads one
	serve   func(*http.Request) (any, error)
}

// requests returns the requests of the control by their patterns. bugByName returns the bug of a name.
func (d *Double) requests(bugByName func(string) (fakes.Bug, error)) map[string]request {
	value := func(get func() any) func(*http.Request) (any, error) {
		return func(*http.Request) (any, error) { return get(), nil }
	}
	act := func(do func()) func(*http.Request) (any, error) {
		return value(func() any { do(); return okBody{OK: true} })
	}
	return map[string]request{
		"GET /v1/jobs":        {query: []string{"queue"}, serve: d.getJobs},
		"POST /v1/jobs":       {hasBody: true, serve: d.postJobs},
		"GET /v1/schema":      {serve: value(func() any { return schema })},
		"GET /v1/stubs":       {serve: value(func() any { return d.Stubs() })},
		"POST /v1/stubs":      {hasBody: true, serve: d.postStub},
		"DELETE /v1/stubs":    {serve: act(d.RemoveStubs)},
		"GET /v1/journal":     {query: []string{"worker", "verb", "queue", "after"}, serve: d.getJournal},
		"POST /v1/verify":     {hasBody: true, serve: d.postVerify},
		"POST /v1/reset":      {hasBody: true, serve: d.postReset},
		"POST /v1/disconnect": {serve: act(func() { d.server.Disconnect() })},
		"POST /v1/quiet":      {hasBody: true, serve: func(r *http.Request) (any, error) { return d.postSignal(r, "quiet") }},
		"POST /v1/terminate": {
			hasBody: true, serve: func(r *http.Request) (any, error) { return d.postSignal(r, "terminate") },
		},
		"GET /v1/bugs":   {serve: value(func() any { return d.Bugs() })},
		"PUT /v1/bugs":   {hasBody: true, serve: func(r *http.Request) (any, error) { return d.putBugs(r, bugByName) }},
		"GET /v1/clock":  {serve: value(func() any { return d.clock() })},
		"POST /v1/clock": {hasBody: true, serve: d.postClock},
	}
}

// Handler returns the HTTP control of the double, version 1. bugByName returns the bug of a name. It serves requests to
// this machine only, and none that a browser sends on behalf of another site.
func (d *Double) Handler(bugByName func(string) (fakes.Bug, error)) http.Handler {
	mux := http.NewServeMux()
	paths := map[string]bool{"/busy": d.server.Config.Extension == fakes.Faktory}
	if paths["/busy"] {
		mux.Handle("POST /busy", request{hasBody: true}.guard(http.HandlerFunc(d.postBusy)))
		mux.Handle("GET /busy", request{}.guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintln(w, "fwpcheck serve") // the client is gone
		})))
	}
	for pattern, q := range d.requests(bugByName) {
		mux.Handle(pattern, q.guard(answer(q.serve)))
		_, path, _ := strings.Cut(pattern, " ")
		paths[path] = true
	}
	mux.Handle("/", answer(func(r *http.Request) (any, error) { return nil, unknownRequest(r, paths[r.URL.Path]) }))
	return http.NewCrossOriginProtection().Handler(requireLoopback(mux))
}

// guard lets only what the request declares reach its handler.
func (q request) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := q.check(r); err != nil {
			write(w, nil, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// check refuses what nothing would read.
func (q request) check(r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("the query: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(q.query, name):
			return fmt.Errorf("unknown query %.100q; expected %s", name, cmp.Or(strings.Join(q.query, ", "), "none"))
		case len(query[name]) > 1:
			return fmt.Errorf("the query has %s %d times", name, len(query[name]))
		case query[name][0] == "" && name != "worker": // a producer has no wid
			return fmt.Errorf("%s is empty: give a value, or leave it out for all", name)
		}
	}
	if q.hasBody {
		return nil
	}
	if _, err := io.ReadFull(r.Body, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s %s takes no body", r.Method, r.URL.Path)
	}
	return nil
}

// requireLoopback refuses requests whose host is not this machine: a page of another site that has its name resolved to
// 127.0.0.1.
func requireLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "only clients on this machine may use this", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// okBody is the answer to a request that was carried out.
type okBody struct {
	OK bool `json:"ok"`
}

// statusError is an error with an HTTP status other than 400.
type statusError struct {
	status int
	body   any
}

func (e *statusError) Error() string { return http.StatusText(e.status) }

// unknownRequest refuses a request that the control does not have, by its path or only by its method.
func unknownRequest(r *http.Request, hasPath bool) error {
	words := fmt.Sprintf("unknown request %.100q; docs/test-double.md lists the requests",
		r.Method+" "+r.URL.Path)
	if now := text.Replacement(path.Base(r.URL.Path)); now != "" {
		words += "; it is now called /v1/" + strings.TrimPrefix(now, "--")
	}
	status := http.StatusNotFound
	if hasPath {
		status = http.StatusMethodNotAllowed
	}
	return &statusError{status, map[string]string{"error": words}}
}

// answer writes what serve returns.
func answer(serve func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := serve(r)
		write(w, body, err)
	})
}

// write writes a body or an error as JSON.
func write(w http.ResponseWriter, body any, err error) {
	status := http.StatusOK
	if statusErr, ok := errors.AsType[*statusError](err); ok {
		status, body = statusErr.status, statusErr.body
	} else if err != nil {
		status, body = http.StatusBadRequest, map[string]string{"error": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone
}

// read decodes the body of a request, which may be empty.
func read(r *http.Request, value any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(value)
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("the body: %s cannot be of type %s", cmp.Or(typeErr.Field, "the whole"), typeErr.Value)
	}
	if err == nil && !errors.Is(decoder.Decode(new(json.RawMessage)), io.EOF) {
		return errors.New("the body: there is more behind its end")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// StoredJob is a job of the server.
type StoredJob struct {
	Place   string          `json:"place"` // queue, scheduled, retries, working or dead
	Queue   string          `json:"queue"`
	DueTime *time.Time      `json:"due,omitempty"`
	Job     json.RawMessage `json:"job"`
}

// getJobs returns the jobs of the server, or of one queue.
func (d *Double) getJobs(r *http.Request) (any, error) {
	query := r.URL.Query()
	jobs := []StoredJob{}
	for _, stored := range d.server.Jobs() {
		if query.Has("queue") && stored.Queue != query.Get("queue") {
			continue
		}
		j := StoredJob{Place: stored.Place, Queue: stored.Queue, Job: stored.Unit}
		if !stored.Due.IsZero() {
			j.DueTime = &stored.Due
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// getJournal returns the commands of the clients: those of a worker, with a verb, about a queue, or after a number.
func (d *Double) getJournal(r *http.Request) (any, error) {
	query := r.URL.Query()
	after := 0
	if text := query.Get("after"); text != "" {
		var err error
		if after, err = strconv.Atoi(text); err != nil {
			return nil, errors.New("after must be the number of an entry")
		}
	}
	if verb := query.Get("verb"); query.Has("verb") && !slices.Contains(fakes.Rules().Verbs, verb) {
		return nil, unknownVerb(verb)
	}
	return d.entries(func(e *Entry) bool {
		return e.Number > after && (!query.Has("worker") || e.Worker == query.Get("worker")) &&
			(!query.Has("verb") || e.Verb == query.Get("verb")) && (!query.Has("queue") || e.isAbout(query.Get("queue")))
	}), nil
}

// postVerify compares what happened with what should have.
func (d *Double) postVerify(r *http.Request) (any, error) {
	var want Expectation
	if err := read(r, &want); err != nil {
		return nil, err
	}
	differences, err := d.Await(r.Context(), want)
	switch {
	case err != nil:
		return nil, err
	case len(differences) > 0:
		return nil, &statusError{http.StatusExpectationFailed, map[string][]string{"differences": differences}}
	}
	return okBody{OK: true}, nil
}
