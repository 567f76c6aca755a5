package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// config is what the environment says about the server and the work.
type config struct {
	address     string
	password    string
	queues      []string
	concurrency int
}

// speed divides every waiting time of the worker. It is 1 unless WORKER_SPEEDUP says otherwise; only tests do.
var speed = 1

// span turns a time of the specification into the time that this process waits.
func span(d time.Duration) time.Duration {
	return d / time.Duration(speed)
}

// readConfig reads the environment.
func readConfig() (*config, error) {
	raw, err := serverURL()
	if err != nil {
		return nil, err
	}
	cfg := &config{concurrency: 5, queues: queueNames(os.Getenv("WORKER_QUEUES"))}
	if err := cfg.setServer(raw); err != nil {
		return nil, err
	}
	for name, target := range map[string]*int{"WORKER_CONCURRENCY": &cfg.concurrency, "WORKER_SPEEDUP": &speed} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s is not a positive number: %q", name, text)
		}
		*target = n
	}
	return cfg, nil
}

// serverURL finds the URL: FAKTORY_PROVIDER names the variable that holds it, FAKTORY_URL is the usual one.
func serverURL() (string, error) {
	provider := os.Getenv("FAKTORY_PROVIDER")
	if provider != "" {
		raw := os.Getenv(provider)
		if raw == "" {
			return "", fmt.Errorf("FAKTORY_PROVIDER names %s, which is not set", provider)
		}
		return raw, nil
	}
	if raw := os.Getenv("FAKTORY_URL"); raw != "" {
		return raw, nil
	}
	return "tcp://localhost:7419", nil
}

// setServer takes address and password from a URL such as tcp://:password@host:7419.
func (c *config) setServer(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("the server's URL cannot be read")
	}
	if u.Scheme != "tcp" || u.Hostname() == "" {
		return errors.New("the server's URL must look like tcp://:password@host:port")
	}
	port := u.Port()
	if port == "" {
		port = "7419"
	}
	c.address = net.JoinHostPort(u.Hostname(), port)
	if u.User == nil {
		return nil
	}
	c.password, _ = u.User.Password()
	if mutant == 9 {
		c.password = rawPassword(raw)
	}
	return nil
}

// rawPassword is the password as it is spelled in the URL.
func rawPassword(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	user := rest[:strings.LastIndex(rest, "@")]
	_, password, _ := strings.Cut(user, ":")
	return password
}

// queueNames splits a list of queues at commas and blanks.
func queueNames(list string) []string {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	if len(names) == 0 {
		return []string{"default"}
	}
	return names
}
