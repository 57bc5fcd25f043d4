//go:build unix

package apiserver

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lock holds a file for this process until unlock is called or the process ends, in whatever way. It calls busy once when
// another one holds the file.
func lock(ctx context.Context, path string, busy func()) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(err, file.Close())
		}
		if !told {
			busy()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
