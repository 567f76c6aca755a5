package engine_test

import (
	"os"
	"testing"
)

// generatorJob tells a copy of the test binary to be a generator instead. Benchmarks
// start one, so that its processor time and its memory are those of nothing else.
const generatorJob = "FWP_ENGINE_GENERATOR"

func TestMain(m *testing.M) {
	job := os.Getenv(generatorJob)
	if job == "" {
		m.Run()
		return
	}
	if err := generate(job); err != nil {
		panic(err)
	}
}
