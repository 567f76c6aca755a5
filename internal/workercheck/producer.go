package workercheck

// ProducerSituations returns all situations of producers.
func ProducerSituations() []Situation { return nil }
