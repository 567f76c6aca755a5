package law_test

import (
	"strings"
	"testing"
)

// The parts of conversations with commands that a profile adds.
const (
	pausing  = "1 C: QUEUE PAUSE q\n1 S: +OK"
	resuming = "1 C: QUEUE RESUME q\n1 S: +OK"
	removing = "1 C: QUEUE REMOVE q\n1 S: +OK"
	later    = `,"at":"2026-01-02T23:04:05Z"`
	one, two = `{"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"q"}`,
		`{"jid":"jid-0000000000000002","jobtype":"t","args":[],"queue":"q"}`
)

// mutate is a MUTATE of the first job that is accepted.
func mutate(cmd, target string) string {
	return `1 C: MUTATE {"cmd":"` + cmd + `","target":"` + target + `","filter":{"jids":["jid-0000000000000001"]}}` +
		"\n1 S: +OK"
}

// batch is a PUSHB that is accepted, but for jobs that an answer names.
func batch(answer string, jobs ...string) string {
	return "1 C: PUSHB [" + strings.Join(jobs, ",") + "]\n1 S: $" + answer
}

func TestPushesOfManyJobs(t *testing.T) {
	t.Parallel()
	lacking := strings.Replace(two, `"jobtype":"t",`, "", 1)
	judge(t, prefixed(all("adds", hello), map[string]row{
		"are jobs like others":         {all(batch("{}", one, two), none), "FKT-PUSHB-01 missing"},
		"refused in the whole":         {"1 C: PUSHB [" + one + "]\n1 S: -ERR", "FKT-PUSHB-01 refused"},
		"one refused that must be":     {batch(`{"jid-0000000000000002":"no"}`, one, lacking), ""},
		"one taken that must not be":   {batch("{}", one, lacking), "FKT-PUSHB-02 reply"},
		"one refused that is right":    {batch(`{"jid-0000000000000001":"no"}`, one, two), "FKT-PUSHB-01 refused"},
		"the same job twice":           {batch(`{"jid-0000000000000001":"no"}`, one, one), ""},
		"the whole for a wrong type":   {"1 C: PUSHB [" + strings.Replace(one, `"t"`, "5", 1) + "]\n1 S: -ERR", ""},
		"no array":                     {"1 C: PUSHB {}\n1 S: ${}", "FKT-PUSHB-04 reply should"},
		"OK":                           {"1 C: PUSHB [" + one + "]\n1 S: +OK", "FKT-PUSHB-01 reply"},
		"no answer: they may be there": {all("2 C: PUSHB ["+one+"]\n2 C: <close>", none), ""},
		"before HELLO":                 {"2 C: PUSHB [" + one + "]\n2 S: ${}", "FWP-STATE-01 reply"},
	}))
}

func TestQueues(t *testing.T) {
	t.Parallel()
	plain := with("")
	judge(t, prefixed(all("adds", hello), map[string]row{
		"a paused one delivers":      {all(plain, pausing, take), "FKT-QUEUE-01 delivered"},
		"a paused one is empty":      {all(plain, pausing, none), ""},
		"one that is perhaps paused": {all(plain, "2 C: QUEUE PAUSE q", take), ""},
		"a FETCH before": {
			all("1 C: FETCH q", other, by("2", plain), "2 C: QUEUE PAUSE q\n2 S: +OK\n1 S: JOB"), "",
		},
		"an unknown one may not be": {all(pausing, plain, take), ""},
		"an unknown one may be":     {all(pausing, plain, none), ""},
		"paused in vain":            {all(plain, refused(pausing)), "FKT-QUEUE-01 refused"},
		"a resumed one delivers":    {all(plain, pausing, resuming, take), ""},
		"a resumed one is empty":    {all(plain, pausing, resuming, none), "FKT-QUEUE-02 missing"},
		"one of two":                {all(plain, pausing, "1 C: FETCH p q\n+2s\n1 S: $-1"), ""},
		"a FETCH waits that is resumed": {
			all(plain, pausing, other, "1 C: FETCH q", by("2", resuming), "+2s\n1 S: $-1"), "",
		},
		"paused by two": {
			all(plain, other, "1 C: QUEUE PAUSE q\n2 C: QUEUE RESUME q\n1 S: +OK\n2 S: +OK", none), "",
		},
		"after a FLUSH": {
			all(plain, pausing, "1 C: FLUSH\n1 S: +OK", second(""), "1 C: FETCH q\n1 S: JOB2"), "",
		},
		"after a restart":                    {all(plain, pausing, "restart", take), ""},
		"a removed one delivers":             {all(plain, removing, take), "FKT-QUEUE-03 delivered"},
		"a removed one keeps what is held":   {all(plain, take, removing, ack), ""},
		"removed in vain":                    {all(plain, other, by("2", refused(removing))), "FKT-QUEUE-03 refused"},
		"a push beside a removal":            {all("1 C: QUEUE REMOVE q", other, by("2", plain), "1 S: +OK", none), ""},
		"a push behind a removal":            {all(removing, plain, none), "FWP-PUSH-04 missing"},
		"a latency of a queue":               {"1 C: QUEUE LATENCY q\n1 S: ${\"q\":0.5}", ""},
		"a latency of another queue":         {"1 C: QUEUE LATENCY q\n1 S: ${\"p\":0.5}", "FKT-QUEUE-04 reply"},
		"a negative latency":                 {"1 C: QUEUE LATENCY q\n1 S: ${\"q\":-1}", "FKT-QUEUE-04 reply"},
		"all":                                {all(plain, "1 C: QUEUE PAUSE *\n1 S: +OK", take), "FKT-QUEUE-01 delivered"},
		"an unknown subcommand":              {"1 C: QUEUE STOP q\n1 S: +OK", "FKT-QUEUE-06 reply should"},
		"on a connection that is not judged": {all(plain, other, "2 unjudge\n2 C: QUEUE PAUSE q\n2 S: +OK", none), ""},
	}))
}

