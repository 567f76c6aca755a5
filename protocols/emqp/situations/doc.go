// Package situations tests workers of eMQP: it plays the broker in situations that are written as tables, and has rules
// look at every message. How a program is started and judged is in protocols/fwp/situations.
package situations
