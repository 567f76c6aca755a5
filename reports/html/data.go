package html

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// packedData is how a long result is in a page: the same JSON, compressed.
type packedData struct {
	Encoding string `json:"encoding"`
	Data     []byte `json:"data"`
}

// plainLimit is how many bytes of JSON are in a page as they are.
const plainLimit = 64 << 10

// dataLimit is how many bytes of JSON are read from a page.
const dataLimit = 64 << 20

// marker is what is before the data.
const marker = `<script type="application/json" id="fwp">`

// data writes the result as JSON, which no reader of HTML can take for markup.
func (p *page) data(result []byte) error {
	if len(result) == 0 {
		return nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, result); err != nil {
		return fmt.Errorf("data of the report: %w", err)
	}
	data := out.Bytes()
	if len(data) > plainLimit {
		var zipped bytes.Buffer
		z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(data)
			err = errors.Join(err, z.Close())
		}
		if err != nil {
			return fmt.Errorf("data of the report: %w", err)
		}
		if data, err = json.Marshal(packedData{"gzip+base64", zipped.Bytes()}); err != nil {
			return fmt.Errorf("data of the report: %w", err)
		}
	}
	var safe bytes.Buffer
	json.HTMLEscape(&safe, data)
	p.raw("%s%s</script>\n", marker, safe.Bytes())
	return nil
}

// ErrNoData is the error of Data for a file that is no report, or has no result in it.
var ErrNoData = errors.New("this HTML file has no report of fwpcheck or fwpbench")

// Data returns the result, as JSON, that is in a file that Write wrote.
func Data(file []byte) ([]byte, error) {
	_, rest, hasMarker := bytes.Cut(file, []byte(marker))
	result, _, hasEnd := bytes.Cut(rest, []byte("</script>"))
	if !hasMarker || !hasEnd {
		return nil, ErrNoData
	}
	var p packedData
	if err := json.Unmarshal(result, &p); err != nil {
		return nil, fmt.Errorf("the result in this HTML file is damaged: %w", err)
	}
	if p.Encoding == "" {
		return bytes.Clone(result), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(p.Data))
	if err != nil {
		return nil, fmt.Errorf("the result in this HTML file is damaged: %w", err)
	}
	var out bytes.Buffer
	switch n, err := io.CopyN(&out, z, dataLimit+1); {
	case err == nil:
		return nil, fmt.Errorf("the result in this HTML file has more than %d bytes", n-1)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("the result in this HTML file is damaged: %w", err)
	}
	return out.Bytes(), nil
}
