package workers

import "slices"

// Rules returns all rules, in the order of the specification's sections.
func Rules() []Rule {
	return slices.Concat(
		lineRules(), greetingRules(), workerRules(), pushRules(), fetchRules(), jobRules(), beatRules(), stateRules(),
		endRules(),
	)
}
