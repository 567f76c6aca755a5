package number_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/number"
)

func TestParse(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 9, 5, 6, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"2026-11-21T09:05:06Z":           at,
		"2026-11-21t09:05:06z":           at,
		"2026-11-21T09:05:06.25Z":        at.Add(250 * time.Millisecond),
		"2026-11-21T09:05:06.123456789Z": at.Add(123456789),
		"2026-11-21T14:35:06+05:30":      at,
		"2026-11-21t02:05:06-07:00":      at,
		"":                               {},
		"2026-11-21":                     {},
		"2026-11-21T09:05:06":            {},
		"2026-11-21 09:05:06Z":           {},
		"2026-11-21T9:05:06Z":            {},
		"2026-11-21T09:05:06,25Z":        {},
		"2026-11-21T09:05Z":              {},
		"2026-13-21T09:05:06Z":           {},
		"2026-02-30T09:05:06Z":           {},
		"2026-11-21T09:05:06+0530":       {},
		"2026-11-21T09:05:06+24:00":      {},
		"2026-11-21T09:05:06-00:60":      {},
		"2026-11-21T09:05:06.Z":          {},
		"2026-11-21T09:05:06Z ":          {},
		"2026x11-21T09:05:06Z":           {},
	} {
		got, err := number.ParseTime(s)
		assert.Equal(t, want.IsZero(), err != nil, s)
		if err == nil {
			assert.True(t, got.Equal(want), s)
		}
	}
}
