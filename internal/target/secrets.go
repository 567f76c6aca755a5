package target

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/text"
)

// Secrets removes from texts what would let their reader find out a password, or guess it offline, where it stands: the
// salt and the rounds of a HI, the hash of a HELLO and of an error, the password of a URL, and the password behind a
// word for it. A password that is no word of a report is removed wherever the server repeats it. One that is, "default"
// for example, is not: what is missing then would tell it. A nil *Secrets removes nothing. Its method may be called by
// several goroutines.
type Secrets struct {
	forms    []string         // of passwords that are no words, each with its placeholder
	patterns []*regexp.Regexp // passwords behind a word for them
	hasHash  bool             // texts may have a hash of the password
}

// NewSecrets returns what removes this password, which may be empty, and what goes with one.
func NewSecrets(password string) *Secrets {
	s := &Secrets{hasHash: password != ""}
	if password == "" {
		return s
	}
	quoted, _ := json.Marshal(password) // a string always has a form in JSON
	escaped := strings.Trim(string(quoted), `"`)
	inURL := strings.TrimPrefix(url.UserPassword("", password).String(), ":")
	var forms []string
	for _, form := range []string{
		password, text.Escape(password), escaped, text.Escape(escaped), text.Printable(password), inURL,
		url.QueryEscape(password),
	} {
		forms = append(forms, regexp.QuoteMeta(form))
		if !ordinary.MatchString(password) {
			s.forms = append(s.forms, form, hiddenPassword)
		}
	}
	s.patterns = []*regexp.Regexp{regexp.MustCompile(
		wordOfPassword + `(` + strings.Join(forms, "|") + `)([^A-Za-z0-9_]|$)`)}
	return s
}

const hiddenPassword = "(password)"

// ordinary matches passwords that may be words of a report, parts of them, numbers, ids or escapes.
var ordinary = regexp.MustCompile(`^(.{0,3}|[\pL_.:/-]{0,15}|[0-9.:]*|[0-9a-fA-F-]*|(\\u[0-9a-fA-F]{4}|\\.)*)$`)

// wordOfPassword begins a pattern for what stands behind a word that announces a password.
const wordOfPassword = `((?i:password|passwd|passphrase|pwd|secret|credentials?)["']?` +
	`(?:[ :=]+(?:is|was|of|given|sent|got))?` +
	`[ :=("'\\]+)`

// Merge returns what removes the secrets of both.
func (s *Secrets) Merge(other *Secrets) *Secrets {
	switch {
	case s == nil:
		return other
	case other == nil:
		return s
	}
	return &Secrets{slices.Concat(s.forms, other.forms), slices.Concat(s.patterns, other.patterns), s.hasHash ||
		other.hasHash}
}

// The places of secrets. Where a conversation is quoted once more, backslashes stand before the quotation marks; there
// a HI is taken to go on to the end of the line.
var (
	hiLine    = regexp.MustCompile(`HI \{(?:\\+".*|(?:"(?:\\+.|[^"\\])*"|[^}])*)`)
	saltField = regexp.MustCompile(`(\\*"s\\*"\s*:\s*)(?:"(?:\\+.|[^"\\])*"|` + // as it is; backslashes may be doubled
		`\\"(?:[^"\\]|\\[^"\\]|\\\\(?:\\\\|\\"|[^"\\]))*\\"|` + // quoted once more, so with its own escapes too
		`\\+"[^"]*")`)
	roundsField = regexp.MustCompile(`(\\*"i\\*"\s*:\s*)[-+.0-9eE]+`)
	hashField   = regexp.MustCompile(`(\\*"pwdhash\\*"\s*:\s*)\\*"[^"$]+"`)
	urlPassword = regexp.MustCompile(`(://[^\s:/@"]*):([^\s@"]+)@`)
	// A hash, and what a message with that word has of one: ids in hexadecimal digits are shorter.
	hashes = regexp.MustCompile(`\b[0-9a-fA-F]{64}\b|((?i:hash)[ :=("'\\]*)[0-9a-fA-F]{16,}\b`)
)

// Hide returns a text with placeholders for secrets.
func (s *Secrets) Hide(content string) string {
	if s == nil {
		return content
	}
	content = hiLine.ReplaceAllStringFunc(content, func(hi string) string {
		return roundsField.ReplaceAllString(saltField.ReplaceAllString(hi, `$1"(salt)"`), `$1"(rounds)"`)
	})
	content = hashField.ReplaceAllString(content, `$1"(hash)"`)
	if !s.hasHash {
		return content
	}
	content = urlPassword.ReplaceAllStringFunc(content, func(found string) string {
		parts := urlPassword.FindStringSubmatch(found)
		if parts[2] == "PASSWORD" || parts[2] == hiddenPassword {
			return found
		}
		return parts[1] + ":" + hiddenPassword + "@"
	})
	for _, pattern := range s.patterns {
		content = pattern.ReplaceAllString(content, "${1}"+hiddenPassword+"${3}")
	}
	content = strings.NewReplacer(s.forms...).Replace(content)
	return hashes.ReplaceAllString(content, "${1}(hash)")
}

// Hidden returns a function that writes what write does, with placeholders for secrets.
func (s *Secrets) Hidden(write func(io.Writer) error) func(io.Writer) error {
	if s == nil {
		return write
	}
	return func(w io.Writer) error {
		var buf bytes.Buffer
		if err := write(&buf); err != nil {
			return err
		}
		_, err := io.WriteString(w, s.Hide(buf.String()))
		return err
	}
}

// passwordWord matches a word of a command that is a password: behind a flag or a variable whose name says so.
var passwordWord = regexp.MustCompile(`(?i)((?:password|passwd|pass|secret|token)(?:=|\s+))('[^']*'|"[^"]*"|[^\s'"]+)`)

// RedactCommand removes from a command what may be a password. {password}, variables and other flags stay.
func RedactCommand(command string) string {
	return passwordWord.ReplaceAllStringFunc(Redact(command), func(found string) string {
		parts := passwordWord.FindStringSubmatch(found)
		if word := strings.Trim(parts[2], `'"`); strings.HasPrefix(word, "$") || strings.HasPrefix(word, "{") ||
			strings.HasPrefix(word, "-") {
			return found
		}
		return parts[1] + "***"
	})
}

// SinglePassword returns the password in a file, and an error if there is another one, which is from a place such as
// "in the URL".
func SinglePassword(other, from, file string) (string, error) {
	if other != "" {
		return "", fmt.Errorf("there are two passwords: one %s, and one from --password-file", from)
	}
	return readPassword(file)
}

// readPassword reads a password file: all of it, without the end of its last
// line. No error holds anything of it.
func readPassword(file string) (string, error) {
	text, err := input.Read(file, 64<<10)
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case password == "":
		return "", fmt.Errorf("password file %s: it is empty", file)
	case strings.ContainsAny(password, "\r\n"):
		return "", fmt.Errorf("password file %s: it has more than one line", file)
	}
	return password, nil
}
