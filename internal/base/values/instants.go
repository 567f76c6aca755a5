package values

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Instants returns times as RFC 3339 writes them: each form of the fraction and of the offset, each month, hour and day
// that calendars differ about, and the borders of what clocks can hold. All are in the past but those whose year is
// 2038 or later.
func Instants() (all []Bucket) {
	add := func(name, value string) { all = append(all, fixedBucket(name, `"`+value+`"`)) }
	const second = "2021-03-04T05:06:07"
	for digits := 1; digits <= 9; digits++ {
		add(fmt.Sprintf("%d digits of a second", digits), second+"."+"123456789"[:digits]+"Z")
	}
	add("zeros of a second", second+".000Z")
	add("nines of a second", second+".999999999Z")
	for _, digits := range []string{"1234567891", "123456789123", "12345678912345678912"} {
		add(fmt.Sprintf("%d digits of a second", len(digits)), second+"."+digits+"Z")
	}
	for _, offset := range offsets {
		add("offset "+offset, second+offset)
	}
	add("offset and fraction", second+".25-07:00")
	add("small letters", strings.ToLower(second)+".5z")
	for month := 1; month <= 12; month++ {
		add(fmt.Sprintf("month %d", month), fmt.Sprintf("2019-%02d-28T12:00:00Z", month))
	}
	for hour := range 24 {
		add(fmt.Sprintf("hour %d", hour), fmt.Sprintf("2020-06-15T%02d:59:59Z", hour))
	}
	for _, day := range days {
		add(day, day)
	}
	return all
}

// CurrentTimes returns times around the one at which a value is made: what a peer compares with its clock.
func CurrentTimes() (all []Bucket) {
	for name, ahead := range map[string]time.Duration{
		"a minute ago": -time.Minute, "a day ago": -24 * time.Hour, "in a minute": time.Minute, "in a day": 24 * time.Hour,
		"in 30 days": 30 * 24 * time.Hour,
	} {
		all = append(all, Bucket{name, func(*rand.Rand) string {
			return time.Now().Add(ahead).UTC().Format(`"` + time.RFC3339Nano + `"`)
		}})
	}
	slices.SortFunc(all, func(a, b Bucket) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// offsets are those that zones have, and the ends of what the grammar allows.
var offsets = []string{
	"+00:00", "-00:00", "+00:01", "-00:01", "+01:00", "-01:00", "+05:30", "-03:30", "+05:45", "+12:45", "+13:00",
	"+14:00",
	"-11:00", "-12:00", "+23:59", "-23:59",
}

// days are the borders of years, of calendars and of the types that hold times.
var days = []string{
	"2019-12-31T23:59:59Z", "2020-01-01T00:00:00Z", "2020-02-28T23:59:59Z", "2020-02-29T00:00:00Z",
	"2020-03-01T00:00:00Z",
	"2019-02-28T12:00:00Z", "2000-02-29T12:00:00Z", "1900-02-28T12:00:00Z", "2020-12-31T12:00:00Z",
	"2021-01-01T00:30:00+01:00",
	"2020-12-31T23:30:00-01:00", "2021-03-28T01:30:00Z", "2021-10-31T01:30:00+01:00", "2017-01-01T00:00:00Z",
	"1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.5Z",
	"2001-09-09T01:46:40Z",
	"1999-12-31T23:59:59Z", "2000-01-01T00:00:00Z", "1901-12-13T20:45:52Z", "1904-01-01T00:00:00Z",
	"1900-01-01T00:00:00Z",
	"1899-12-30T00:00:00Z", "1752-09-14T00:00:00Z", "1677-09-21T00:12:44Z", "1601-01-01T00:00:00Z",
	"1582-10-15T00:00:00Z",
	"1000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "2038-01-19T03:14:07Z", "2038-01-19T03:14:08Z",
	"2106-02-07T06:28:16Z",
	"2262-04-11T23:47:17Z", "2400-02-29T00:00:00Z", "9999-12-31T23:59:59Z",
}
