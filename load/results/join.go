package results

import "reflect"

// Join adds a part of the report of one generator to the same part of the report of all: pointers to structs of one
// type. How a field is joined is in its tag join: "sum", "max", "or", or "first" for the first that is not empty. A
// field without it stays as it is.
func Join(sum, one any) {
	to, of := reflect.ValueOf(sum).Elem(), reflect.ValueOf(one).Elem()
	for i := range to.NumField() {
		field, more := to.Field(i), of.Field(i)
		switch to.Type().Field(i).Tag.Get("join") {
		case "sum":
			if field.CanFloat() {
				field.SetFloat(field.Float() + more.Float())
			} else {
				field.SetInt(field.Int() + more.Int())
			}
		case "max":
			field.SetInt(max(field.Int(), more.Int()))
		case "or":
			field.SetBool(field.Bool() || more.Bool())
		case "first":
			if field.IsZero() {
				field.Set(more)
			}
		}
	}
}

// Add adds the counts of a part of the load. Where some parts have all producers, the rate of the load is theirs: they
// come first.
func (r *LoadRate) Add(part *LoadRate) {
	if r.Op == "" || r.Op == part.Op {
		Join(r, part)
	}
}
