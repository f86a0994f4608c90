//go:build libsqlite3

package lib

// #cgo LDFLAGS: -lsqlite3
import "C"
