package main

import (
	"fmt"
	"testing"
	"time"
)

// basic are the scenes that the right worker and every variant must pass.
var basic = map[string]scene{
	"jobs": {
		env: two,
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: goodJob},
			{on: `^FETCH`, nth: 2, say: badJob},
			{on: `^FETCH`, nth: 3, say: unit("nap-1", "sleep", "[200]", "")},
			{on: `^FETCH`, nth: 4, say: unit("say-1", "fail", `["\"a\"\r\nż",{"k":null}]`, `,"custom":{"a":[1]}`)},
			{on: `^FETCH`, nth: 5, say: nextJob, split: true},
		},
		last: 2500 * time.Millisecond,
	},
	"states": {
		env: two,
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: longJob},
			{on: `^FETCH`, nth: 2, say: unit("nap-1", "sleep", "[2500]", "")},
			{on: `^BEAT`, nth: 2, say: quietPlain},
			{on: `^BEAT`, nth: 3, say: "+OK\r\n"},
			{on: `^BEAT`, from: 4, say: endBulk},
		},
		until: `x0 exit`, last: 15 * time.Second, need: selfExit,
	},
	"losses": {
		hi: []string{saltHI, nextHI, saltHI, nextHI}, password: "p%40ss", env: two,
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: unit("nap-1", "sleep", "[200]", ""), shut: true},
			{on: `^FETCH`, nth: 5, shut: true},
			{on: `^FETCH`, nth: 7, say: badJob},
			{on: `^FETCH`, nth: 8, say: refusal},
			{on: `^FETCH`, nth: 9, say: goodJob},
			{on: `^ACK`, nth: 1, say: refusal},
			{on: `^BEAT`, nth: 2, shut: true},
		},
		until: `(?s)(BEAT.*){3}FETCH`, last: 10 * time.Second, check: rightHash("p@ss"),
	},
}

// sight shows a variant in the transcript of a basic scene.
type sight struct{ scene, need, forbid string }

// sights holds what shows each variant; those without a need cannot be told from their bytes.
var sights = map[int]sight{
	1:  {scene: "jobs", forbid: `C2 `},
	2:  {scene: "jobs", need: `C4 `},
	3:  {scene: "jobs", need: `HELLO {"v": 2, "labels": \["golang"\], "pid"`},
	4:  {scene: "jobs", need: `HELLO .*"user_agent"`},
	5:  {scene: "jobs", need: `HELLO .*"labels":\[\]`},
	6:  {scene: "jobs", need: `FAIL .*"backtrace":\[\]`},
	7:  {scene: "jobs", need: `BEAT {"wid":"[0-9a-f]+"}`, forbid: `rss_kb`},
	8:  {scene: "jobs", need: `C4 `},
	11: {scene: "states", need: `(?s)quiet.*C\d END.*BEAT.*terminate`},
	13: {scene: "jobs", need: `C\d FETCH<CR><LF>`},
}

// TestVariants plays the basic scenes with the right worker (number 0) and with all variants.
func TestVariants(t *testing.T) {
	t.Parallel()
	for number := range len(variants) + 1 {
		for name, sc := range basic {
			t.Run(fmt.Sprintf("%d-%s", number, name), func(t *testing.T) {
				t.Parallel()
				s := sc.play(t, "--variant", fmt.Sprint(number))
				fault := sc.verdict(s)
				if fault == "" {
					fault = lawful(s)
				}
				if look := sights[number]; fault == "" && look.scene == name {
					fault = (&scene{need: look.need, forbid: look.forbid}).verdict(s)
				}
				if fault != "" {
					t.Errorf("%s\n%s", fault, s.transcript())
				}
			})
		}
	}
}
