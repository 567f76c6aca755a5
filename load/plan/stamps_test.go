package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

func TestStamps(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		return moment
	}
	const first, second, third = "2026-01-31T12:00:00.5Z", "2026-01-31T13:00:01.5+01:00", "2026-01-31T12:00:02Z"
	for name, test := range map[string]struct {
		fields string
		want   plan.Stamps
	}{
		"none":           {"", plan.Stamps{}},
		"of other kinds": {`"created_at":1,"enqueued_at":null,"failure":[],`, plan.Stamps{}},
		"no times":       {`"created_at":"","enqueued_at":"soon","failure":{"failed_at":{}},`, plan.Stamps{}},
		"of a first push": {`"enqueued_at":"` + second + `","created_at":"` + first + `",`,
			plan.Stamps{Earliest: at(first), Latest: at(second)}},
		"in whole seconds": {`"created_at":"` + third + `",`,
			plan.Stamps{Earliest: at(third), Latest: at(third), IsCoarse: true}},
		"of a retry": {
			`"created_at":"` + first + `","failure":{"retry_count":1,"failed_at":"` + second + `","next_at":"` + third + `"},`,
			plan.Stamps{Earliest: at(first), Latest: at(second), Retry: at(third)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := smallJobs(t).Read([]byte(`{` + test.fields + `"jid":"fwpbench-a-00000007","jobtype":"fwpbench",` +
				`"queue":"fwpbench-a-0","args":["a",2,7,9,"oba"]}`))
			require.NoError(t, err)
			got := d.Stamps()
			assert.True(t, test.want.Earliest.Equal(got.Earliest), got)
			assert.True(t, test.want.Latest.Equal(got.Latest), got)
			assert.True(t, test.want.Retry.Equal(got.Retry), got)
			assert.Equal(t, test.want.IsCoarse, got.IsCoarse)
		})
	}
}
