package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	idForm   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	nameForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
)

const maxTTR = 86400000

// parseID takes a UUID in canonical form and returns it in lower case.
func (s *server) parseID(arg string) (string, error) {
	if !idForm.MatchString(arg) || s.variant == 4 && arg[14] != '4' {
		return "", errors.New("an id is a UUIDv4")
	}
	return strings.ToLower(arg), nil
}

func parseName(arg string) (string, error) {
	if !nameForm.MatchString(arg) {
		return "", errors.New("a name has letters, digits, _, - and . only")
	}
	return arg, nil
}

// parseNumber takes decimal digits, up to a limit.
func parseNumber(arg string, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(arg, 10, 64)
	if err != nil || arg[0] == '+' || n > most {
		return 0, fmt.Errorf("a number from 0 to %d is expected", most)
	}
	return n, nil
}

// parseTTL takes the time to live. For schedule the document allows one more than fits into 64 bits.
func parseTTL(arg string, scheduled bool) (uint64, error) {
	if scheduled && arg == "18446744073709551616" {
		return math.MaxUint64, nil
	}
	return parseNumber(arg, math.MaxUint64)
}

// parseTime takes a time of RFC 3339 in UTC.
func (s *server) parseTime(arg string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, arg)
	if timeForm.MatchString(arg) && err == nil {
		return t, nil
	}
	if s.mutant == 23 && timeForm.MatchString(arg) {
		var n [6]int
		_, err := fmt.Sscanf(arg, "%d-%d-%dT%d:%d:%dZ", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5])
		return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC), err
	}
	return t, errors.New("a time is one of RFC 3339 in UTC, like 2020-02-02T00:00:00Z")
}

// parsePriority takes a signed number of 32 bits, and with wide also the unsigned ones.
func (s *server) parsePriority(arg string, wide bool) (int64, error) {
	most := int64(math.MaxInt32)
	if wide {
		most = 1 << 32
	}
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || arg[0] == '+' || n > most || n < math.MinInt32 && s.mutant != 13 {
		return 0, fmt.Errorf("a priority from %d to %d is expected", math.MinInt32, most)
	}
	if n < math.MinInt32 {
		return int64(int32(n)), nil
	}
	return n, nil
}

// parseFlags takes the flags of add, schedule and run into sp.
func (s *server) parseFlags(command string, flags []string, sp *spec) error {
	for i, flag := range flags {
		key, value, found := strings.Cut(flag, "=")
		if !found && s.mutant == 7 && strings.HasPrefix(key, "-") {
			continue
		}
		if !found || value == "" || !strings.HasPrefix(key, "-") {
			return errors.New("a flag has the form -key=value")
		}
		if command == "run" && key != "-priority" {
			return errors.New("run has the flag -priority only")
		}
		if s.mutant == 5 && i == 2 {
			break
		}
		if err := s.parseFlag(key, value, command != "add", sp); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) parseFlag(key, value string, wide bool, sp *spec) (err error) {
	switch key {
	case "-priority":
		sp.priority, err = s.parsePriority(value, wide)
	case "-max-attempts":
		sp.maxAttempts, err = parseNumber(value, 255)
	case "-max-fails":
		sp.maxFails, err = parseNumber(value, math.MaxUint32)
	default:
		err = errors.New("this flag is not known")
	}
	return err
}
