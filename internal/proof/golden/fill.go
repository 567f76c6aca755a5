package golden

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Fill sets every exported field below v to a value of its own, but leaves maps empty. An integer of eight bits is the
// word of an enumeration, and has one of its first nine words.
func Fill(v reflect.Value) { fill(v, new(int64)) }

func fill(v reflect.Value, next *int64) {
	if !v.CanInterface() { // not exported
		return
	}
	*next++
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"<&>":[1,"é"]}`))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(*next, 123456789).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), next)
		fill(v.Index(1), next)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.25)
	case reflect.String:
		v.SetString(strings.Repeat("<&>é\u2028\x00", int(*next%3+1)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*next*1_000_003 + 1)
	case reflect.Uint8:
		v.SetUint(uint64(*next)%9 + 1)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*next))
	default:
		panic("fill: " + v.Type().String())
	}
}
