package situations

import "strings"

// unusualJIDs are ids that a program has to hand on as they are.
func unusualJIDs() []string {
	return []string{
		`quote"quote"quote"quote`, `back\slash\\back\slash`, "ünïcødé-日本語-🦆-" + strings.Repeat("x", 12),
		"space in the middle of it", strings.Repeat("long-jid-", 20), "</script>&amp;<!-- 1234567890",
		"123456789012345678901234", "  spaces at both ends of it  ", "UPPER-case-AND-lower-case",
	}
}

// jobsWithJIDs returns a job for each id.
func jobsWithJIDs(jids ...string) (jobs []job) {
	for _, jid := range jids {
		jobs = append(jobs, job{jid: jid})
	}
	return jobs
}

// jobsWithArgs returns a job of a type for each JSON array.
func jobsWithArgs(jobtype string, all ...string) (jobs []job) {
	for _, args := range all {
		jobs = append(jobs, job{jobtype: jobtype, args: args})
	}
	return jobs
}

// jobsWith returns a job of a type for each text with further members.
func jobsWith(jobtype string, all ...string) (jobs []job) {
	for _, more := range all {
		jobs = append(jobs, job{jobtype: jobtype, more: "," + more})
	}
	return jobs
}

// The arguments that workers and producers have in common.
const (
	unusualText = `["héllo wörld","日本語","🦆🦆","\u0000\u2028"]`
	nested      = `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`
)

// echoed are arguments that every language can tell apart: PHP has one value for an empty object and an empty array.
func echoed() []string {
	return []string{
		`[1,2,3]`, `["a","b"]`, `[]`, `[""]`, `[null,true,false,0]`, `["1",1,"null",null]`, `[[1,2],[3,[4]]]`,
		`[{"a":[1,{"b":"c"}]},"after it"]`, `["before it",{"key":"value","other":[]}]`, `[[1,2]]`, `[3,1,2,1,1]`,
		`[1,null,null]`, `["2024-01-02T03:04:05+02:00","007","1e3",1.5,-2]`, `["ünï",[1,{"a":null}],"\"x\""]`,
		`["line\nbreak","\ttab"," spaces "]`, `[1,2,3,4,5,"six",[7],{"eight":8},null,10,false,12]`,
	}
}
