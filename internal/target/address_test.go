package target

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// others are the schemes of two other protocols, of which one has servers with two ports.
var others = []Scheme{{Name: "workq", Port: "9922"}, {Name: "emqp", Port: "47291", Backend: "47290"}}

func TestParseURL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		url     string
		want    Address
		text    string // without the password
		invalid string // part of the error
	}{
		"host": {url: "tcp://localhost", want: Address{Host: "localhost", Port: "7419"},
			text: "tcp://localhost:7419"},
		"port": {url: "tcp://10.0.0.1:7000", want: Address{Host: "10.0.0.1", Port: "7000"},
			text: "tcp://10.0.0.1:7000"},
		"empty port": {url: "tcp://localhost:", want: Address{Host: "localhost", Port: "7419"},
			text: "tcp://localhost:7419"},
		"slash": {url: "tcp://localhost:7000/", want: Address{Host: "localhost", Port: "7000"},
			text: "tcp://localhost:7000"},
		"TLS": {url: "tcp+tls://fwp.example", want: Address{TLS: true, Host: "fwp.example", Port: "7419"},
			text: "tcp+tls://fwp.example:7419"},
		"scheme in caps": {url: "TCP+TLS://fwp.example", want: Address{TLS: true, Host: "fwp.example", Port: "7419"},
			text: "tcp+tls://fwp.example:7419"},
		"password": {url: "tcp://:hunter2@localhost",
			want: Address{Host: "localhost", Port: "7419", Password: "hunter2"}, text: "tcp://localhost:7419"},
		"user": {url: "tcp://me:hunter2@localhost:1",
			want: Address{Host: "localhost", Port: "1", Password: "hunter2"}, text: "tcp://localhost:1"},
		"user only": {url: "tcp://hunter2@localhost:1", want: Address{Host: "localhost", Port: "1"},
			text: "tcp://localhost:1"},
		"encoded password": {url: "tcp://:a%2Fb%25+c@localhost",
			want: Address{Host: "localhost", Port: "7419", Password: "a/b%+c"}, text: "tcp://localhost:7419"},
		"odd password": {url: "tcp://:a:b@c d@localhost",
			want: Address{Host: "localhost", Port: "7419", Password: "a:b@c d"}, text: "tcp://localhost:7419"},
		"IPv6": {url: "tcp://[::1]:7000", want: Address{Host: "::1", Port: "7000"}, text: "tcp://[::1]:7000"},
		"IPv6 alone": {url: "tcp://[2001:db8::7]", want: Address{Host: "2001:db8::7", Port: "7419"},
			text: "tcp://[2001:db8::7]:7419"},
		"IPv6, password": {url: "tcp://:hunter2@[::1]", want: Address{Host: "::1", Port: "7419", Password: "hunter2"},
			text: "tcp://[::1]:7419"},
		"IPv6 zone": {url: "tcp://[fe80::1%25eth0]", want: Address{Host: "fe80::1%eth0", Port: "7419"},
			text: "tcp://[fe80::1%25eth0]:7419"},

		"broker": {
			url: "emqp://h", text: "emqp://h:47291?backend=47290",
			want: Address{Protocol: "emqp", Host: "h", Port: "47291", Backend: "47290"},
		},
		"broker of one port": {
			url: "emqp://[::1]:5", text: "emqp://[::1]:5",
			want: Address{Protocol: "emqp", Host: "::1", Port: "5"},
		},
		"broker of two ports": {
			url: "emqp://h:5?backend=6", text: "emqp://h:5?backend=6",
			want: Address{Protocol: "emqp", Host: "h", Port: "5", Backend: "6"},
		},
		"back end of no port": {url: "emqp://h:5?backend=0", invalid: "?backend= works only at the end"},
		"back end of FWP":     {url: "tcp://h:5?backend=6", invalid: "only at the end of a URL of emqp"},

		"empty": {url: "", invalid: "this is not a server URL; use tcp://["},
		"no scheme": {url: "localhost:7419",
			invalid: `"localhost:7419" is not a server URL; use tcp://localhost:7419`},
		"no scheme or port":  {url: "localhost", invalid: `"localhost" is not a server URL; use tcp://localhost`},
		"no scheme, secret":  {url: ":hunter2@localhost:7419", invalid: "this is not a server URL; use tcp://["},
		"secret as port":     {url: "localhost:hunter2", invalid: "this is not a server URL"},
		"web":                {url: "http://:hunter2@localhost", invalid: "the web page"},
		"other TLS":          {url: "tls://:hunter2@localhost", invalid: "with TLS it is tcp+tls://"},
		"unknown scheme":     {url: "faktory://:hunter2@localhost", invalid: `unknown scheme "faktory"`},
		"no host":            {url: "tcp://", invalid: "the host is missing"},
		"password alone":     {url: "tcp://:hunter2@", invalid: "the host is missing"},
		"port alone":         {url: "tcp://:hunter2", invalid: "the host is missing"},
		"bare percent":       {url: "tcp://:hunter2%@localhost", invalid: "not percent-encoded"},
		"bare slash":         {url: "tcp://:hunter/2@localhost", invalid: "%2F"},
		"bare question mark": {url: "tcp://:hunter?2@localhost", invalid: "%3F"},
		"bare hash":          {url: "tcp://:hunter#2@localhost", invalid: "%23"},
		"path":               {url: "tcp://:hunter2@localhost/0", invalid: "must end with the port"},
		"port 0":             {url: "tcp://:hunter2@localhost:0", invalid: "from 1 to 65535"},
		"port too large":     {url: "tcp://localhost:65536", invalid: "from 1 to 65535"},
		"password as port":   {url: "tcp://localhost:hunter2", invalid: "from 1 to 65535"},
		"IPv6 without [":     {url: "tcp://::1:7419", invalid: "in brackets"},
		"IPv6 without ]":     {url: "tcp://:hunter2@[::1", invalid: "a bracket is not closed"},
		"IPv4 in brackets":   {url: "tcp://[127.0.0.1]", invalid: "an IPv6 address"},
		"name in brackets":   {url: "tcp://[hunter2]", invalid: "an IPv6 address"},
		"after bracket":      {url: "tcp://[::1]7419", invalid: "after the closing bracket"},
		"blank":              {url: "tcp://local host", invalid: "blanks"},
		"percent in host":    {url: "tcp://%", invalid: "must not contain blanks, %"},
		"line end":           {url: "tcp://localhost\n", invalid: "blanks"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := ParseURL(test.url, others...)
			if test.invalid != "" {
				require.ErrorContains(t, err, test.invalid)
				assert.NotContains(t, err.Error(), "hunter")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, a)
			assert.Equal(t, test.text, a.String())
			parsed, err := ParseURL(a.String(), others...)
			require.NoError(t, err)
			a.Password = ""
			assert.Equal(t, a, parsed, "the text is a URL too")
		})
	}
}

