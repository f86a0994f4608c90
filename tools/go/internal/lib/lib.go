// Package lib holds the C library, so that it is compiled once and not after each change of the Go code.
package lib

// #cgo CFLAGS: -std=c11 -fvisibility=hidden -DNDEBUG
// #cgo LDFLAGS: -pthread
// #cgo linux LDFLAGS: -lm
import "C"
