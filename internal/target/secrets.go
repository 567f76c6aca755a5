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

	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/text"
)

// Secrets removes from texts what would let their reader find out a password, or guess it offline: the salt and the
// rounds of a HI, the hash of a HELLO, and the password and its hash wherever the server repeats them. A nil *Secrets
// removes nothing. Its method may be called by several goroutines.
type Secrets struct {
	forms []string // of the password, each with its placeholder
	hash  bool     // texts may have a hash of the password
}

// shortest is the least length of a password that is looked for in texts: a shorter one is in most of them.
const shortest = 4

// NewSecrets returns what removes this password, which may be empty, and what goes with one.
func NewSecrets(password string) *Secrets {
	s := &Secrets{hash: password != ""}
	if len(password) < shortest {
		return s
	}
	quoted, _ := json.Marshal(password) // a string always has a form in JSON
	escaped := strings.Trim(string(quoted), `"`)
	inURL := strings.TrimPrefix(url.UserPassword("", password).String(), ":")
	for _, form := range []string{
		password, text.Escape(password), escaped, text.Escape(escaped), text.Printable(password), inURL,
		url.QueryEscape(password),
	} {
		s.forms = append(s.forms, form, "(password)")
	}
	return s
}

// And returns what removes the secrets of both.
func (s *Secrets) And(other *Secrets) *Secrets {
	switch {
	case s == nil:
		return other
	case other == nil:
		return s
	}
	return &Secrets{slices.Concat(s.forms, other.forms), s.hash || other.hash}
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
	partOfAHash = regexp.MustCompile(`\b[0-9a-fA-F]{16,}\b`)
)

// Hide returns a text with placeholders for secrets.
func (s *Secrets) Hide(said string) string {
	if s == nil {
		return said
	}
	said = hiLine.ReplaceAllStringFunc(said, func(hi string) string {
		return roundsField.ReplaceAllString(saltField.ReplaceAllString(hi, `$1"(salt)"`), `$1"(rounds)"`)
	})
	said = hashField.ReplaceAllString(said, `$1"(hash)"`)
	said = strings.NewReplacer(s.forms...).Replace(said)
	if !s.hash {
		return said
	}
	return partOfAHash.ReplaceAllStringFunc(said, func(part string) string {
		if !strings.ContainsAny(part, "abcdefABCDEF") {
			return part // a number
		}
		return "(hash)"
	})
}

// Hidden returns a function that writes what write does, with placeholders for secrets.
func (s *Secrets) Hidden(write func(io.Writer) error) func(io.Writer) error {
	if s == nil {
		return write
	}
	return func(w io.Writer) error {
		var whole bytes.Buffer
		if err := write(&whole); err != nil {
			return err
		}
		_, err := io.WriteString(w, s.Hide(whole.String()))
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

// OnlyPassword returns the password in a file, and an error if there is another one, which is from a place such as "in
// the URL".
func OnlyPassword(other, from, file string) (string, error) {
	if other != "" {
		return "", fmt.Errorf("two passwords: one %s, and one of --password-file", from)
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
