//go:build !unix

package apiserver

import (
	"context"
	"errors"
	"runtime"
)

func lock(context.Context, string, func()) (unlock func(), err error) {
	return nil, errors.New("an API server cannot be built on " + runtime.GOOS + ": point KUBEBUILDER_ASSETS at binaries")
}
