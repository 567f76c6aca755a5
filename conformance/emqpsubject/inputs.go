package emqpsubject

import (
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/internal/values"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
	"github.com/fwpsuite/fwp/zmtp"
)

// otherBytes is counted as the command of what is no message of eMQP.
const otherBytes = "other bytes"

// fields says what the messages of eMQP consist of. By which way a message reaches a worker is not followed.
func fields() *law.Fields {
	return &law.Fields{Each: eachField, Known: knownClasses, Populations: map[string]int{law.Connections: 16}}
}

// eachField splits a message into its command and the frames behind the id.
func eachField(sent []byte, each func(name string, value []byte)) {
	item, err := emqpdialect.ParseSent(sent)
	if err == nil && item.Kind == zmtp.IsCommand {
		each(item.Command.Name, nil)
		return
	}
	m, wrong := emqp.Parse(item.Parts)
	if err != nil || wrong != nil {
		each(otherBytes, nil)
		return
	}
	each(m.Command, nil)
	for _, shape := range emqp.Shapes(m.Command) {
		if len(shape) != len(m.Fields) {
			continue
		}
		for i, f := range shape {
			each(nameOf(m.Command, f), []byte(values.Quote(string(m.Fields[i]))))
		}
	}
}

// nameOf returns the dimension of a field.
func nameOf(command string, f emqp.Field) string {
	return command + " " + strings.TrimPrefix(string(f), "a ")
}

// knownClasses returns the classes of what is generated.
var knownClasses = sync.OnceValue(func() map[string][]string { return law.Classes(knownFields()) })

// knownFields returns the fields with what is generated of them. Names of queues begin with the prefix of the run.
func knownFields() map[string][]values.Bucket {
	quote := func(before string, buckets []values.Bucket) (all []values.Bucket) {
		for _, b := range buckets {
			all = append(all, values.Bucket{Make: func(r *rand.Rand) string { return values.Quote(before + b.Make(r)) }})
		}
		return all
	}
	all := map[string][]values.Bucket{nameOf(emqp.REPLY, emqp.FieldMessage): quote("", messages())}
	for _, command := range []string{emqp.REQUEST, emqp.SCHEDULE} {
		all[nameOf(command, emqp.FieldMessage)] = quote("", messages())
		all[nameOf(command, emqp.FieldQueue)] = quote("fwp-0123456789abcdef-queue1-", names())
	}
	return all
}
