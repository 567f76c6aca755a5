// Package libzmq holds package zmtp against libzmq, in both directions. It has tests only, which run where FWP_ZMQ
// names a Python that has pyzmq (Debian: python3-zmq); make zmq sets it.
package libzmq
