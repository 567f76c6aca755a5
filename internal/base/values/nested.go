package values

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// empties are values that a peer may take for nothing, and leave out where nothing else is.
var empties = []string{"[]", "{}", `""`, "null", "0", "false", "[[]]", "[{}]", `{"a":{}}`}

// chunkSize is how many values of another type are the elements of one array.
const chunkSize = 8

// Arrays returns arrays of scalars and of each other: of each size up to most, each depth up to deepest, and each
// number and text.
func Arrays(limit, depth int) []Bucket {
	all := sizedBuckets("elements", limit, func(r *rand.Rand, n int) string {
		return list(n, func(int) string { return strconv.Itoa(r.IntN(1000)) })
	})
	all = append(all, sizedBuckets("depth", depth, func(_ *rand.Rand, n int) string {
		return "[" + strings.Repeat("[", n) + `"deep"` + strings.Repeat("]", n) + "]"
	})...)
	all = append(all, sizedBuckets("bytes in an element", limit*16, func(r *rand.Rand, n int) string {
		return `["` + letters(r, n) + `"]`
	})...)
	for _, empty := range empties {
		all = append(all, fixedBucket("only "+empty, "["+empty+"]"))
	}
	for _, inner := range [][]Bucket{Numbers(), Texts(), Instants(), Objects(64, 32)} {
		for chunk := range slices.Chunk(inner, chunkSize) {
			all = append(all, Bucket{"elements from " + chunk[0].Name, func(r *rand.Rand) string {
				return list(len(chunk), func(i int) string { return chunk[i].Make(r) })
			}})
		}
	}
	for _, t := range []text{
		{"equal elements", `["a","a",1,1,{"a":1},{"a":1},[],[]]`},
		{"types mixed", `[1,"1",true,"true",null,"null",{},[],1.5]`},
		{"nulls", `[null,null]`}, {"truths", `[true,false,true]`}, {"empty ones", `[[],{},"",[[]],[{}],{"a":[]}]`},
		{"order", `[3,1,2,"b","a","c"]`}, {"spaces", `[ 1 , "a" , { "k" : [ ] } ]`},
	} {
		all = append(all, fixedBucket(t.name, t.inner))
	}
	return all
}

// Strings returns arrays of texts: of each number up to most, and with one of each of all.
func Strings(limit int, all []Bucket) []Bucket {
	lists := sizedBuckets("texts", limit, func(r *rand.Rand, n int) string {
		return list(n, func(int) string { return `"` + letters(r, 8) + `"` })
	})
	for _, b := range all {
		lists = append(lists, Bucket{"a text, " + b.Name, func(r *rand.Rand) string { return "[" + b.Make(r) + `,"last"]` }})
	}
	return lists
}

// Objects returns objects: of each number of members up to most, each depth up to deepest, each text as a name, each
// number, text and time as the value of a member or within it, and names that are nearly alike.
func Objects(limit, depth int) []Bucket {
	all := sizedBuckets("members", limit, func(r *rand.Rand, n int) string {
		return members(n, func(int) string { return strconv.Itoa(r.IntN(1000)) })
	})
	for _, inner := range [][]Bucket{Numbers(), Texts(), Instants()} {
		for chunk := range slices.Chunk(inner, chunkSize) {
			all = append(all, Bucket{"members from " + chunk[0].Name, func(r *rand.Rand) string {
				return members(len(chunk), func(i int) string { return wrapValue(r, chunk[i].Make(r)) })
			}})
		}
	}
	all = append(all, sizedBuckets("depth of members", depth, func(_ *rand.Rand, n int) string {
		return strings.Repeat(`{"a":`, n) + `{"a":"deep"}` + strings.Repeat("}", n)
	})...)
	for _, b := range Texts() {
		all = append(all, Bucket{"name " + b.Name, func(r *rand.Rand) string { return "{" + b.Make(r) + `:"value"}` }})
	}
	for _, empty := range empties {
		all = append(all, fixedBucket("a member, "+empty, `{"a":`+empty+`}`))
	}
	for _, b := range Lengths(1024) {
		all = append(all, Bucket{"name of " + b.Name, func(r *rand.Rand) string { return "{" + b.Make(r) + `:0}` }})
	}
	for _, t := range []text{
		{"names by case", `{"a":1,"A":2,"aB":3,"Ab":4}`}, {"names by normal form", "{\"\u00e9\":1,\"e\u0301\":2}"},
		{"names by space", `{"a":1," a":2,"a ":3}`}, {"names by type", `{"1":1,"01":2,"1.0":3,"true":4,"null":5}`},
		{"names that count", `{"0":"a","1":"b","2":"c"}`},
		{"names in disorder", `{"z":1,"a":2,"m":3,"10":4,"9":5}`},
		{"names with dots", `{"a":{"b":1},"a.b":2,"a_b":3,"a-b":4}`},
		{"names of languages", `{"__proto__":{"x":1},"constructor":2,"class":3,"self":4,"length":5,"toString":6}`},
		{"names with dollars", `{"$set":1,"$where":2,"@type":3,"json_class":4,"_id":5,"xmlns":6}`},
		{"nulls inside", `{"a":null,"b":{"c":null}}`}, {"nested alike", `{"a":{"a":{"a":1}},"b":{"a":{"a":2}}}`},
		{"values mixed", `{"a":[1,{"b":[]}],"c":{},"d":"","e":false,"f":-1.5}`},
	} {
		all = append(all, fixedBucket(t.name, t.inner))
	}
	return all
}

// wrapValue returns a value, or an array or an object that has it alone.
func wrapValue(r *rand.Rand, value string) string {
	return fmt.Sprintf([...]string{"%s", "[%s]", `{"in":%s}`}[r.IntN(3)], value)
}

// members returns an object of n members.
func members(n int, value func(int) string) string {
	inner := list(n, func(i int) string { return fmt.Sprintf(`"k%d":%s`, i, value(i)) })
	return "{" + inner[1:len(inner)-1] + "}"
}

// list returns an array of n elements.
func list(n int, element func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = element(i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}
