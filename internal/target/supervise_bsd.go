//go:build unix && !linux

package target

func adoptOrphans() {}

func killOrphans() {}
