package target

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFaktoryWeb(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch {
		case r.Method != http.MethodPost || r.URL.Path != "/busy" || password != "secret":
			http.Error(w, "no", http.StatusUnauthorized)
		case r.FormValue("wid") == "w 1&2" && r.FormValue("signal") == "quiet":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		default:
			http.Error(w, "no", http.StatusInternalServerError)
		}
	}))
	defer web.Close()
	place, err := url.Parse(web.URL)
	require.NoError(t, err)
	port, err := strconv.Atoi(place.Port())
	require.NoError(t, err)

	operator := faktoryWeb{Place{WebPort: port, Password: "secret"}}
	assert.True(t, operator.Can(Quiet))
	assert.False(t, operator.Can(Restart))
	assert.NoError(t, operator.Do(t.Context(), Quiet, "w 1&2"))
	assert.ErrorContains(t, operator.Do(t.Context(), Terminate, "w"), "the web interface answers 500")
	noPassword := faktoryWeb{Place{WebPort: port}}
	assert.ErrorContains(t, noPassword.Do(t.Context(), Quiet, "w 1&2"), "the web interface answers 401")
}