func TestMasked(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "tcp://localhost:7419", Address{Host: "localhost", Port: "7419"}.MaskedURL())
	assert.Equal(t, "tcp+tls://:PASSWORD@[::1]:7419",
		Address{TLS: true, Host: "::1", Port: "7419", Password: "hunter2"}.MaskedURL())
}

func TestRedact(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"no URL at all, me@example.com":           "no URL at all, me@example.com",
		"dial tcp://localhost:7419: refused":      "dial tcp://localhost:7419: refused",
		"tcp://:hunter2@localhost":                "tcp://***@localhost",
		"tcp://:hunter2@[::1]:7419":               "tcp://***@[::1]:7419",
		"x tcp://:a/b?c#d e@f@localhost: refused": "x tcp://***@localhost: refused",
		"tcp://hunter2@localhost":                 "tcp://***@localhost",
		"http://:hunter2@h\ntcp://:hunter3@h":     "http://***@h\ntcp://***@h",
		"want " + urlForm:                         "want " + urlForm,
		"tcp://:PASSWORD@localhost":               "tcp://:PASSWORD@localhost",
	}
	for text, want := range tests {
		assert.Equal(t, want, Redact(text))
	}
}

func FuzzParseURL(f *testing.F) {
	for _, url := range []string{"tcp://:hunter2@localhost:7419", "tcp+tls://[::1]:1/", "tcp://:%25@a",
		"tcp://[fe80::1%25a]", "tcp://a:b@c@d"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		a, err := ParseURL(url, others...)
		if err != nil {
			return
		}
		parsed, err := ParseURL(a.String(), others...)
		require.NoError(t, err)
		a.Password = ""
		assert.Equal(t, a, parsed)
	})
}
