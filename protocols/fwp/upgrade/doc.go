// Package upgrade tells what becomes of the jobs of a server when another one takes its place on the same data: a newer
// release, an older one on the way back, or the same one after a restart. [Fill] brings a server jobs in every state,
// and [AccountFor] asks one for them. [Run] does both, from each server to the next. The conversation of each job is a
// history (internal/history). It is about FWP: neither Workq nor eMQP has jobs survive a restart.
package upgrade
