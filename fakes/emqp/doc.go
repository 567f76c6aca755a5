// Package emqp is a conforming broker of the EventMQ Protocol, in memory: clients and schedulers at the front, workers
// at the back, or all on one socket. It shares the frames of protocols/emqp and the sockets of protocols/emqp/zmtp with
// what tests brokers, and nothing else. Its one hook sees and changes each message, before it is handled or sent;
// bugs are made of it. The names in parentheses at the end of a comment are the sections of the document.
package emqp