func TestMutations(t *testing.T) {
	t.Parallel()
	plain, failing, dying := with(later), all(with(""), take, fail), all(with(`,"retry":-1`), take, fail)
	killed := all(plain, mutate("kill", "scheduled"))
	requeued := all(plain, mutate("requeue", "scheduled"))
	ofOther := strings.ReplaceAll(mutate("discard", "scheduled"), `01"`, `02"`)
	judge(t, prefixed(all("adds", hello), map[string]row{
		"a killed job comes":        {all(killed, take), "FKT-MUTATE-01 delivered"},
		"a discarded one comes":     {all(plain, mutate("discard", "scheduled"), "+24h", take), "FKT-MUTATE-02 delivered"},
		"a killed one never comes":  {all(killed, "+24h", none), ""},
		"a requeued one comes":      {all(requeued, take, ack), ""},
		"a requeued one is missing": {all(requeued, none), "FKT-MUTATE-03 missing"},
		"a revived one is missing":  {all(killed, mutate("requeue", "dead"), none), "FKT-MUTATE-03 missing"},
		"a dead one is discarded":   {all(dying, mutate("discard", "dead"), mutate("requeue", "dead"), take), "FKT-MUTATE-02 delivered"},
		"a dead one is requeued":    {all(dying, mutate("requeue", "dead"), take), ""},
		"a failed one is discarded": {all(failing, mutate("discard", "retries"), "+1h", take), "FKT-MUTATE-02 delivered"},
		"perhaps too late":          {all(failing, "+1m", mutate("discard", "retries"), none), ""},
		"another one is discarded":  {all(plain, ofOther, "+21h", none), "FWP-STATE-11 missing"},
		"from another set":          {all(plain, mutate("discard", "dead"), "+21h", none), "FWP-STATE-11 missing"},
		"all are cleared": {
			all(plain, "1 C: MUTATE {\"cmd\":\"clear\",\"target\":\"scheduled\"}\n1 S: +OK", take), "FKT-MUTATE-04 delivered",
		},
		"by a jobtype": {
			all(plain, `1 C: MUTATE {"cmd":"requeue","target":"scheduled","filter":{"jobtype":"t"}}`, "1 S: +OK", none),
			"FKT-MUTATE-03 missing",
		},
		"by a pattern": {
			all(plain, `1 C: MUTATE {"cmd":"requeue","target":"scheduled","filter":{"regexp":"*jid-0000000000000001*"}}`,
				"1 S: +OK", none), "FKT-MUTATE-03 missing",
		},
		"by another pattern": {
			all(plain, `1 C: MUTATE {"cmd":"discard","target":"scheduled","filter":{"regexp":"*jid-000000*1"}}`,
				"1 S: +OK", "+21h", none), "",
		},
		"refused": {all(plain, refused(mutate("kill", "scheduled"))), "FKT-MUTATE-01 refused"},
		"refused for a space": {
			`1 C: MUTATE {"cmd": "kill","target":"dead","filter":{"jids":["x"]}}` + "\n1 S: -ERR", "FKT-MUTATE-08 refused",
		},
		"refused, and not done": {
			all(plain, `1 C: MUTATE {"cmd":"discard","target":"scheduled","filter":5}`+"\n1 S: -ERR", "+21h", none),
			"FWP-STATE-11 missing",
		},
		"malformed": {"1 C: MUTATE x\n1 S: +OK", "FKT-MUTATE-07 reply should"},
		"not answered": {
			all(plain, other, "2 C: MUTATE "+`{"cmd":"discard","target":"scheduled"}`+"\n2 C: <close>", "+21h", none), "",
		},
		"a FETCH waits": {
			all(plain, other, "2 C: FETCH q", strings.Split(mutate("requeue", "scheduled"), "\n")[0], "2 S: JOB\n1 S: +OK",
				by("2", ack)), "",
		},
		"two at a time": {
			all(plain, other, strings.Split(mutate("kill", "scheduled"), "\n")[0], by("2", mutate("requeue", "dead")),
				"1 S: +OK", take), "",
		},
	}))
}

// prefixed returns rows whose conversations begin alike.
func prefixed(begin string, rows map[string]row) map[string]row {
	for name, r := range rows {
		r.talk = all(begin, r.talk)
		rows[name] = r
	}
	return rows
}
