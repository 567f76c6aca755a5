package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wrote lists the parts of a template: literal text in quotes, names as they are.
func wrote(t Template) []string {
	var all []string
	for _, p := range t {
		if p.ref != nil {
			all = append(all, p.ref.text)
		} else {
			all = append(all, "'"+p.literal()+"'")
		}
	}
	return all
}

func TestParseTemplate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want [][]string
	}{
		"nothing":                  {"", [][]string{nil}},
		"text":                     {"INFO", [][]string{{"'INFO'"}}},
		"a name and text":          {`{"jid":"$jid1"}`, [][]string{{`'{"jid":"'`, "$jid1", `'"}'`}}},
		"an index":                 {"$jid# $jid#2", [][]string{{"$jid#", "' '", "$jid#", "'2'"}}},
		"names end at other bytes": {"$a_b1-$c.d", [][]string{{"$a_b1", "'-'", "$c", "'.d'"}}},
		"dollars":                  {"$$jid $5 $ $$", [][]string{{"'$jid $5 $ $'"}}},
		"segments":                 {"a<|>$jid<|>", [][]string{{"'a'"}, {"$jid"}, nil}},
		"a time":                   {"$now+2s.$now-1h@+05:30", [][]string{{"$now+2s", "'.'", "$now-1h@+05:30"}}},
		"a time and more":          {"$now+x", [][]string{{"$now", "'+x'"}}},
		"filler":                   {"$filler( 2KiB )x", [][]string{{"$filler( 2KiB )", "'x'"}}},
		"a work unit":              {`$job $job{"a":[{}]}}`, [][]string{{"$job", "' '", `$job{"a":[{}]}`, "'}'"}}},
		"hashes":                   {"$pwdhash $pwdhash.fewer@a", [][]string{{"$pwdhash", "' '", "$pwdhash.fewer@a"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			segments, err := ParseTemplate(likeFWP{}, test.text)
			require.NoError(t, err)
			var got [][]string
			for _, segment := range segments {
				got = append(got, wrote(segment))
			}
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.text, JoinSegments(segments))
		})
	}
}

func TestParseTemplateProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$filler":                    "$filler needs a size in brackets",
		"$filler(0)":                 "a filler must have 1 B to 8 MiB (B, KiB or MiB)",
		"$filler(9MiB)":              "a filler must have 1 B to 8 MiB (B, KiB or MiB)",
		"$filler(999GiB)":            "a filler must have 1 B to 8 MiB (B, KiB or MiB)",
		"$filler(17592186044417MiB)": "a filler must have 1 B to 8 MiB (B, KiB or MiB)",
		"$now+99999999999999h":       "$now+99999999999999h is not a valid time",
		"$now@+99:00":                "@+99:00 is not a valid time zone",
		`$job{"a":`:                  "expected a JSON value, a type or a name, got the end of the line",
		`$job{"a":int}`:              "int cannot be sent",
		"$pwdhash.more $pwdhash.les": "there is no $pwdhash.les",
	} {
		_, err := ParseTemplate(likeFWP{}, text)
		assert.EqualError(t, err, want, text)
	}
}

func TestRefsOfTemplates(t *testing.T) {
	t.Parallel()
	segments, err := ParseTemplate(likeFWP{}, "$now-1h@+05:30 $filler(3KiB) $pwdhash.hex@a $pwdhash")
	require.NoError(t, err)
	refs := segments[0].refs()
	require.Len(t, refs, 4)
	_, zone := time.Now().In(refs[0].zone).Zone()
	assert.Equal(t, -time.Hour, refs[0].offset)
	assert.Equal(t, 5*3600+30*60, zone)
	assert.Equal(t, 3<<10, refs[1].size)
	assert.Equal(t, "hex a", refs[2].variant+" "+refs[2].conn)
	assert.False(t, refs[2].same)
	assert.True(t, refs[3].same)
	assert.Nil(t, segments[0].singleRef())
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$jid": "jid", "$jid7": "jid", "$queue_x": "queue", "$widget": "wid", "$x_wid": "", "$now": "", "$j": "",
	} {
		segments, err := ParseTemplate(likeFWP{}, text)
		require.NoError(t, err)
		assert.Equal(t, want, segments[0].singleRef().family(), text)
	}
}
