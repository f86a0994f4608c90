//go:build !libsqlite3

package lib

// #cgo CFLAGS: -DSESLITE_BUNDLED
import "C"
