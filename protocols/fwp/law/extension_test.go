package law_test

import (
	"strings"
	"testing"
)

// The parts of conversations with commands that an extension adds.
const (
	pauseQueue     = "1 C: QUEUE PAUSE q\n1 S: +OK"
	resumeQueue    = "1 C: QUEUE RESUME q\n1 S: +OK"
	removeQueue    = "1 C: QUEUE REMOVE q\n1 S: +OK"
	fieldAt        = `,"at":"2026-01-02T23:04:05Z"`
	jobOne, jobTwo = `{"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"q"}`,
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

func TestBatchPush(t *testing.T) {
	t.Parallel()
	lacking := strings.Replace(jobTwo, `"jobtype":"t",`, "", 1)
	judge(t, prefixRows(join("adds", hello), map[string]row{
		"are jobs like others":         {join(batch("{}", jobOne, jobTwo), fetchNothing), "FKT-PUSHB-01 missing"},
		"refused in the whole":         {"1 C: PUSHB [" + jobOne + "]\n1 S: -ERR", "FKT-PUSHB-01 refused"},
		"one refused that must be":     {batch(`{"jid-0000000000000002":"no"}`, jobOne, lacking), ""},
		"one taken that must not be":   {batch("{}", jobOne, lacking), "FKT-PUSHB-02 reply"},
		"one refused that is right":    {batch(`{"jid-0000000000000001":"no"}`, jobOne, jobTwo), "FKT-PUSHB-01 refused"},
		"the same job twice":           {batch(`{"jid-0000000000000001":"no"}`, jobOne, jobOne), ""},
		"the whole for a wrong type":   {"1 C: PUSHB [" + strings.Replace(jobOne, `"t"`, "5", 1) + "]\n1 S: -ERR", ""},
		"no array":                     {"1 C: PUSHB {}\n1 S: ${}", "FKT-PUSHB-04 reply should"},
		"OK":                           {"1 C: PUSHB [" + jobOne + "]\n1 S: +OK", "FKT-PUSHB-01 reply"},
		"no answer: they may be there": {join("2 C: PUSHB ["+jobOne+"]\n2 C: <close>", fetchNothing), ""},
		"before HELLO":                 {"2 C: PUSHB [" + jobOne + "]\n2 S: ${}", "FWP-STATE-01 reply"},
	}))
}

func TestQueues(t *testing.T) {
	t.Parallel()
	plain := pushWith("")
	judge(t, prefixRows(join("adds", hello), map[string]row{
		"a paused one delivers":      {join(plain, pauseQueue, take), "FKT-QUEUE-01 delivered"},
		"a paused one is empty":      {join(plain, pauseQueue, fetchNothing), ""},
		"one that is perhaps paused": {join(plain, "2 C: QUEUE PAUSE q", take), ""},
		"a FETCH before": {
			join("1 C: FETCH q", otherHello, onConn("2", plain), "2 C: QUEUE PAUSE q\n2 S: +OK\n1 S: JOB"), "",
		},
		"an unknown one may not be": {join(pauseQueue, plain, take), ""},
		"an unknown one may be":     {join(pauseQueue, plain, fetchNothing), ""},
		"paused in vain":            {join(plain, refuse(pauseQueue)), "FKT-QUEUE-01 refused"},
		"a resumed one delivers":    {join(plain, pauseQueue, resumeQueue, take), ""},
		"a resumed one is empty":    {join(plain, pauseQueue, resumeQueue, fetchNothing), "FKT-QUEUE-02 missing"},
		"one of two":                {join(plain, pauseQueue, "1 C: FETCH p q\n+2s\n1 S: $-1"), ""},
		"a FETCH waits that is resumed": {
			join(plain, pauseQueue, otherHello, "1 C: FETCH q", onConn("2", resumeQueue), "+2s\n1 S: $-1"), "",
		},
		"paused by two": {
			join(plain, otherHello, "1 C: QUEUE PAUSE q\n2 C: QUEUE RESUME q\n1 S: +OK\n2 S: +OK", fetchNothing), "",
		},
		"after a FLUSH": {
			join(plain, pauseQueue, "1 C: FLUSH\n1 S: +OK", pushSecond(""), "1 C: FETCH q\n1 S: JOB2"), "",
		},
		"after a restart":                    {join(plain, pauseQueue, "restart", take), ""},
		"a removed one delivers":             {join(plain, removeQueue, take), "FKT-QUEUE-03 delivered"},
		"a removed one keeps what is held":   {join(plain, take, removeQueue, ack), ""},
		"removed in vain":                    {join(plain, otherHello, onConn("2", refuse(removeQueue))), "FKT-QUEUE-03 refused"},
		"a push beside a removal":            {join("1 C: QUEUE REMOVE q", otherHello, onConn("2", plain), "1 S: +OK", fetchNothing), ""},
		"a push behind a removal":            {join(removeQueue, plain, fetchNothing), "FWP-PUSH-04 missing"},
		"a latency of a queue":               {"1 C: QUEUE LATENCY q\n1 S: ${\"q\":0.5}", ""},
		"a latency of another queue":         {"1 C: QUEUE LATENCY q\n1 S: ${\"p\":0.5}", "FKT-QUEUE-04 reply"},
		"a negative latency":                 {"1 C: QUEUE LATENCY q\n1 S: ${\"q\":-1}", "FKT-QUEUE-04 reply"},
		"all":                                {join(plain, "1 C: QUEUE PAUSE *\n1 S: +OK", take), "FKT-QUEUE-01 delivered"},
		"an unknown subcommand":              {"1 C: QUEUE STOP q\n1 S: +OK", "FKT-QUEUE-06 reply should"},
		"on a connection that is not judged": {join(plain, otherHello, "2 unjudge\n2 C: QUEUE PAUSE q\n2 S: +OK", fetchNothing), ""},
	}))
}

func TestMutations(t *testing.T) {
	t.Parallel()
	plain, failing, dying := pushWith(fieldAt), join(pushWith(""), take, fail), join(pushWith(`,"retry":-1`), take, fail)
	killed := join(plain, mutate("kill", "scheduled"))
	requeued := join(plain, mutate("requeue", "scheduled"))
	ofOther := strings.ReplaceAll(mutate("discard", "scheduled"), `01"`, `02"`)
	judge(t, prefixRows(join("adds", hello), map[string]row{
		"a killed job comes":        {join(killed, take), "FKT-MUTATE-01 delivered"},
		"a discarded one comes":     {join(plain, mutate("discard", "scheduled"), "+24h", take), "FKT-MUTATE-02 delivered"},
		"a killed one never comes":  {join(killed, "+24h", fetchNothing), ""},
		"a requeued one comes":      {join(requeued, take, ack), ""},
		"a requeued one is missing": {join(requeued, fetchNothing), "FKT-MUTATE-03 missing"},
		"a revived one is missing":  {join(killed, mutate("requeue", "dead"), fetchNothing), "FKT-MUTATE-03 missing"},
		"a dead one is discarded":   {join(dying, mutate("discard", "dead"), mutate("requeue", "dead"), take), "FKT-MUTATE-02 delivered"},
		"a dead one is requeued":    {join(dying, mutate("requeue", "dead"), take), ""},
		"a failed one is discarded": {join(failing, mutate("discard", "retries"), "+1h", take), "FKT-MUTATE-02 delivered"},
		"perhaps too late":          {join(failing, "+1m", mutate("discard", "retries"), fetchNothing), ""},
		"another one is discarded":  {join(plain, ofOther, "+21h", fetchNothing), "FWP-STATE-11 missing"},
		"from another set":          {join(plain, mutate("discard", "dead"), "+21h", fetchNothing), "FWP-STATE-11 missing"},
		"all are cleared": {
			join(plain, "1 C: MUTATE {\"cmd\":\"clear\",\"target\":\"scheduled\"}\n1 S: +OK", take), "FKT-MUTATE-04 delivered",
		},
		"by a jobtype": {
			join(plain, `1 C: MUTATE {"cmd":"requeue","target":"scheduled","filter":{"jobtype":"t"}}`, "1 S: +OK", fetchNothing),
			"FKT-MUTATE-03 missing",
		},
		"by a pattern": {
			join(plain, `1 C: MUTATE {"cmd":"requeue","target":"scheduled","filter":{"regexp":"*jid-0000000000000001*"}}`,
				"1 S: +OK", fetchNothing), "FKT-MUTATE-03 missing",
		},
		"by another pattern": {
			join(plain, `1 C: MUTATE {"cmd":"discard","target":"scheduled","filter":{"regexp":"*jid-000000*1"}}`,
				"1 S: +OK", "+21h", fetchNothing), "",
		},
		"refused": {join(plain, refuse(mutate("kill", "scheduled"))), "FKT-MUTATE-01 refused"},
		"refused for a space": {
			`1 C: MUTATE {"cmd": "kill","target":"dead","filter":{"jids":["x"]}}` + "\n1 S: -ERR", "FKT-MUTATE-08 refused",
		},
		"refused, and not done": {
			join(plain, `1 C: MUTATE {"cmd":"discard","target":"scheduled","filter":5}`+"\n1 S: -ERR", "+21h", fetchNothing),
			"FWP-STATE-11 missing",
		},
		"malformed": {"1 C: MUTATE x\n1 S: +OK", "FKT-MUTATE-07 reply should"},
		"not answered": {
			join(plain, otherHello, "2 C: MUTATE "+`{"cmd":"discard","target":"scheduled"}`+"\n2 C: <close>", "+21h", fetchNothing), "",
		},
		"a FETCH waits": {
			join(plain, otherHello, "2 C: FETCH q", strings.Split(mutate("requeue", "scheduled"), "\n")[0], "2 S: JOB\n1 S: +OK",
				onConn("2", ack)), "",
		},
		"two at a time": {
			join(plain, otherHello, strings.Split(mutate("kill", "scheduled"), "\n")[0], onConn("2", mutate("requeue", "dead")),
				"1 S: +OK", take), "",
		},
	}))
}

// prefixRows returns rows whose conversations begin alike.
func prefixRows(begin string, rows map[string]row) map[string]row {
	for name, r := range rows {
		r.talk = join(begin, r.talk)
		rows[name] = r
	}
	return rows
}
